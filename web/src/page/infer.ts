// The server's second opinion: the same input tensors, by the Open Inference Protocol v2 with
// binary tensors. The only place from which an input leaves the device.

import type { Prediction, TensorData } from '../runtime';
import type { Contract } from '../shared/contract';
import { float32Tensor, floatsOf, fromV2, int64Tensor, integersOf, V2_DATATYPES } from '../shared/tensors';

export interface ServerAnswer {
  /** The outputs that decide. */
  readonly outputs: readonly TensorData[];
  /** From sending to the whole answer. */
  readonly roundTripMs: number;
}

export interface Comparison {
  readonly same: boolean;
  /** In one sentence. */
  readonly words: string;
  /** Largest difference of a value over all outputs that decide. */
  readonly largest: number;
}

/** Why there is no second opinion. */
export class NoSecondOpinion extends Error {
  readonly code: 'server-unreachable' | 'server-refused';

  constructor(code: 'server-unreachable' | 'server-refused', message: string) {
    super(message);
    this.code = code;
  }
}

const LENGTH = 'Inference-Header-Content-Length';

export async function askServer(
  site: URL,
  contract: Contract,
  variant: string,
  tensors: readonly TensorData[],
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const url = new URL(`v2/models/${contract.name}/versions/${contract.version}/infer`, site);
  const names = decidingOutputs(contract.decision);
  const { header, body } = inferRequest(names, variant, tensors);
  const started = performance.now();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream', [LENGTH]: String(header) },
    body,
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new NoSecondOpinion('server-unreachable', 'The server cannot be reached.');
  });
  if (!response.ok) throw new NoSecondOpinion('server-refused', await refusedWhy(response));
  const raw = await response.arrayBuffer();
  const roundTripMs = performance.now() - started;
  const given = readOutputs(raw, response.headers.get(LENGTH));
  const outputs = names.map(name => given.find(output => output.name === name) ?? lacking(name));
  return { outputs, roundTripMs };
}

/** Do both say the same, and how far apart are they at most? Throws server-refused when they cannot be compared. */
export function compare(contract: Contract, ours: Prediction, theirs: ServerAnswer): Comparison {
  const differences = theirs.outputs.map(output => difference(output, named(ours.outputs, output.name)));
  const largest = differences.reduce((a, b) => Math.max(a, b), 0);
  const { decision, labels } = contract;
  if (decision.kind === 'scores') {
    const [here, there] = [ours.outputs, theirs.outputs].map(
      outputs => labels[best(floatsOf(named(outputs, decision.probabilities)))] ?? '',
    );
    return here === there
      ? { same: true, words: `The server agrees: ${there}.`, largest }
      : { same: false, words: `The server does not agree: it says ${there}, this device ${here}.`, largest };
  }
  const variant = contract.variants.find(({ name }) => name === ours.ran.variant);
  const tolerance = variant?.backends[ours.ran.backend]?.tolerance ?? 0;
  return largest <= tolerance
    ? { same: true, words: 'The server agrees within what was allowed.', largest }
    : { same: false, words: 'The server gives other values than this device.', largest };
}

function decidingOutputs(decision: Contract['decision']): readonly string[] {
  switch (decision.kind) {
    case 'scores':
    case 'frames':
      return [decision.probabilities];
    case 'embedding':
      return [decision.vector];
    case 'boxes':
      return [decision.boxes, decision.scores, decision.classes];
    case 'values':
      return decision.values;
    default:
      return decision satisfies never;
  }
}

function inferRequest(names: readonly string[], variant: string, tensors: readonly TensorData[]) {
  const head = new TextEncoder().encode(
    JSON.stringify({
      inputs: tensors.map(({ name, dtype, shape, data }) => ({
        name,
        datatype: V2_DATATYPES[dtype],
        shape,
        parameters: { binary_data_size: data.byteLength },
      })),
      outputs: names.map(name => ({ name, parameters: { binary_data: true } })),
      parameters: { variant },
    }),
  );
  return { header: head.byteLength, body: new Blob([head, ...tensors.map(({ data }) => data)]) };
}

async function refusedWhy(response: Response): Promise<string> {
  const said: unknown = await response.json().catch(() => null);
  const error = typeof said === 'object' && said !== null && 'error' in said ? said.error : null;
  const words = typeof error === 'string' ? error : 'it gave no reason';
  return `The server refused (HTTP ${response.status}): ${words}`;
}

/** The outputs of a v2 answer, wherever their values lie: behind the JSON or in it. */
function readOutputs(raw: ArrayBuffer, length: string | null): readonly TensorData[] {
  const head = length === null ? raw.byteLength : Number(length);
  const answer: unknown = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 0, head)));
  let offset = head;
  return outputsOf(answer).map(output => {
    const size = output.parameters?.binary_data_size;
    if (size === undefined) return fromJson(output);
    const data = new Uint8Array(raw.slice(offset, offset + size));
    offset += size;
    return { name: output.name, dtype: dtypeOf(output), shape: output.shape, data };
  });
}

function fromJson(output: Output): TensorData {
  const { name, shape, data = [] } = output;
  const dtype = dtypeOf(output);
  if (dtype === 'float32') return float32Tensor(name, data, shape);
  if (dtype === 'int64') return int64Tensor(name, data, shape);
  throw new NoSecondOpinion('server-refused', `The server's ${name} is ${dtype}, not binary.`);
}

interface Output {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data?: readonly number[];
  readonly parameters?: { readonly binary_data_size?: number };
}

function outputsOf(answer: unknown): readonly Output[] {
  const outputs = typeof answer === 'object' && answer !== null && 'outputs' in answer ? answer.outputs : [];
  return Array.isArray(outputs) ? outputs.filter(isOutput) : [];
}

function isOutput(value: unknown): value is Output {
  return (
    typeof value === 'object' && value !== null && 'name' in value && 'datatype' in value && 'shape' in value
  );
}

function dtypeOf({ name, datatype }: Output): TensorData['dtype'] {
  const dtype = fromV2(datatype);
  if (dtype === undefined)
    throw new NoSecondOpinion('server-refused', `The server's ${name} is ${datatype}.`);
  return dtype;
}

function lacking(name: string): never {
  throw new NoSecondOpinion('server-refused', `The server's answer holds no ${name}.`);
}

function named(outputs: readonly TensorData[], name: string): TensorData {
  return outputs.find(output => output.name === name) ?? lacking(name);
}

/** Largest of a value; texts differ by 1 when they differ at all. */
function difference(theirs: TensorData, ours: TensorData): number {
  const shapes = [theirs, ours].map(({ dtype, shape }) => `${dtype} [${shape.join(', ')}]`);
  if (shapes[0] !== shapes[1]) {
    throw new NoSecondOpinion('server-refused', `The server gave ${shapes[0]}, this device ${shapes[1]}.`);
  }
  if (theirs.dtype === 'string') return theirs.data.every((byte, i) => byte === ours.data[i]) ? 0 : 1;
  const [a, b] = [valuesOf(theirs), valuesOf(ours)];
  let largest = 0;
  for (let i = 0; i < a.length; i += 1) {
    const [one = 0, other = 0] = [a[i], b[i]];
    // Also of infinities and of what is no number.
    if (!Object.is(one, other)) largest = Math.max(largest, Math.abs(one - other));
  }
  return largest;
}

function valuesOf(tensor: TensorData): ArrayLike<number> {
  return tensor.dtype === 'float32' ? floatsOf(tensor) : integersOf(tensor);
}

function best(values: Float32Array): number {
  return values.reduce((top, value, i) => (value > (values[top] ?? -1) ? i : top), 0);
}
