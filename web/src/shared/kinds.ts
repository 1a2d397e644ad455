// Which kinds of input this runtime decodes. Tensors of every kind run; text and sound have no decoder here yet.
import type { Contract } from './contract';

export type InputKind = Contract['input']['kind'];

export const DECODED_KINDS = [
  'image',
  'drawing',
  'table',
  'bytes',
  'tensor',
] as const satisfies readonly InputKind[];

/** Whether `predict` takes an encoded input of this kind; `predictTensors` takes all. */
export function decodes(kind: InputKind): boolean {
  return DECODED_KINDS.some(decoded => decoded === kind);
}
