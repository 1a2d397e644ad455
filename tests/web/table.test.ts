import { expect, test } from 'vitest';
import type { ModelInput } from '../../web/src/runtime/types';
import type { Column, TableInput } from '../../web/src/shared/contract';
import { parseCsv } from '../../web/src/shared/csv';
import { floatsOf, integersOf, stringsOf, type TensorData } from '../../web/src/shared/tensors';
import { decodeTable, rowOf } from '../../web/src/worker/decode/table';

const columns: [Column, ...Column[]] = [
  { name: 'size', title: 'Size', type: 'number', missing: 'nan' },
  { name: 'rooms', title: 'Rooms', type: 'integer', missing: 'refuse' },
  { name: 'new', title: 'New', type: 'boolean', missing: 'refuse' },
  { name: 'colour', title: 'Colour', type: 'category', categories: ['rot', 'größe', 'a, b'], missing: 'nan' },
];
const matrix: TableInput = { kind: 'table', columns, matrix: 'features' };
const apart: TableInput = { kind: 'table', columns, matrix: null };
const row = { size: 1.5, rooms: 3, new: true, colour: 'größe' };

const decode = async (given: ModelInput, spec = matrix) => decodeTable(await rowOf(given), spec);

/** What stands in the matrix at one column. */
async function cell(name: string, value: unknown, spec = matrix): Promise<number | undefined> {
  const [tensor] = await decode(JSON.stringify({ ...row, [name]: value }), spec);
  return tensor && floatsOf(tensor)[columns.findIndex(column => column.name === name)];
}

test('a matrix is one float32 row in the order of the columns, categories as their index', async () => {
  const [tensor, ...more] = await decode({ colour: 'größe', new: true, rooms: 3, size: 1.5 });
  expect(more).toEqual([]);
  expect(tensor).toMatchObject({ name: 'features', dtype: 'float32', shape: [1, 4] });
  expect([...floatsOf(tensor as TensorData)]).toEqual([1.5, 3, 1, 1]);
});

test('without a matrix each column is a tensor of its own', async () => {
  const tensors = await decode(row, apart);
  expect(tensors.map(({ name, dtype, shape }) => [name, dtype, shape])).toEqual([
    ['size', 'float32', [1, 1]],
    ['rooms', 'int64', [1, 1]],
    ['new', 'int64', [1, 1]],
    ['colour', 'string', [1, 1]],
  ]);
  const [size, rooms, isNew, colour] = tensors as [TensorData, TensorData, TensorData, TensorData];
  expect([...floatsOf(size), ...integersOf(rooms), ...integersOf(isNew)]).toEqual([1.5, 3, 1]);
  expect(stringsOf(colour)).toEqual(['größe']);
});

test.each([
  { what: 'a row object', given: row },
  { what: 'JSON text', given: ' {"size": 1.5, "rooms": 3, "new": true, "colour": "größe"}\n' },
  { what: 'a JSON file', given: new Blob([JSON.stringify(row)]) },
  { what: 'JSON of texts', given: { size: '1.5', rooms: '3', new: 'true', colour: 'größe' } },
  { what: 'CSV', given: 'size,rooms,new,colour\n1.5,3,true,größe\n' },
  { what: 'CSV in another order', given: 'colour,new,rooms,size\r\ngröße,1,3,1.5' },
  {
    what: 'CSV of a spreadsheet',
    given: new Blob(['\ufeffsize,rooms,new,colour\r\n 1.5 ,3.0,TRUE,"größe"\r\n\r\n']),
  },
])('$what gives the same tensors', async ({ given }) => {
  expect(await decode(given)).toEqual(await decode(row));
});

test.each([
  [1, 1],
  ['1', 1],
  ['+1.5', 1.5],
  ['.5', 0.5],
  ['5.', 5],
  ['-1e-3', Math.fround(-1e-3)],
  ['1E+2', 100],
  [' \t2\r\n', 2],
  [0.1, Math.fround(0.1)],
  ['16777217', 16777216],
  ['1e-60', 0],
  ['-0', 0],
  [-0, 0],
])('the number %j is %d', async (value, expected) => {
  expect(await cell('size', value)).toBe(expected);
});

test.each([
  'abc',
  '1,5',
  '1_000',
  '0x10',
  '١',
  'NaN',
  'inf',
  'Infinity',
  '1e',
  '.',
  '+',
  '1 2',
  '\u00a01',
  true,
])('%j is no number', async value => {
  await expect(cell('size', value)).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringMatching(/^Column size: .* is not a number/),
  });
});

test.each([1e39, '1e39', '-1e400'])('%j is beyond float32', async value => {
  await expect(cell('size', value)).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining('float32'),
  });
});

test.each([
  [3, 3],
  ['3.0', 3],
  ['1e3', 1000],
  [-2, -2],
])('the integer %j is %d', async (value, expected) => {
  expect(await cell('rooms', value)).toBe(expected);
});

test.each([3.5, '3.5', 2 ** 53, '9007199254740993', true, 'three'])('%j is no integer', async value => {
  await expect(cell('rooms', value)).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining('rooms'),
  });
});

test.each([
  [true, 1],
  ['True', 1],
  [' FALSE ', 0],
  ['1', 1],
  [0, 0],
])('the boolean %j is %d', async (value, expected) => {
  expect(await cell('new', value)).toBe(expected);
});

test.each(['yes', 2, '1.0', 'constructor'])('%j is no boolean', async value => {
  await expect(cell('new', value)).rejects.toMatchObject({ code: 'bad-input' });
});

test.each(['Rot', ' rot', 'gro\u0308\u00dfe', 1, true])(
  '%j is no category: nothing is trimmed or normalised',
  async value => {
    await expect(cell('colour', value)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('is not one of rot, größe, a, b'),
    });
  },
);

test.each([null, '', '  ', undefined])('missing as %j is NaN where the column allows it', async value => {
  const [tensor] = await decode(JSON.stringify({ ...row, size: value }));
  expect([...(tensor?.data.subarray(0, 4) ?? [])]).toEqual([0, 0, 0xc0, 0x7f]);
});

test('a missing category is NaN in a matrix and the empty text on its own', async () => {
  expect(await cell('colour', '')).toBeNaN();
  const tensors = await decode({ ...row, colour: null }, apart);
  expect(stringsOf(tensors[3] as TensorData)).toEqual(['']);
});

test('an empty text that is a category counts as one', async () => {
  const colour: Column = { ...(columns[3] as Column), categories: ['x', ''], missing: 'refuse' };
  const [tensor] = decodeTable(new Map([['colour', '']]), { ...matrix, columns: [colour] });
  expect([...floatsOf(tensor as TensorData)]).toEqual([1]);
});

test('a missing integer is refused where its tensor has no NaN', async () => {
  const rooms: Column = { ...(columns[1] as Column), missing: 'nan' };
  expect(() => decodeTable(new Map(), { ...apart, columns: [rooms] })).toThrow('int64 tensor has no NaN');
});

test.each([
  { what: 'a missing value', given: { ...row, rooms: '' }, message: 'Column rooms: is missing' },
  {
    what: 'a column that does not exist',
    given: { ...row, Size: 1 },
    message: 'Column Size: there is no such',
  },
  { what: 'a list for a value', given: '{"size": [1]}', message: 'Column size: a list or object' },
  { what: 'NaN in JSON', given: '{"size": NaN}', message: 'no JSON' },
  { what: 'no row', given: 'size,rooms,new,colour\n', message: 'no row' },
  { what: 'nothing', given: '', message: 'no row' },
  { what: 'two rows', given: 'size\n1\n2\n', message: '2 rows' },
  { what: 'a cell too few', given: 'size,rooms\n1\n', message: '1 cells, the header 2' },
  { what: 'a name twice', given: 'size,size\n1,2\n', message: 'twice' },
  { what: 'bytes that are no UTF-8', given: new Blob([Uint8Array.of(0x7b, 0xff)]), message: 'UTF-8' },
])('$what is refused', async ({ given, message }) => {
  await expect(decode(given as ModelInput)).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining(message),
  });
});

test.each([
  {
    text: 'a,b\n1,2',
    lines: [
      ['a', 'b'],
      ['1', '2'],
    ],
  },
  { text: 'a\r\n\r\n\n1\r', lines: [['a'], ['1']] },
  {
    text: 'a,b\n1,',
    lines: [
      ['a', 'b'],
      ['1', ''],
    ],
  },
  { text: '"a, ""b""\n",c', lines: [['a, "b"\n', 'c']] },
  { text: 'a"b,c', lines: [['a"b', 'c']] },
  { text: '""\n', lines: [['']] },
  { text: ',\n', lines: [['', '']] },
  { text: '', lines: [] },
])('CSV $text is $lines', ({ text, lines }) => {
  expect(parseCsv(text)).toEqual(lines);
});

test.each(['"a', 'a,"b\n1', '"a"b,c', '"a" ,b'])(
  'CSV %j is refused: its quotes do not end as they should',
  text => {
    expect(() => parseCsv(text)).toThrow(expect.objectContaining({ code: 'bad-input' }));
  },
);
