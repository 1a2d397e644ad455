// From the graph's outputs to answers. The graph has done softmax and top-k; here they are only read and doubted.
import type { Answer } from '../runtime/types';
import type { Contract } from '../shared/contract';
import { LikewiseError } from '../shared/errors';

/** One output of a run with batch 1. */
export interface Output {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int32Array | Uint8Array;
}

export interface Decided {
  readonly answers: readonly Answer[];
  readonly sure: boolean;
  readonly probabilities: Float32Array;
}

/** A cast to float16 and back may have been between the two outputs. */
const CAST_NOISE = 1e-6;

/** Throws not-a-number when any probability is, and failed when outputs contradict contract or each other. */
export function decide(contract: Contract, outputs: readonly Output[]): Decided {
  const { decision, labels } = contract;
  const probabilities = floats(outputs, decision.probabilities);
  const top = floats(outputs, decision.top_probabilities);
  const indices = integers(outputs, decision.top_indices);
  if (probabilities.length !== labels.length) {
    throw new LikewiseError('failed', `${probabilities.length} probabilities for ${labels.length} labels`);
  }
  const broken = probabilities.findIndex(p => !Number.isFinite(p));
  if (broken >= 0) {
    const value = probabilities[broken];
    throw new LikewiseError('not-a-number', `The probability of "${labels[broken]}" is ${value}: no answer.`);
  }
  const answers = Array.from(indices, (index, rank) => answer(labels, probabilities, top, index, rank));
  const best = answers[0];
  if (best === undefined) throw new LikewiseError('failed', `${decision.top_indices}: empty`);
  return { answers, sure: best.score >= (decision.ask_a_person_below ?? 0), probabilities };
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

function floats(outputs: readonly Output[], name: string): Float32Array {
  const data = outputs.find(output => output.name === name)?.data;
  if (data instanceof Float32Array) return data;
  throw new LikewiseError('failed', `${name}: the graph gives no float32 output of that name`);
}

function integers(outputs: readonly Output[], name: string): readonly number[] {
  const data = outputs.find(output => output.name === name)?.data;
  if (data instanceof BigInt64Array) return Array.from(data, Number);
  throw new LikewiseError('failed', `${name}: the graph gives no int64 output of that name`);
}
