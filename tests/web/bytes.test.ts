import { expect, test } from 'vitest';
import type { BytesInput } from '../../web/src/shared/contract';
import { integersOf } from '../../web/src/shared/tensors';
import { decodeBytes } from '../../web/src/worker/decode/bytes';

const spec: BytesInput = {
  kind: 'bytes',
  tensor: 'bytes',
  first: 4,
  last: 3,
  block: 8,
  strip: true,
  padding: 256,
};
const text = (value: number) => (value === 256 ? '_' : String.fromCharCode(value));

async function decoded(file: string, change: Partial<BytesInput> = {}): Promise<string> {
  const tensor = await decodeBytes(new Blob([file]), { ...spec, ...change });
  expect(tensor).toMatchObject({ name: 'bytes', dtype: 'int32' });
  return integersOf(tensor).map(text).join('');
}

test.each([
  { what: 'a long file: its beginning and its end', file: 'abcdefghijklmnop', seen: 'abcdnop' },
  { what: 'a short file: both parts of the same bytes', file: 'abcde', seen: 'abcdcde' },
  { what: 'shorter than a part: padded behind and before', file: 'ab', seen: 'ab___ab' },
  { what: 'an empty file: all padding', file: '', seen: '_______' },
  {
    what: 'white space at the ends is left out',
    file: ' \t\n\v\f\rabcdefgh \n',
    seen: 'ab__fgh',
  },
  { what: 'nothing but white space', file: '  \n  ', seen: '_______' },
  { what: 'white space at the other end stays', file: 'a  ', seen: 'a  ___a' },
  { what: 'within the block only', file: `${' '.repeat(8)}abcdefghijkl`, seen: '____jkl' },
  { what: 'NUL is no white space', file: '\0a\0', seen: '\0a\0_\0a\0' },
])('$what', async ({ file, seen }) => {
  expect(await decoded(file)).toBe(seen);
});

test('without strip white space counts', async () => {
  expect(await decoded(' abcdef ', { strip: false })).toBe(' abcef ');
});

test('no bytes from the end when none are asked for', async () => {
  expect(await decoded('abcdefgh', { last: 0 })).toBe('abcd');
  expect(await decoded('abcdefgh', { first: 0 })).toBe('fgh');
});

test('padding may be any number', async () => {
  const tensor = await decodeBytes(new Blob(['\xff']), { ...spec, first: 3, last: 0, padding: -1 });
  expect(integersOf(tensor)).toEqual([0xc3, 0xbf, -1]);
});
