// The first and the last bytes of a file: docs/decoders.md, "Bytes".
import type { BytesInput } from '../../shared/contract';
import type { TensorData } from '../../shared/tensors';
import { readBytes } from '../../shared/text-file';

/** Reads both ends of the file only, however long it is. */
export async function decodeBytes(file: Blob, spec: BytesInput): Promise<TensorData> {
  const { tensor: name, first, last, block, strip, padding } = spec;
  const head = await readBytes(file.slice(0, block));
  const tail = await readBytes(file.slice(Math.max(0, file.size - block)));
  const beginning = (strip ? withoutStart(head) : head).subarray(0, first);
  const rest = strip ? tail.subarray(0, tail.findLastIndex(isInk) + 1) : tail;
  const end = rest.subarray(Math.max(0, rest.length - last));
  const values = new Int32Array(first + last).fill(padding);
  values.set(beginning);
  values.set(end, first + last - end.length);
  return { name, dtype: 'int32', shape: [1, first + last], data: new Uint8Array(values.buffer) };
}

function withoutStart(bytes: Uint8Array): Uint8Array {
  const from = bytes.findIndex(isInk);
  return from < 0 ? bytes.subarray(0, 0) : bytes.subarray(from);
}

/** All but ASCII white space. */
function isInk(byte: number): boolean {
  return byte !== 32 && (byte < 9 || byte > 13);
}
