// The server's second opinion: the same input tensor, by the Open Inference Protocol v2 with
// binary tensors. The only place from which an input leaves the device.

import type { DecodedTensor, Prediction } from '../runtime';
import type { Contract } from '../shared/contract';

export interface ServerAnswer {
  readonly probabilities: Float32Array;
  /** From sending to the whole answer. */
  readonly roundTripMs: number;
}

export interface Comparison {
  readonly same: boolean;
  readonly ours: string;
  readonly theirs: string;
  /** Largest difference of a probability over all labels. */
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
  tensor: DecodedTensor,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const url = new URL(`v2/models/${contract.name}/versions/${contract.version}/infer`, site);
  const { header, body } = inferRequest(contract, variant, tensor);
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
  const name = contract.decision.probabilities;
  const probabilities = readOutput(raw, response.headers.get(LENGTH), name);
  if (probabilities.length !== contract.labels.length) {
    throw new NoSecondOpinion(
      'server-refused',
      `The server gave ${probabilities.length} probabilities for ${contract.labels.length} labels.`,
    );
  }
  return { probabilities, roundTripMs };
}

/** Do both say the same, and how far apart are they at most? */
export function compare(labels: readonly string[], ours: Prediction, theirs: ServerAnswer): Comparison {
  const [here, there] = [best(ours.probabilities), best(theirs.probabilities)];
  const differences = ours.probabilities.map((p, i) => Math.abs(p - (theirs.probabilities[i] ?? NaN)));
  return {
    same: here === there,
    ours: labels[here] ?? '',
    theirs: labels[there] ?? '',
    largest: differences.reduce((a, b) => Math.max(a, b), 0),
  };
}

function inferRequest(contract: Contract, variant: string, tensor: DecodedTensor) {
  const head = new TextEncoder().encode(
    JSON.stringify({
      inputs: [
        {
          name: tensor.name,
          datatype: tensor.dtype.toUpperCase(),
          shape: tensor.shape,
          parameters: { binary_data_size: tensor.data.byteLength },
        },
      ],
      outputs: [{ name: contract.decision.probabilities, parameters: { binary_data: true } }],
      parameters: { variant },
    }),
  );
  const body = new Uint8Array(head.byteLength + tensor.data.byteLength);
  body.set(head);
  body.set(tensor.data, head.byteLength);
  return { header: head.byteLength, body };
}

async function refusedWhy(response: Response): Promise<string> {
  const said: unknown = await response.json().catch(() => null);
  const error = typeof said === 'object' && said !== null && 'error' in said ? said.error : null;
  const words = typeof error === 'string' ? error : 'it gave no reason';
  return `The server refused (HTTP ${response.status}): ${words}`;
}

/** One float32 output of a v2 answer, wherever its bytes lie; throws when it is not there whole. */
function readOutput(raw: ArrayBuffer, length: string | null, name: string): Float32Array {
  const head = length === null ? raw.byteLength : Number(length);
  const answer: unknown = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 0, head)));
  let offset = head;
  for (const output of outputsOf(answer)) {
    const size = output.parameters?.binary_data_size ?? 0;
    if (output.name !== name) {
      offset += size;
      continue;
    }
    if (output.datatype !== 'FP32') break;
    return output.data ? Float32Array.from(output.data) : new Float32Array(raw.slice(offset, offset + size));
  }
  throw new NoSecondOpinion('server-refused', `The server's answer holds no ${name}.`);
}

interface Output {
  readonly name: string;
  readonly datatype: string;
  readonly data?: readonly number[];
  readonly parameters?: { readonly binary_data_size?: number };
}

function outputsOf(answer: unknown): readonly Output[] {
  const outputs = typeof answer === 'object' && answer !== null && 'outputs' in answer ? answer.outputs : [];
  return Array.isArray(outputs) ? outputs.filter(isOutput) : [];
}

function isOutput(value: unknown): value is Output {
  return typeof value === 'object' && value !== null && 'name' in value && 'datatype' in value;
}

function best(values: Float32Array): number {
  return values.reduce((top, value, i) => (value > (values[top] ?? -1) ? i : top), 0);
}
