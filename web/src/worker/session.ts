// The only file that imports onnxruntime-web. Its two entries are loaded on demand, so that who runs wasm
// never loads the WebGPU build. The glue (.mjs) must be a file of its own: when a bundler inlines it, every
// thread starts the application's own chunk again, and the session waits for ever.

import webgpuGlue from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import webgpuBinary from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import wasmGlue from 'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import wasmBinary from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import type * as Ort from 'onnxruntime-web/wasm';
import type { Backend } from '../runtime/types';
import type { Contract } from '../shared/contract';
import { LikewiseError, never } from '../shared/errors';
import { aligned, DATATYPES, packStrings, type TensorData, unpackStrings } from '../shared/tensors';

export interface Session {
  /** What the runtime really uses, which may be less than was asked for. */
  readonly threads: number;
  /** One run of the graph; `tensors` are all its inputs. */
  run(tensors: readonly TensorData[]): Promise<readonly TensorData[]>;
  /** Milliseconds of each of `runs` bare runs. */
  benchmark(tensors: readonly TensorData[], runs: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

export type Runtime = typeof Ort;

/** Starts fetching the runtime while the model is still on its way. */
export async function loadRuntime(backend: Backend, threads: number): Promise<Runtime> {
  const ort = backend === 'webgpu' ? await webgpuRuntime() : await import('onnxruntime-web/wasm');
  ort.env.logLevel = 'error';
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths =
    backend === 'webgpu' ? { mjs: webgpuGlue, wasm: webgpuBinary } : { mjs: wasmGlue, wasm: wasmBinary };
  return ort;
}

/** Throws backend-unavailable: without an adapter nothing else is run instead. */
async function webgpuRuntime(): Promise<Runtime> {
  const gpu = 'gpu' in navigator ? (navigator.gpu as { requestAdapter(): Promise<unknown> }) : null;
  if (gpu === null) throw new LikewiseError('backend-unavailable', 'webgpu: this browser has none.');
  if ((await gpu.requestAdapter()) === null) {
    throw new LikewiseError('backend-unavailable', 'webgpu: no graphics adapter that the browser would use.');
  }
  return import('onnxruntime-web/webgpu');
}

/** What the backend's runtime fetches when the first session is made. */
export function binaryUrl(backend: Backend): string {
  return new URL(backend === 'webgpu' ? webgpuBinary : wasmBinary, self.location.href).href;
}

/** Throws bad-contract unless the graph has the contract's inputs, no other, and its outputs. */
export async function openSession(
  ort: Runtime,
  backend: Backend,
  model: Uint8Array,
  { inputs, outputs }: Pick<Contract, 'inputs' | 'outputs'>,
): Promise<Session> {
  const session = await ort.InferenceSession.create(model, {
    executionProviders: [backend],
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  checkNames('inputs', session.inputNames, inputs);
  checkNames('outputs', session.outputNames, outputs);
  const feedsOf = (tensors: readonly TensorData[]) =>
    Object.fromEntries(tensors.map(tensor => [tensor.name, toRuntime(ort, tensor)]));
  return {
    threads: ort.env.wasm.numThreads ?? 1,
    async run(tensors) {
      const results = await session.run(feedsOf(tensors));
      return session.outputNames.map(name => fromRuntime(name, results[name]));
    },
    async benchmark(tensors, runs) {
      const feeds = feedsOf(tensors);
      const times: number[] = [];
      for (let i = 0; i < runs; i += 1) {
        const start = performance.now();
        const results = await session.run(feeds);
        times.push(performance.now() - start);
        for (const tensor of Object.values(results)) tensor.dispose();
      }
      return times;
    },
    close: () => session.release(),
  };
}

function checkNames(
  what: string,
  actual: readonly string[],
  declared: readonly { readonly name: string }[],
): void {
  const wanted = declared.map(({ name }) => name);
  if (actual.length === wanted.length && wanted.every(name => actual.includes(name))) return;
  throw new LikewiseError(
    'bad-contract',
    `The model's ${what} are ${actual.join(', ')}, the contract says ${wanted.join(', ')}`,
  );
}

function toRuntime(ort: Runtime, { dtype, shape, data }: TensorData): Ort.Tensor {
  switch (dtype) {
    case 'bool':
      return new ort.Tensor('bool', data, shape);
    case 'uint8':
      return new ort.Tensor('uint8', data, shape);
    case 'int32':
      return new ort.Tensor('int32', new Int32Array(...place(data, 4)), shape);
    case 'int64':
      return new ort.Tensor('int64', new BigInt64Array(...place(data, 8)), shape);
    case 'float32':
      return new ort.Tensor('float32', new Float32Array(...place(data, 4)), shape);
    case 'string':
      return new ort.Tensor('string', unpackStrings(data), shape);
    default:
      return never(dtype);
  }
}

/** Where in memory the values lie, as constructors of typed arrays take it. */
function place(data: Uint8Array<ArrayBuffer>, itemBytes: number): [ArrayBuffer, number, number] {
  const { buffer, byteOffset, byteLength } = aligned(data, itemBytes);
  return [buffer, byteOffset, byteLength / itemBytes];
}

function fromRuntime(name: string, tensor: Ort.Tensor | undefined): TensorData {
  if (tensor === undefined) throw new LikewiseError('failed', `${name}: the graph gave no such output`);
  const { dims: shape, data, type } = tensor;
  const dtype = DATATYPES.find(known => known === type);
  if (dtype === undefined) {
    throw new LikewiseError('failed', `${name}: outputs of type ${type} are not supported`);
  }
  return { name, dtype, shape, data: bytesOf(data) };
}

function bytesOf(data: Ort.Tensor['data']): Uint8Array<ArrayBuffer> {
  if (Array.isArray(data)) return packStrings(data);
  const { buffer, byteOffset, byteLength } = data as Exclude<typeof data, string[]>;
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
