// One prediction: decode, run, decide, with the times of each.
import type { ModelInput, Prediction } from '../runtime/types';
import type { TensorData } from '../shared/tensors';
import { checkTensors } from './check-tensors';
import { decide } from './decide';
import { decode } from './decode';
import { throwIfAborted } from './job-queue';
import type { LoadedModel } from './load';
import { runStream, streamingOf } from './stream';

export async function predictInput(
  model: LoadedModel,
  input: ModelInput,
  signal: AbortSignal,
): Promise<Prediction> {
  const start = performance.now();
  const tensors = await decode(input, model.contract, model.tokenize);
  throwIfAborted(signal);
  return predict(model, tensors, start);
}

/** Throws bad-input unless `given` are the contract's inputs, states left out. */
export async function predictTensors(model: LoadedModel, given: readonly TensorData[]): Promise<Prediction> {
  const start = performance.now();
  return predict(model, checkTensors(model.contract, given), start);
}

/** Milliseconds of each of `runs` runs of one input; a stream's over all its steps. */
export async function benchmark(
  { contract, session }: LoadedModel,
  given: readonly TensorData[],
  runs: number,
): Promise<readonly number[]> {
  const tensors = checkTensors(contract, given);
  const streaming = streamingOf(contract);
  if (streaming === null) return session.benchmark(tensors, runs);
  const times: number[] = [];
  for (let i = 0; i < runs; i += 1) {
    const start = performance.now();
    await runStream(session.run, tensors, streaming);
    times.push(performance.now() - start);
  }
  return times;
}

async function predict(
  { contract, session, ran }: LoadedModel,
  tensors: readonly TensorData[],
  start: number,
): Promise<Prediction> {
  const streaming = streamingOf(contract);
  const decoded = performance.now();
  const outputs =
    streaming === null ? await session.run(tensors) : await runStream(session.run, tensors, streaming);
  const end = performance.now();
  const decided = decide(contract, outputs);
  const timing = { decodeMs: decoded - start, runMs: end - decoded, totalMs: performance.now() - start };
  return { ...decided, ran, timing, tensors, outputs };
}
