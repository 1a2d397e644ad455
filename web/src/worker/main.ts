// A model's worker: one per loaded model. Takes calls, answers each exactly once.
import type { ModelInput } from '../runtime/types';
import { type ErrorShape, LikewiseError, never, toShape } from '../shared/errors';
import type { CallName, Calls, Reply, Request } from '../shared/messages';
import type { TensorData } from '../shared/tensors';
import { decode } from './decode';
import { JobQueue } from './job-queue';
import { type LoadedModel, loadModel } from './load';
import { benchmark, predictInput, predictTensors } from './predict';

const queue = new JobQueue();
let model: LoadedModel | null = null;

self.addEventListener('message', (event: MessageEvent<Request>) => {
  const request = event.data;
  if (request.kind === 'abort') queue.abort(request.id);
  else void answer(request);
});

async function answer(request: Exclude<Request, { kind: 'abort' }>): Promise<void> {
  try {
    const value =
      request.kind === 'whenKept'
        ? await opened().keeping.done
        : await queue.add(request.id, signal => perform(request, signal));
    reply({ kind: 'value', id: request.id, value }, transferables(value));
  } catch (error) {
    reply({ kind: 'error', id: request.id, error: explained(error) });
  }
}

async function perform(
  request: Exclude<Request, { kind: 'abort' | 'whenKept' }>,
  signal: AbortSignal,
): Promise<Calls[CallName]['value']> {
  switch (request.kind) {
    case 'load': {
      const onProgress = (progress: Extract<Reply, { kind: 'progress' }>['progress']) =>
        reply({ kind: 'progress', id: request.id, progress });
      model = await loadModel(request.args.url, request.args.options, onProgress);
      return { contract: model.contract, ran: model.ran, report: model.report };
    }
    case 'predict':
      return predictInput(opened(), request.args.input, signal);
    case 'predictTensors':
      return predictTensors(opened(), request.args.tensors);
    case 'decode':
      return decodeInput(request.args.input);
    case 'benchmark':
      return { runMs: await benchmark(opened(), request.args.tensors, request.args.runs) };
    case 'close':
      model?.keeping.stop();
      await model?.keeping.done;
      await model?.session.close();
      model = null;
      return null;
    default:
      return never(request);
  }
}

async function decodeInput(input: ModelInput): Promise<readonly TensorData[]> {
  const { contract, tokenize } = opened();
  return decode(input, contract, tokenize);
}

function opened(): LoadedModel {
  if (model === null) throw new LikewiseError('closed', 'No model is open in this worker.');
  return model;
}

/** Unexpected errors keep their stack in the console of whoever develops. */
function explained(error: unknown): ErrorShape {
  const shape = toShape(error);
  if (shape.code === 'failed') console.error(error);
  return shape;
}

function reply(message: Reply, transfer: Transferable[] = []): void {
  self.postMessage(message, { transfer });
}

/** Result arrays move instead of being copied: the worker has no more use for them. */
function transferables(value: Calls[CallName]['value']): Transferable[] {
  return [...new Set(tensorsIn(value).map(({ data }) => data.buffer))];
}

function tensorsIn(value: Calls[CallName]['value']): readonly TensorData[] {
  if (Array.isArray(value)) return value;
  return value !== null && 'outputs' in value ? [...value.tensors, ...value.outputs] : [];
}
