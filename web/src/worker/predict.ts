// One prediction: decode, run, decide, with the times of each.
import type { OutputTensor, Prediction } from '../runtime/types';
import { LikewiseError } from '../shared/errors';
import type { PictureInput } from '../shared/messages';
import { decide, type Output } from './decide';
import { decode, inputShape } from './decode';
import { throwIfAborted } from './job-queue';
import type { LoadedModel } from './load';

export async function predictPicture(
  model: LoadedModel,
  input: PictureInput,
  outputs: boolean,
  signal: AbortSignal,
): Promise<Prediction> {
  const start = performance.now();
  const tensor = await decode(input, model.contract.input);
  throwIfAborted(signal);
  return predict(model, tensor.data, outputs, start);
}

/** `data` must have exactly the bytes of one input tensor. */
export async function predictPixels(
  model: LoadedModel,
  data: Uint8Array,
  outputs: boolean,
): Promise<Prediction> {
  const { tensor } = model.contract.input;
  const bytes = inputShape(tensor).reduce((product, size) => product * size, 1);
  if (data.length !== bytes) {
    throw new LikewiseError(
      'wrong-bytes',
      `${tensor.name}: ${data.length} bytes given, one tensor has ${bytes}`,
    );
  }
  return predict(model, data, outputs, performance.now());
}

async function predict(
  model: LoadedModel,
  data: Uint8Array,
  all: boolean,
  start: number,
): Promise<Prediction> {
  const { contract, session, ran } = model;
  const shape = inputShape(contract.input.tensor);
  const decoded = performance.now();
  const outputs = await session.run(data, shape);
  const end = performance.now();
  const { answers, sure, probabilities } = decide(contract, outputs);
  return {
    answers,
    sure,
    ran,
    timing: { decodeMs: decoded - start, runMs: end - decoded, totalMs: performance.now() - start },
    tensor: { name: contract.input.tensor.name, dtype: 'uint8', shape, data },
    probabilities,
    ...(all ? { outputs: outputs.map(raw) } : {}),
  };
}

function raw({ name, dtype, shape, data }: Output): OutputTensor {
  return { name, dtype, shape, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() };
}
