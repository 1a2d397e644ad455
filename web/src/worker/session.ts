// The only file that imports onnxruntime-web. Its two entries are loaded on demand, so that who runs wasm
// never loads the WebGPU build. The glue (.mjs) must be a file of its own: when a bundler inlines it, every
// thread starts the application's own chunk again, and the session waits for ever.

import webgpuGlue from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import webgpuBinary from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import wasmGlue from 'onnxruntime-web/ort-wasm-simd-threaded.mjs?url';
import wasmBinary from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import type * as Ort from 'onnxruntime-web/wasm';
import type { Backend } from '../runtime/types';
import { LikewiseError } from '../shared/errors';
import type { Output } from './decide';

export interface Session {
  /** What the runtime really uses, which may be less than was asked for. */
  readonly threads: number;
  run(data: Uint8Array, shape: readonly number[]): Promise<readonly Output[]>;
  /** Milliseconds of each of `runs` bare runs. */
  benchmark(data: Uint8Array, runs: number): Promise<readonly number[]>;
  close(): Promise<void>;
}

export interface SessionInput {
  readonly name: string;
  readonly shape: readonly number[];
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

export async function openSession(
  ort: Runtime,
  backend: Backend,
  model: Uint8Array,
  input: SessionInput,
): Promise<Session> {
  const session = await ort.InferenceSession.create(model, {
    executionProviders: [backend],
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  if (session.inputNames.length !== 1 || session.inputNames[0] !== input.name) {
    const names = session.inputNames.join(', ');
    throw new LikewiseError('bad-contract', `The model's input is ${names}, the contract says ${input.name}`);
  }
  const feed = (data: Uint8Array, shape: readonly number[]) => ({
    [input.name]: new ort.Tensor('uint8', data, shape),
  });
  return {
    threads: ort.env.wasm.numThreads ?? 1,
    async run(data, shape) {
      const results = await session.run(feed(data, shape));
      return Object.entries(results).map(([name, tensor]) => asOutput(name, tensor));
    },
    async benchmark(data, runs) {
      const feeds = feed(data, input.shape);
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

function asOutput(name: string, tensor: Ort.Tensor): Output {
  const { data } = tensor;
  const known = [Float32Array, BigInt64Array, Int32Array, Uint8Array].some(type => data instanceof type);
  if (!known) throw new LikewiseError('failed', `${name}: outputs of type ${tensor.type} are not supported`);
  return { name, dtype: tensor.type, shape: tensor.dims, data: data as Output['data'] };
}
