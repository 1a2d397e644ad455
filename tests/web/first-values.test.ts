import { expect, test } from 'vitest';
import { firstValues } from '../../web/src/page/first-values';
import { float32Tensor, stringTensor, type TensorData } from '../../web/src/shared/tensors';

const big = new Uint8Array(BigInt64Array.of(18014398509481986n, -1n).buffer);
const none: TensorData = { name: 'x', dtype: 'float32', shape: [1, 0, 4], data: new Uint8Array() };

test.each([
  { what: 'floats', tensor: float32Tensor('x', [0.1, -1, Number.NaN, 1e30]), words: '0.1, -1, NaN, 1e+30' },
  { what: 'a scalar', tensor: float32Tensor('x', [2.5], []), words: '2.5' },
  {
    what: 'more than eight',
    tensor: float32Tensor('x', Array(1500).fill(0)),
    words: '0, 0, 0, 0, 0, 0, 0, 0 and 1,492 more',
  },
  { what: 'texts', tensor: stringTensor('x', ['', 'a"b']), words: '"", "a\\"b"' },
  {
    what: 'all digits of int64',
    tensor: { name: 'x', dtype: 'int64', shape: [2], data: big },
    words: '18014398509481986, -1',
  },
  {
    what: 'truth',
    tensor: { name: 'x', dtype: 'bool', shape: [2], data: Uint8Array.of(1, 0) },
    words: 'yes, no',
  },
  { what: 'none', tensor: none, words: 'no values' },
] as const)('$what: $words', ({ tensor, words }) => {
  expect(firstValues(tensor as TensorData)).toBe(words);
});
