// What crosses between the page and a model's worker.
import type { Kept, LoadOptions, LoadReport, ModelInput, Prediction, Progress, Ran } from '../runtime/types';
import type { Contract } from './contract';
import type { ErrorShape } from './errors';
import type { TensorData } from './tensors';

export interface Loaded {
  readonly contract: Contract;
  readonly ran: Ran;
  readonly report: LoadReport;
}

/** Timings of the bare session, without decoding, queue or messages: what the rest is measured against. */
export interface Benchmark {
  readonly runMs: readonly number[];
}

/** Each call with what it takes and what it gives. */
export interface Calls {
  load: {
    args: { readonly url: string; readonly options: Omit<LoadOptions, 'onProgress' | 'signal'> };
    value: Loaded;
  };
  /** Answered when storing has ended; no other call waits for it. */
  whenKept: { args: Record<never, never>; value: Kept };
  predict: { args: { readonly input: ModelInput }; value: Prediction };
  predictTensors: { args: { readonly tensors: readonly TensorData[] }; value: Prediction };
  decode: { args: { readonly input: ModelInput }; value: readonly TensorData[] };
  benchmark: { args: { readonly tensors: readonly TensorData[]; readonly runs: number }; value: Benchmark };
  close: { args: Record<never, never>; value: null };
}

export type CallName = keyof Calls;

export type Request =
  | { [N in CallName]: { readonly kind: N; readonly id: number; readonly args: Calls[N]['args'] } }[CallName]
  | { readonly kind: 'abort'; readonly id: number };

export type Reply =
  | { readonly kind: 'value'; readonly id: number; readonly value: Calls[CallName]['value'] }
  | { readonly kind: 'error'; readonly id: number; readonly error: ErrorShape }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: Progress };
