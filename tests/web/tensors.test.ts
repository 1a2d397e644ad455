import { expect, test } from 'vitest';
import type { Tensor } from '../../web/src/shared/contract';
import {
  float32Tensor,
  floatsOf,
  int64Tensor,
  integersOf,
  packStrings,
  stringsOf,
  stringTensor,
  type TensorData,
  unpackStrings,
} from '../../web/src/shared/tensors';
import { checkTensors } from '../../web/src/worker/check-tensors';
import { contract } from './contract';

test.each([0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, -(2 ** 32), 2 ** 53 - 1, 1 - 2 ** 53])(
  'int64 %s has the bytes that BigInt gives it, and is read back',
  value => {
    const tensor = int64Tensor('k', [value]);
    expect([...tensor.data]).toEqual([...new Uint8Array(BigInt64Array.of(BigInt(value)).buffer)]);
    expect(integersOf(tensor)).toEqual([value]);
  },
);

test('an int64 that a number cannot hold is refused rather than rounded', () => {
  const data = new Uint8Array(BigInt64Array.of(2n ** 53n + 1n).buffer);
  const tensor: TensorData = { name: 'k', dtype: 'int64', shape: [1], data };
  expect(() => integersOf(tensor)).toThrow(/^k: an int64 beyond/);
});

test('floats are read wherever their bytes lie', () => {
  const { data } = float32Tensor('x', [1.5, -2]);
  const shifted = new Uint8Array(9);
  shifted.set(data, 1);
  const tensor: TensorData = { name: 'x', dtype: 'float32', shape: [1, 2], data: shifted.subarray(1) };
  expect([...floatsOf(tensor)]).toEqual([1.5, -2]);
});

test('strings are packed as the v2 protocol has them, and are read back as they were', () => {
  expect([...packStrings(['', 'ö'])]).toEqual([0, 0, 0, 0, 2, 0, 0, 0, 0xc3, 0xb6]);
  const words = ['', 'rot', 'größe', '日本', 'a\tb', ' rot ', '\ufeffrot', 'gro\u0308\u00dfe'];
  expect(stringsOf(stringTensor('words', words))).toEqual(words);
});

test.each([
  { what: 'a length cut short', bytes: [1, 0, 0] },
  { what: 'a text cut short', bytes: [2, 0, 0, 0, 65] },
  { what: 'no UTF-8', bytes: [1, 0, 0, 0, 0xff] },
])('$what is refused', ({ bytes }) => {
  expect(() => unpackStrings(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: 'bad-input' }));
});

const inputs: [Tensor, ...Tensor[]] = [
  { name: 'ids', dtype: 'int64', shape: ['batch', 'tokens'] },
  { name: 'mask', dtype: 'int64', shape: ['batch', 'tokens'] },
  { name: 'colour', dtype: 'string', shape: ['batch', 1] },
  { name: 'scale', dtype: 'float32', shape: [] },
];
const declared = { ...contract(), input: { kind: 'tensor' }, inputs } as const;
const good = [
  stringTensor('colour', ['rot']),
  int64Tensor('ids', [1, 2, 3]),
  int64Tensor('mask', [1, 1, 1]),
  float32Tensor('scale', [2], []),
];

test('given tensors come in the order of the contract', () => {
  expect(checkTensors(declared, good).map(({ name }) => name)).toEqual(['ids', 'mask', 'colour', 'scale']);
});

test.each([
  { what: 'one too few', given: good.slice(1), message: 'colour: is not given' },
  { what: 'one too many', given: [...good, float32Tensor('x', [1])], message: 'x: no input of the model' },
  { what: 'one twice', given: [...good, int64Tensor('ids', [1])], message: 'ids: is given twice' },
  {
    what: 'another datatype',
    given: [good[0] as TensorData, float32Tensor('ids', [1, 2, 3]), ...good.slice(2)],
    message: 'ids: is float32, the contract says int64',
  },
  {
    what: 'sizes of one name that differ',
    given: [...good.slice(0, 2), int64Tensor('mask', [1, 1]), ...good.slice(3)],
    message: 'mask: its shape is [1, 2], the contract says [batch, tokens] with batch = 1, tokens = 3',
  },
  {
    what: 'a batch of two',
    given: [...good.slice(0, 1), int64Tensor('ids', [1, 2], [2, 1]), ...good.slice(2)],
    message: 'ids: its shape is [2, 1]',
  },
  {
    what: 'another rank',
    given: [...good.slice(0, 3), float32Tensor('scale', [2], [1])],
    message: 'scale: its shape is [1]',
  },
  {
    what: 'bytes too few',
    given: [...good.slice(0, 3), { ...float32Tensor('scale', [2], []), data: new Uint8Array(3) }],
    message: 'scale: 3 bytes given, shape [] has 4',
  },
  {
    what: 'strings too many',
    given: [{ ...stringTensor('colour', ['rot', 'blau']), shape: [1, 1] }, ...good.slice(1)],
    message: 'colour: 2 strings given, shape [1, 1] has 1',
  },
])("$what: refused with the tensor's name", ({ given, message }) => {
  expect(() => checkTensors(declared, given)).toThrow(
    expect.objectContaining({ code: 'bad-input', message: expect.stringContaining(message) }),
  );
});

test('an unknown rank and an unknown size fit anything', () => {
  const open = { ...declared, inputs: [{ name: 'x', dtype: 'float32', shape: null }] as [Tensor] };
  expect(checkTensors(open, [float32Tensor('x', [1, 2, 3, 4], [2, 1, 2])])).toHaveLength(1);
  const unknown = { ...declared, inputs: [{ name: 'x', dtype: 'float32', shape: [null, 2] }] as [Tensor] };
  expect(checkTensors(unknown, [float32Tensor('x', [1, 2], [1, 2])])).toHaveLength(1);
});
