// From the graph's outputs to a decision. The graph has done softmax, top-k and suppression; here they are only read
// and doubted.
import type {
  Answer,
  Box,
  BoxesPrediction,
  EmbeddingPrediction,
  FramesPrediction,
  ScoresPrediction,
  ValuesPrediction,
} from '../runtime/types';
import type { BoxesDecision, Contract, ScoresDecision } from '../shared/contract';
import { LikewiseError, never } from '../shared/errors';
import { floatsOf, integersOf, type TensorData } from '../shared/tensors';

type Common = 'ran' | 'timing' | 'tensors' | 'outputs';
type Outputs = readonly TensorData[];

/** A prediction without what does not depend on the outputs. */
export type Decided =
  | Omit<ScoresPrediction, Common>
  | Omit<EmbeddingPrediction, Common>
  | Omit<FramesPrediction, Common>
  | Omit<BoxesPrediction, Common>
  | Omit<ValuesPrediction, Common>;

/** A cast to float16 and back may have been between the two outputs. */
const CAST_NOISE = 1e-6;

const WITHOUT_ANSWERS = { answers: [], sure: true } as const;

/**
 * Throws not-a-number when a value that decides is none, and failed when outputs contradict contract or each other.
 * Plain values decide nothing: they are passed on as they are.
 */
export function decide(
  { decision, labels }: Pick<Contract, 'decision' | 'labels'>,
  outputs: Outputs,
): Decided {
  switch (decision.kind) {
    case 'scores':
      return decideScores(decision, labels, outputs);
    case 'embedding':
      return { kind: 'embedding', ...WITHOUT_ANSWERS, vector: numbers(outputs, decision.vector) };
    case 'frames':
      return { kind: 'frames', ...WITHOUT_ANSWERS, probabilities: numbers(outputs, decision.probabilities) };
    case 'boxes':
      return { kind: 'boxes', ...WITHOUT_ANSWERS, boxes: boxesOf(decision, labels, outputs) };
    case 'values':
      for (const name of decision.values) output(outputs, name);
      return { kind: 'values', ...WITHOUT_ANSWERS };
    default:
      return never(decision);
  }
}

function decideScores(
  decision: ScoresDecision,
  labels: readonly string[],
  outputs: Outputs,
): Omit<ScoresPrediction, Common> {
  const probabilities = floatsOf(output(outputs, decision.probabilities));
  const top = floatsOf(output(outputs, decision.top_probabilities));
  const indices = integersOf(output(outputs, decision.top_indices));
  if (probabilities.length !== labels.length) {
    throw new LikewiseError('failed', `${probabilities.length} probabilities for ${labels.length} labels`);
  }
  const broken = probabilities.findIndex(p => !Number.isFinite(p));
  if (broken >= 0) {
    const value = probabilities[broken];
    throw new LikewiseError('not-a-number', `The probability of "${labels[broken]}" is ${value}: no answer.`);
  }
  const answers = indices.map((index, rank) => answer(labels, probabilities, top, index, rank));
  const best = answers[0];
  if (best === undefined) throw new LikewiseError('failed', `${decision.top_indices}: empty`);
  return { kind: 'scores', answers, sure: best.score >= (decision.ask_a_person_below ?? 0), probabilities };
}

function answer(
  labels: readonly string[],
  probabilities: Float32Array,
  top: Float32Array,
  index: number,
  rank: number,
): Answer {
  const label = labels[index];
  const score = top[rank];
  const same = score !== undefined && Math.abs(score - (probabilities[index] ?? Number.NaN)) <= CAST_NOISE;
  if (label === undefined || !same) {
    throw new LikewiseError(
      'failed',
      `Place ${rank + 1}: label ${index} with ${score} is not among the probabilities`,
    );
  }
  return { index, label, score };
}

/** A score of 0 is no box; places without one are filled up with it. */
function boxesOf(decision: BoxesDecision, labels: readonly string[], outputs: Outputs): readonly Box[] {
  const scores = numbers(outputs, decision.scores);
  const corners = numbers(outputs, decision.boxes);
  const threshold = Math.fround(decision.threshold); // as the graph has it
  const classes = integersOf(output(outputs, decision.classes));
  if (corners.length !== 4 * scores.length || classes.length !== scores.length) {
    const counts = `${scores.length} scores, ${corners.length} coordinates, ${classes.length} classes`;
    throw new LikewiseError('failed', `The outputs do not describe the same boxes: ${counts}`);
  }
  return Array.from(scores, (score, i) => ({ score, i }))
    .filter(({ score }) => score > 0 && score >= threshold)
    .map(({ score, i }) => {
      const index = classes[i] ?? -1;
      const label = labels[index];
      if (label === undefined) {
        throw new LikewiseError('failed', `Box ${i + 1}: there is no label ${index} among ${labels.length}`);
      }
      const [left = 0, top = 0, right = 0, bottom = 0] = corners.subarray(4 * i, 4 * i + 4);
      return { index, label, score, corners: [left, top, right, bottom] as const };
    });
}

/** A float32 output of finite numbers throughout. */
function numbers(outputs: Outputs, name: string): Float32Array<ArrayBuffer> {
  const values = floatsOf(output(outputs, name));
  const broken = values.findIndex(value => !Number.isFinite(value));
  if (broken < 0) return values;
  throw new LikewiseError('not-a-number', `${name}: value ${broken + 1} is ${values[broken]}: no answer.`);
}

function output(outputs: Outputs, name: string): TensorData {
  const found = outputs.find(one => one.name === name);
  if (found === undefined)
    throw new LikewiseError('failed', `${name}: the graph gives no output of that name`);
  return found;
}
