// The public face of the runtime: what a page, the verify page and other people's pages see.
import type { Contract } from '../shared/contract';

export type Backend = 'wasm' | 'webgpu';

/** What was asked for, what runs, and why that. */
export interface Ran {
  readonly variant: string;
  readonly backend: Backend;
  readonly threads: number;
  readonly asked: {
    readonly variant: string | null;
    readonly backend: Backend | null;
    readonly threads: number | null;
  };
  readonly why: string;
}

export interface Answer {
  readonly index: number;
  readonly label: string;
  readonly score: number;
}

/** One output of the graph as it came, for those who compare: little-endian raw bytes. */
export interface OutputTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

/** A decoded input: raw bytes of the model's input tensor (batch 1), as the contract's decoder gives them. */
export interface DecodedTensor {
  readonly name: string;
  readonly dtype: 'uint8';
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

export interface Prediction {
  /** Best first, `top_k` of the contract. */
  readonly answers: readonly Answer[];
  /** False below the contract's threshold. */
  readonly sure: boolean;
  readonly ran: Ran;
  readonly timing: { readonly decodeMs: number; readonly runMs: number; readonly totalMs: number };
  /** What the model saw: for the server's second opinion, and for the curious. */
  readonly tensor: DecodedTensor;
  /** Every probability, in label order. */
  readonly probabilities: Float32Array;
  /** Every output of the graph; only when asked for with `outputs: true`. */
  readonly outputs?: readonly OutputTensor[];
}

export interface PredictOptions {
  readonly signal?: AbortSignal;
  /** Give every output of the graph as well. */
  readonly outputs?: boolean;
}

export type Progress =
  | { readonly stage: 'contract' }
  | {
      readonly stage: 'download';
      readonly doneBytes: number;
      readonly totalBytes: number;
      readonly fraction: number;
      readonly fromStore: boolean;
    }
  | { readonly stage: 'compile' }
  | { readonly stage: 'ready' };

export interface LoadOptions {
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
  /** Default: what the contract calls best for the backend. */
  readonly variant?: string;
  /** Default: wasm (choosing by proof on the device comes later). */
  readonly backend?: Backend;
  /** Default: as many as the device has cores, at most 4; 1 without cross-origin isolation. */
  readonly threads?: number;
  /** Only for verify: run what has no evidence yet. */
  readonly allowUnverified?: boolean;
}

/** Whether the model is whole and verified in the store, so that it works without a network. `why` when not. */
export interface Kept {
  readonly availableOffline: boolean;
  readonly why: string;
}

/** As it was when the model was ready: `availableOffline` only if it had been stored before. */
export interface LoadReport extends Kept {
  /** Milliseconds: whole load, of it download and session creation. */
  readonly loadMs: number;
  readonly downloadMs: number;
  readonly compileMs: number;
  readonly downloadedBytes: number;
  readonly modelBytes: number;
  readonly fromStore: boolean;
}

/** A picture or drawing: a file, an encoded blob, or raw pixels (RGBA, not premultiplied). */
export type Picture = Blob | ImageData;

export interface Model {
  readonly contract: Contract;
  readonly ran: Ran;
  readonly report: LoadReport;
  /** Storing for use without a network has ended; `close` ends it too. Never rejects, predictions do not wait for it. */
  readonly whenKept: Promise<Kept>;
  predict(input: Picture, options?: PredictOptions): Promise<Prediction>;
  /** Run an input tensor that is decoded already (golden examples, another decoder). */
  predictTensor(data: Uint8Array, options?: PredictOptions): Promise<Prediction>;
  /** Decode only: the bytes that the model would see. */
  decode(input: Picture): Promise<DecodedTensor>;
  /** Milliseconds of `runs` bare session runs on one tensor, inside the worker: no decoding, no messages. */
  benchmark(data: Uint8Array, runs: number): Promise<readonly number[]>;
  /** Frees the session and ends the worker; whatever still waits is rejected with `closed`. */
  close(): Promise<void>;
}
