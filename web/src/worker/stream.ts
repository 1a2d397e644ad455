// A graph with state, run step by step over one long input, as export/streaming.py does.
import type { Contract, State, Stream, Tensor } from '../shared/contract';
import { LikewiseError } from '../shared/errors';
import { countOf, ITEM_BYTES, type TensorData } from '../shared/tensors';

type Run = (tensors: readonly TensorData[]) => Promise<readonly TensorData[]>;

/** Which of the decoded tensors is streamed, how, and what the graph declares its states to be. */
export interface Streaming {
  readonly tensor: string;
  readonly stream: Stream;
  readonly inputs: readonly Tensor[];
}

/** How the contract's input is streamed; null when it goes through the graph at once. */
export function streamingOf({ input, inputs }: Pick<Contract, 'input' | 'inputs'>): Streaming | null {
  if (input.kind !== 'sound' || input.stream === null) return null;
  return { tensor: input.tensor, stream: input.stream, inputs };
}

/**
 * The outputs over all steps of the streamed tensor, [1, samples]: the last step is filled with zeros, states begin
 * as zeros (batch 1) and are carried on, all other outputs are joined along axis 1.
 */
export async function runStream(
  run: Run,
  tensors: readonly TensorData[],
  { tensor, stream, inputs }: Streaming,
): Promise<readonly TensorData[]> {
  const samples = tensors.find(({ name }) => name === tensor);
  if (samples === undefined) throw new LikewiseError('bad-input', `${tensor}: is not given`);
  const others = tensors.filter(({ name }) => name !== tensor);
  const stateOutputs = new Set(stream.states.map(({ output }) => output));
  let states = stream.states.map(({ input }) => zeros(input, inputs));
  const steps: (readonly TensorData[])[] = [];
  for (const step of stepsOf(samples, stream.step_samples)) {
    const outputs = await run([step, ...others, ...states]);
    states = stream.states.map(state => carried(state, outputs));
    steps.push(outputs.filter(({ name }) => !stateOutputs.has(name)));
  }
  return (steps[0] ?? []).map((_, i) => joined(steps.flatMap(outputs => outputs[i] ?? [])));
}

/** At least one, also of no samples. */
function* stepsOf(samples: TensorData, stepSamples: number): Generator<TensorData> {
  const stepBytes = stepSamples * (ITEM_BYTES[samples.dtype] ?? 1);
  const count = Math.max(1, Math.ceil(samples.data.length / stepBytes));
  for (let i = 0; i < count; i += 1) {
    const data = new Uint8Array(stepBytes);
    data.set(samples.data.subarray(i * stepBytes, (i + 1) * stepBytes));
    yield { ...samples, shape: [1, stepSamples], data };
  }
}

function zeros(name: string, inputs: readonly Tensor[]): TensorData {
  const declared = inputs.find(input => input.name === name);
  const itemBytes = declared && ITEM_BYTES[declared.dtype];
  if (!declared?.shape || !itemBytes) {
    throw new LikewiseError('bad-contract', `${name}: a state needs a shape and numbers`);
  }
  const shape = declared.shape.map(size => (typeof size === 'number' ? size : 1));
  return { name, dtype: declared.dtype, shape, data: new Uint8Array(countOf(shape) * itemBytes) };
}

function carried({ input, output }: State, outputs: readonly TensorData[]): TensorData {
  const state = outputs.find(({ name }) => name === output);
  if (state === undefined) throw new LikewiseError('failed', `${output}: the graph gives no such state`);
  return { ...state, name: input };
}

/** Along axis 1, batch 1: so the bytes of one follow those of the other. */
function joined(parts: readonly TensorData[]): TensorData {
  const [first, ...rest] = parts;
  if (first === undefined) throw new LikewiseError('failed', 'a stream without steps');
  const { name, shape } = first;
  const [batch, , ...inner] = shape;
  const alike = (one: TensorData) =>
    one.name === name &&
    one.shape.length === shape.length &&
    one.shape.every((size, i) => i === 1 || size === shape[i]);
  if (shape.length < 2 || batch !== 1 || !rest.every(alike)) {
    const shapes = parts.map(part => `[${part.shape.join(', ')}]`).join(', ');
    throw new LikewiseError('failed', `${name}: steps of ${shapes} cannot be joined along axis 1`);
  }
  const data = new Uint8Array(parts.reduce((sum, part) => sum + part.data.length, 0));
  let at = 0;
  for (const part of parts) {
    data.set(part.data, at);
    at += part.data.length;
  }
  const length = parts.reduce((sum, part) => sum + (part.shape[1] ?? 0), 0);
  return { ...first, shape: [batch, length, ...inner], data };
}
