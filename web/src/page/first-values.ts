// The beginning of a tensor in words, for outputs that have no view of their own.

import type { TensorData } from '../runtime/types';
import { countOf, floatsOf, ITEM_BYTES, integersOf, stringsOf } from '../shared/tensors';

const SHOWN = 8;
const DIGITS = 6;

/** "0.25, -1, 3.5 and 381 more". */
export function firstValues(tensor: TensorData): string {
  const count = countOf(tensor.shape);
  if (count === 0) return 'no values';
  const more = count > SHOWN ? ` and ${(count - SHOWN).toLocaleString('en-GB')} more` : '';
  return `${wordsOf(tensor).slice(0, SHOWN).join(', ')}${more}`;
}

function wordsOf(tensor: TensorData): readonly string[] {
  const { dtype } = tensor;
  if (dtype === 'string') return stringsOf(tensor).map(text => JSON.stringify(text));
  const first = beginning(tensor, ITEM_BYTES[dtype]);
  if (dtype === 'float32')
    return Array.from(floatsOf(first), value => String(Number(value.toPrecision(DIGITS))));
  if (dtype === 'bool') return integersOf(first).map(value => (value === 0 ? 'no' : 'yes'));
  // Only of an int64 does a number lose digits.
  return dtype === 'int64' ? int64s(first) : integersOf(first).map(String);
}

function beginning(tensor: TensorData, itemBytes: number): TensorData {
  const count = Math.min(countOf(tensor.shape), SHOWN);
  return { ...tensor, shape: [count], data: tensor.data.subarray(0, count * itemBytes) };
}

function int64s({ data }: TensorData): readonly string[] {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  return Array.from({ length: data.length / 8 }, (_, i) => view.getBigInt64(8 * i, true).toString());
}
