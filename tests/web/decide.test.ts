import { expect, test } from 'vitest';
import type { Contract } from '../../web/src/shared/contract';
import { decide, type Output } from '../../web/src/worker/decide';
import { contract } from './contract';

function outputs(probabilities: number[], top: number[], indices: number[]): Output[] {
  return [
    { name: 'probabilities', dtype: 'float32', shape: [1, 3], data: Float32Array.from(probabilities) },
    { name: 'top_probabilities', dtype: 'float32', shape: [1, 2], data: Float32Array.from(top) },
    { name: 'top_indices', dtype: 'int64', shape: [1, 2], data: BigInt64Array.from(indices, BigInt) },
  ];
}

test('answers are the best labels, in order, with their scores', () => {
  const { answers, sure } = decide(contract(), outputs([0.25, 0.625, 0.125], [0.625, 0.25], [1, 0]));
  expect(answers).toEqual([
    { index: 1, label: 'one', score: 0.625 },
    { index: 0, label: 'zero', score: 0.25 },
  ]);
  expect(sure).toBe(true);
});

test.each([
  { below: 0.5, best: 0.5, sure: true },
  { below: 0.5, best: 0.4375, sure: false },
  { below: null, best: 0.4375, sure: true },
])('with a threshold of $below, $best is sure: $sure', ({ below, best, sure }) => {
  const decision: Contract['decision'] = { ...contract().decision, ask_a_person_below: below };
  const result = decide(
    { ...contract(), decision },
    outputs([best, 0.25, 1 - best - 0.25], [best, 0.25], [0, 1]),
  );
  expect(result.sure).toBe(sure);
});

test('a tie keeps the order of the graph', () => {
  const { answers } = decide(contract(), outputs([0.5, 0.5, 0], [0.5, 0.5], [1, 0]));
  expect(answers.map(({ label }) => label)).toEqual(['one', 'zero']);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])(
  'a probability of %s gives no answer, wherever top-k has put it',
  value => {
    expect(() => decide(contract(), outputs([0.5, value, 0.5], [0.5, 0.5], [0, 2]))).toThrow(
      expect.objectContaining({ code: 'not-a-number', message: expect.stringContaining('"one"') }),
    );
  },
);

test.each([
  { what: 'fewer probabilities than labels', given: outputs([0.5, 0.5], [0.5, 0.5], [0, 1]) },
  { what: 'a label that does not exist', given: outputs([0.5, 0.5, 0], [0.5, 0.5], [0, 7]) },
  { what: 'a score that is not that of its label', given: outputs([0.5, 0.5, 0], [0.5, 0.5], [0, 2]) },
  { what: 'no answer at all', given: outputs([0.5, 0.5, 0], [], []) },
  { what: 'no output of the name', given: outputs([0.5, 0.5, 0], [0.5, 0.5], [0, 1]).slice(0, 2) },
])('$what is refused', ({ given }) => {
  expect(() => decide(contract(), given)).toThrow(expect.objectContaining({ code: 'failed' }));
});
