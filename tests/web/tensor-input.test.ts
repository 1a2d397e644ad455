import { expect, test } from 'vitest';
import type { Tensor } from '../../web/src/shared/contract';
import { floatsOf, integersOf, stringsOf, type TensorData } from '../../web/src/shared/tensors';
import { decodeTensors } from '../../web/src/worker/decode/tensor';

const declared = (...inputs: [Tensor, ...Tensor[]]) => ({ input: { kind: 'tensor' as const }, inputs });
const one = (dtype: Tensor['dtype'], shape: Tensor['shape'] = ['batch', 2]) =>
  declared({ name: 'x', dtype, shape });

/** As numpy writes it: numpy.lib.format, version 1.0. */
function npy(
  description: string,
  shape: string,
  data: ArrayLike<number>,
  order = 'False',
  version = 1,
): Blob {
  const header = `{'descr': '${description}', 'fortran_order': ${order}, 'shape': ${shape}, }`;
  const room = version === 1 ? 10 : 12;
  const padded = `${header.padEnd(Math.ceil((header.length + room + 1) / 64) * 64 - room - 1)}\n`;
  const length = new Uint8Array(version === 1 ? 2 : 4);
  length[0] = padded.length & 255;
  length[1] = padded.length >> 8;
  return new Blob([
    Uint8Array.of(0x93),
    `NUMPY`,
    Uint8Array.of(version, 0),
    length,
    padded,
    Uint8Array.from(data),
  ]);
}

function json(datatype: string, data: unknown, shape: unknown = [1, 2], name: unknown = 'x'): Blob {
  return new Blob([JSON.stringify({ id: 'a', inputs: [{ name, datatype, shape, data, parameters: {} }] })]);
}

async function values(
  file: Blob,
  dtype: Tensor['dtype'],
  shape?: Tensor['shape'],
): Promise<readonly unknown[]> {
  const [tensor] = await decodeTensors(file, one(dtype, shape));
  if (tensor === undefined) throw new Error('nothing decoded');
  if (dtype === 'float32') return [...floatsOf(tensor)];
  return dtype === 'string' ? stringsOf(tensor) : integersOf(tensor);
}

test.each([
  { dtype: 'float32', file: json('FP32', [1.5, -0.1]), expected: [1.5, Math.fround(-0.1)] },
  { dtype: 'float32', file: json('FP32', [[1, -0]]), expected: [1, 0] },
  { dtype: 'int64', file: json('INT64', [2 ** 53 - 1, -1]), expected: [2 ** 53 - 1, -1] },
  { dtype: 'int32', file: json('INT32', [-(2 ** 31), 5]), expected: [-(2 ** 31), 5] },
  { dtype: 'uint8', file: json('UINT8', [0, 255]), expected: [0, 255] },
  { dtype: 'bool', file: json('BOOL', [true, 0]), expected: [1, 0] },
  { dtype: 'string', file: json('BYTES', ['', 'größe']), expected: ['', 'größe'] },
  {
    dtype: 'float32',
    file: npy('<f4', '(1, 2)', new Uint8Array(Float32Array.of(1.5, -2).buffer)),
    expected: [1.5, -2],
  },
  {
    dtype: 'int64',
    file: npy('<i8', '(1, 2)', new Uint8Array(BigInt64Array.of(-3n, 9n).buffer)),
    expected: [-3, 9],
  },
  {
    dtype: 'int32',
    file: npy('<i4', '(1, 2)', new Uint8Array(Int32Array.of(-3, 9).buffer)),
    expected: [-3, 9],
  },
  { dtype: 'uint8', file: npy('|u1', '(1, 2)', [7, 255]), expected: [7, 255] },
  { dtype: 'bool', file: npy('|b1', '(1, 2)', [1, 0]), expected: [1, 0] },
  { dtype: 'uint8', file: npy('|u1', '(1, 2)', [7, 8], 'False', 2), expected: [7, 8] },
] as const)('$dtype $expected', async ({ dtype, file, expected }) => {
  expect(await values(file, dtype)).toEqual(expected);
});

test('a tiny negative number rounds to minus zero, only minus zero itself becomes zero', async () => {
  const found = await values(json('FP32', [-1e-60, -0]), 'float32');
  expect(found.map(value => Object.is(value, -0))).toEqual([true, false]);
});

test('lists nested ten thousand deep are read', async () => {
  const nested = `${'['.repeat(1e4)}1,2${']'.repeat(1e4)}`;
  const file = new Blob([
    `{"inputs": [{"name": "x", "datatype": "UINT8", "shape": [1, 2], "data": ${nested}}]}`,
  ]);
  expect(await values(file, 'uint8')).toEqual([1, 2]);
});

test('a scalar and one axis are written as Python writes them', async () => {
  expect(await values(npy('|u1', '()', [7]), 'uint8', [])).toEqual([7]);
  expect(await values(npy('|u1', '(3,)', [7, 8, 9]), 'uint8', ['n'])).toEqual([7, 8, 9]);
});

test('an int64 of .npy keeps all its digits', async () => {
  const data = new Uint8Array(BigInt64Array.of(2n ** 60n + 1n).buffer);
  const [tensor] = await decodeTensors(npy('<i8', '(1,)', data), one('int64', ['batch']));
  expect([...(tensor as TensorData).data]).toEqual([...data]);
});

test('several inputs come in the order of the contract', async () => {
  const both = declared(
    { name: 'a', dtype: 'float32', shape: ['batch'] },
    { name: 'b', dtype: 'int64', shape: ['batch'] },
  );
  const inputs = [
    { name: 'b', datatype: 'INT64', shape: [1], data: [2] },
    { name: 'a', datatype: 'FP32', shape: [1], data: [1] },
  ];
  const tensors = await decodeTensors(new Blob([JSON.stringify({ inputs })]), both);
  expect(tensors.map(({ name }) => name)).toEqual(['a', 'b']);
  await expect(decodeTensors(npy('<f4', '(1,)', [0, 0, 0, 0]), both)).rejects.toThrow(
    'holds one tensor; the model takes 2',
  );
});

test.each([
  { what: 'text', dtype: 'float32', file: new Blob(['1 2']), message: 'neither .npy nor' },
  {
    what: 'JSON without inputs',
    dtype: 'float32',
    file: new Blob(['{}']),
    message: 'inputs: has to be a list',
  },
  { what: 'an unknown datatype', dtype: 'float32', file: json('FP64', [1, 2]), message: 'datatype FP64' },
  {
    what: 'an inherited name for a datatype',
    dtype: 'float32',
    file: json('toString', [1, 2]),
    message: 'datatype',
  },
  {
    what: 'another datatype than the contract',
    dtype: 'float32',
    file: json('INT32', [1, 2]),
    message: 'x: is int32',
  },
  { what: 'another name', dtype: 'float32', file: json('FP32', [1, 2], [1, 2], 'y'), message: 'y: no input' },
  { what: 'no name', dtype: 'float32', file: json('FP32', [1, 2], [1, 2], 7), message: 'has no name' },
  {
    what: 'another shape',
    dtype: 'float32',
    file: json('FP32', [1, 2], [2, 1]),
    message: 'x: its shape is [2, 1]',
  },
  {
    what: 'a negative size',
    dtype: 'float32',
    file: json('FP32', [1, 2], [-1, -2]),
    message: 'shape has to be',
  },
  {
    what: 'values too few',
    dtype: 'float32',
    file: json('FP32', [1]),
    message: '1 values given, shape [1, 2] has 2',
  },
  { what: 'no values', dtype: 'float32', file: json('FP32', undefined), message: 'data has to be a list' },
  { what: 'beyond float32', dtype: 'float32', file: json('FP32', [1, 1e39]), message: 'value 1 is 1e+39' },
  { what: 'null for a number', dtype: 'float32', file: json('FP32', [1, null]), message: 'value 1 is null' },
  { what: 'beyond uint8', dtype: 'uint8', file: json('UINT8', [1, 256]), message: 'value 1 is 256' },
  { what: 'not whole', dtype: 'int64', file: json('INT64', [1, 1.5]), message: 'value 1 is 1.5' },
  {
    what: 'an int64 that JSON may lose digits of',
    dtype: 'int64',
    file: json('INT64', [1, 2 ** 53]),
    message: 'value 1',
  },
  { what: 'a number for a bool', dtype: 'bool', file: json('BOOL', [1, 2]), message: 'value 1 is 2' },
  {
    what: 'a truth value for a number',
    dtype: 'uint8',
    file: json('UINT8', [1, true]),
    message: 'value 1 is true',
  },
  { what: 'a number for a string', dtype: 'string', file: json('BYTES', ['a', 1]), message: 'value 1 is 1' },
  { what: 'half a character', dtype: 'string', file: json('BYTES', ['a', '\ud800']), message: 'well-formed' },
  {
    what: '.npy of float64',
    dtype: 'float32',
    file: npy('<f8', '(1, 2)', new Uint8Array(16)),
    message: '"<f8"',
  },
  {
    what: '.npy big-endian',
    dtype: 'int32',
    file: npy('>i4', '(1, 2)', new Uint8Array(8)),
    message: '">i4"',
  },
  {
    what: '.npy in Fortran order',
    dtype: 'uint8',
    file: npy('|u1', '(1, 2)', [1, 2], 'True'),
    message: 'C order',
  },
  { what: '.npy cut short', dtype: 'uint8', file: npy('|u1', '(1, 2)', [1]), message: '1 bytes of values' },
  {
    what: '.npy with more behind',
    dtype: 'uint8',
    file: npy('|u1', '(1, 2)', [1, 2, 3]),
    message: '3 bytes',
  },
  {
    what: '.npy of a bool that is 2',
    dtype: 'bool',
    file: npy('|b1', '(1, 2)', [1, 2]),
    message: 'neither 0 nor 1',
  },
  {
    what: '.npy of version 4',
    dtype: 'uint8',
    file: npy('|u1', '(1, 2)', [1, 2], 'False', 4),
    message: 'version 4.0',
  },
  {
    what: 'the head of .npy alone',
    dtype: 'uint8',
    file: npy('|u1', '(1, 2)', [1, 2]).slice(0, 9),
    message: 'cut short',
  },
] as const)('$what is refused', async ({ dtype, file, message }) => {
  await expect(decodeTensors(file, one(dtype))).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining(message),
  });
});
