import { expect, test } from 'vitest';
import type { Contract, ScoresDecision } from '../../web/src/shared/contract';
import { float32Tensor, int64Tensor, type TensorData } from '../../web/src/shared/tensors';
import { decide } from '../../web/src/worker/decide';
import { contract } from './contract';

const scores = contract().decision as ScoresDecision;

function outputs(probabilities: number[], top: number[], indices: number[]): TensorData[] {
  return [
    float32Tensor('probabilities', probabilities),
    float32Tensor('top_probabilities', top),
    int64Tensor('top_indices', indices),
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
  const decision: Contract['decision'] = { ...scores, ask_a_person_below: below };
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

const labels = ['cat', 'dog'];
const embedding = { labels: [], decision: { kind: 'embedding', vector: 'embedding' } } as const;
const boxes = {
  labels,
  decision: { kind: 'boxes', boxes: 'boxes', scores: 'box_scores', classes: 'box_classes', threshold: 0.7 },
} as const;

function found(corners: number[][], theirScores: number[], classes: number[]): TensorData[] {
  return [
    float32Tensor('boxes', corners.flat(), [1, corners.length, 4]),
    float32Tensor('box_scores', theirScores),
    int64Tensor('box_classes', classes),
  ];
}

test('an embedding has a vector and no answers', () => {
  const decided = decide({ ...embedding, labels: [] }, [float32Tensor('embedding', [0.6, 0.8])]);
  expect(decided).toMatchObject({ kind: 'embedding', answers: [], sure: true });
  expect(decided.kind === 'embedding' && [...decided.vector]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
});

test('a vector with something that is not a number is refused', () => {
  const broken = [float32Tensor('embedding', [0.6, Number.NaN])];
  expect(() => decide({ ...embedding, labels: [] }, broken)).toThrow(
    expect.objectContaining({ code: 'not-a-number', message: expect.stringContaining('value 2') }),
  );
});

test('frames are one probability each', () => {
  const frames = { kind: 'frames', probabilities: 'p', frame_seconds: 0.032, threshold: 0.5 } as const;
  const decided = decide({ labels: [], decision: frames }, [float32Tensor('p', [0.25, 0.75])]);
  expect(decided.kind === 'frames' && [...decided.probabilities]).toEqual([0.25, 0.75]);
});

test('boxes are those that reach the threshold as float32 has it; a place that is filled up is none', () => {
  const corners = [
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [0, 0, 0, 0],
  ]; // prettier-ignore
  const decided = decide({ ...boxes, labels }, found(corners, [0.9, 0.7, 0], [1, 0, -1]));
  expect(decided.kind === 'boxes' && decided.boxes).toEqual([
    { index: 1, label: 'dog', score: Math.fround(0.9), corners: [1, 2, 3, 4] },
    { index: 0, label: 'cat', score: Math.fround(0.7), corners: [5, 6, 7, 8] },
  ]);
});

test('no boxes at all is an answer', () => {
  const decided = decide({ ...boxes, labels }, found([], [], []));
  expect(decided.kind === 'boxes' && decided.boxes).toEqual([]);
});

test('a box of a class that has no label is refused', () => {
  expect(() => decide({ ...boxes, labels }, found([[1, 2, 3, 4]], [0.9], [2]))).toThrow(
    expect.objectContaining({ code: 'failed' }),
  );
});

test('plain values are passed on whatever they are, but have to be there', () => {
  const values = { labels: [], decision: { kind: 'values' as const, values: ['y'] } };
  expect(decide(values, [float32Tensor('y', [Number.NaN])])).toEqual({
    kind: 'values',
    answers: [],
    sure: true,
  });
  expect(() => decide(values, [])).toThrow(expect.objectContaining({ code: 'failed' }));
});
