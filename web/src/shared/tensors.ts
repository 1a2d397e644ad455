// Tensors outside the session: name, datatype, shape and raw bytes, as contracts, the worker and the server hold them.
import type { Tensor } from './contract';
import { LikewiseError } from './errors';

export type Datatype = Tensor['dtype'];

/**
 * One tensor with its values as raw little-endian bytes, of which `float32` and the like are views.
 * Strings lie as in the v2 protocol: each its length in 4 bytes, then its UTF-8.
 */
export interface TensorData {
  readonly name: string;
  readonly dtype: Datatype;
  readonly shape: readonly number[];
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Bytes of one value; a string has no fixed number. */
export const ITEM_BYTES = { bool: 1, uint8: 1, int32: 4, int64: 8, float32: 4, string: null } as const;

export const DATATYPES = Object.keys(ITEM_BYTES) as readonly Datatype[];

/** The v2 protocol's names of them. */
export const V2_DATATYPES: Readonly<Record<Datatype, string>> = {
  bool: 'BOOL',
  uint8: 'UINT8',
  int32: 'INT32',
  int64: 'INT64',
  float32: 'FP32',
  string: 'BYTES',
};

const HIGH = 2 ** 32;

/** Of the v2 protocol's name; undefined for one that contracts do not know. */
export function fromV2(name: unknown): Datatype | undefined {
  return DATATYPES.find(dtype => V2_DATATYPES[dtype] === name);
}

/** How many values a tensor of this shape has: 1 for a scalar. */
export function countOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

export function float32Tensor(
  name: string,
  values: readonly number[],
  shape: readonly number[] = [1, values.length],
): TensorData {
  return { name, dtype: 'float32', shape, data: new Uint8Array(Float32Array.from(values).buffer) };
}

/** `values` are whole and at most 2^53 - 1 in size. */
export function int64Tensor(
  name: string,
  values: readonly number[],
  shape: readonly number[] = [1, values.length],
): TensorData {
  const view = new DataView(new ArrayBuffer(values.length * 8));
  values.forEach((value, i) => {
    view.setUint32(8 * i, value - Math.floor(value / HIGH) * HIGH, true);
    view.setInt32(8 * i + 4, Math.floor(value / HIGH), true);
  });
  return { name, dtype: 'int64', shape, data: new Uint8Array(view.buffer) };
}

export function stringTensor(
  name: string,
  values: readonly string[],
  shape: readonly number[] = [1, values.length],
): TensorData {
  return { name, dtype: 'string', shape, data: packStrings(values) };
}

/** The values of a float32 tensor, on its own bytes where they are aligned; throws `failed` for another datatype. */
export function floatsOf(tensor: TensorData): Float32Array<ArrayBuffer> {
  if (tensor.dtype !== 'float32') throw wrongType(tensor, 'float32');
  const data = aligned(tensor.data, 4);
  return new Float32Array(data.buffer, data.byteOffset, data.length / 4);
}

/** The values of a tensor of integers or booleans; throws `failed` where a number could not hold one exactly. */
export function integersOf({ name, dtype, shape, data }: TensorData): readonly number[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const read = (at: number): number => {
    switch (dtype) {
      case 'bool':
      case 'uint8':
        return view.getUint8(at);
      case 'int32':
        return view.getInt32(4 * at, true);
      case 'int64':
        return safe(name, view.getInt32(8 * at + 4, true) * HIGH + view.getUint32(8 * at, true));
      default:
        throw wrongType({ name, dtype }, 'integer');
    }
  };
  return Array.from({ length: countOf(shape) }, (_, i) => read(i));
}

/** The values of a string tensor; throws `failed` when its bytes are cut short. */
export function stringsOf(tensor: TensorData): readonly string[] {
  if (tensor.dtype !== 'string') throw wrongType(tensor, 'string');
  return unpackStrings(tensor.data);
}

export function packStrings(values: readonly string[]): Uint8Array<ArrayBuffer> {
  const texts = values.map(value => new TextEncoder().encode(value));
  const packed = new Uint8Array(texts.reduce((sum, text) => sum + 4 + text.length, 0));
  const view = new DataView(packed.buffer);
  let at = 0;
  for (const text of texts) {
    view.setUint32(at, text.length, true);
    packed.set(text, at + 4);
    at += 4 + text.length;
  }
  return packed;
}

/** Throws `bad-input` when the bytes are cut short or are no UTF-8. */
export function unpackStrings(packed: Uint8Array): readonly string[] {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const values: string[] = [];
  for (let at = 0; at < packed.length; ) {
    const from = at + 4;
    const to = from <= packed.length ? from + view.getUint32(at, true) : from;
    if (to > packed.length) {
      throw new LikewiseError(
        'bad-input',
        `String ${values.length}: ${to} bytes needed, ${packed.length} there`,
      );
    }
    values.push(readText(decoder, packed.subarray(from, to), values.length));
    at = to;
  }
  return values;
}

/** The same bytes where a view of `itemBytes` wide values can lie on them. */
export function aligned(data: Uint8Array<ArrayBuffer>, itemBytes: number): Uint8Array<ArrayBuffer> {
  return data.byteOffset % itemBytes === 0 ? data : data.slice();
}

function readText(decoder: TextDecoder, bytes: Uint8Array, position: number): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new LikewiseError('bad-input', `String ${position}: its bytes are no UTF-8`);
  }
}

function safe(name: string, value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new LikewiseError(
    'failed',
    `${name}: an int64 beyond 2^53 - 1 (about ${value}) is not a plain number`,
  );
}

function wrongType({ name, dtype }: Pick<TensorData, 'name' | 'dtype'>, wanted: string): LikewiseError {
  return new LikewiseError('failed', `${name}: is ${dtype}, not ${wanted}`);
}
