import { expect, test } from 'vitest';
import { emptyTexts, fieldOf, filled, rangeOf, type Texts, toTexts } from '../../web/src/page/row-form';
import type { Column, TableInput } from '../../web/src/shared/contract';
import { readRow } from '../../web/src/shared/row';
import { decodeTable, rowOf } from '../../web/src/worker/decode/table';

const size: Column = {
  name: 'size',
  title: 'Size',
  unit: 'mm',
  type: 'number',
  missing: 'refuse',
  lowest: 6.981,
  highest: 28.11,
};
const rooms: Column = { name: 'rooms', title: 'Rooms', type: 'integer', missing: 'nan' };
const fresh: Column = { name: 'new', title: 'New', type: 'boolean', missing: 'refuse' };
const colour: Column = {
  name: 'colour',
  title: 'Colour',
  type: 'category',
  categories: ['red', 'blue'],
  missing: 'refuse',
};
const spec: TableInput = { kind: 'table', columns: [size, rooms, fresh, colour], matrix: 'features' };

function texts(values: Record<string, string>): Texts {
  return new Map([...emptyTexts(spec), ...Object.entries(values)]);
}

test('an empty form asks for nothing yet, a check box is not ticked', () => {
  expect([...emptyTexts(spec)]).toEqual([['new', 'false']]);
  expect(filled(spec, emptyTexts(spec))).toEqual({ kind: 'unfinished', why: '' });
});

test.each([
  { values: { size: '7' }, why: 'Colour is still missing.' },
  { values: { size: '7', rooms: '1.5', colour: 'red' }, why: 'Correct Rooms.' },
  { values: { size: '7,5', rooms: 'x' }, why: 'Correct Size and 1 more.' },
])('$values: $why', ({ values, why }) => {
  expect(filled(spec, texts(values as Record<string, string>))).toEqual({ kind: 'unfinished', why });
});

test('a row is there as soon as all that is needed is', () => {
  expect(filled(spec, texts({ size: ' 7.5 ', colour: 'blue' }))).toEqual({
    kind: 'row',
    row: { size: ' 7.5 ', rooms: '', new: 'false', colour: 'blue' },
  });
});

test.each([
  { column: size, text: '7', field: { kind: 'fine' } },
  { column: size, text: '6.981', field: { kind: 'fine' } },
  { column: size, text: '28.11', field: { kind: 'fine' } },
  { column: size, text: '28.2', field: { kind: 'outside' } },
  { column: size, text: '-1', field: { kind: 'outside' } },
  { column: size, text: '', field: { kind: 'missing', needed: true } },
  { column: rooms, text: ' ', field: { kind: 'missing', needed: false } },
  { column: size, text: 'x', field: { kind: 'wrong', why: '"x" is not a number like 12, -0.5 or 1e-3' } },
  { column: colour, text: 'green', field: { kind: 'wrong', why: '"green" is not one of red, blue' } },
] as const)('$column.name with "$text" is $field', ({ column, text, field }) => {
  expect(fieldOf(column, text, 'features')).toEqual(field);
});

test('an integer of its own tensor may not be left out, whatever the column says', () => {
  expect(fieldOf(rooms, '', null)).toEqual({ kind: 'missing', needed: true });
});

test.each(['{"size": 7.25, "rooms": null, "new": 1, "colour": "blue"}', 'size,new,colour\n7.25,TRUE,blue\n'])(
  'what the form makes of %j is the same tensor as the file itself',
  async file => {
    const form = filled(spec, toTexts(await readRow(new Blob([file])), spec));
    if (form.kind !== 'row') throw new Error(form.why);
    expect(decodeTable(await rowOf(form.row), spec)).toEqual(decodeTable(await rowOf(file), spec));
  },
);

test('what does not fit a column is shown as it is and named', async () => {
  const shown = toTexts(await readRow(new Blob(['{"size": "big", "new": "maybe"}'])), spec);
  expect(shown.get('size')).toBe('big');
  expect(shown.get('new')).toBe('maybe');
  expect(filled(spec, shown)).toEqual({ kind: 'unfinished', why: 'Correct Size and 1 more.' });
});

test('a range has its unit and four digits', () => {
  expect(rangeOf(size)).toBe('6.981 to 28.11\u00a0mm');
  expect(rangeOf({ ...size, lowest: 0, highest: 0.123456, unit: '' })).toBe('0 to 0.1235');
  expect(rangeOf(rooms)).toBe('');
});
