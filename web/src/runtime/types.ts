// The public face of the runtime: what a page, the verify page and other people's pages see.
import type { Contract } from '../shared/contract';
import type { TensorData } from '../shared/tensors';

export type { Datatype, TensorData } from '../shared/tensors';

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

/** One cell of a table's row; null, and a column left out, is a missing value. */
export type Cell = string | number | boolean | null;

/** A table's row by column name. */
export type Row = Readonly<Record<string, Cell>>;

/**
 * What a model takes, by its contract's `input.kind`. A picture or drawing: an encoded file, or raw pixels (RGBA, not
 * premultiplied). Text: itself, or a UTF-8 file. Sound: a WAV file. A table: a row, or JSON or CSV as text or file.
 * Bytes: any file. Tensors: .npy or v2 JSON.
 */
export type ModelInput = Blob | ImageData | string | Row;

interface Predicted {
  readonly ran: Ran;
  readonly timing: { readonly decodeMs: number; readonly runMs: number; readonly totalMs: number };
  /** What the model saw: for the server's second opinion, and for the curious. */
  readonly tensors: readonly TensorData[];
  /** Every output of the graph as it came; a stream's without its states, joined over all steps. */
  readonly outputs: readonly TensorData[];
}

/** A choice among the contract's labels. */
export interface ScoresPrediction extends Predicted {
  readonly kind: 'scores';
  /** Best first, `top_k` of the contract. */
  readonly answers: readonly Answer[];
  /** False below the contract's threshold. */
  readonly sure: boolean;
  /** Every probability, in label order. */
  readonly probabilities: Float32Array;
}

/** No choice among labels, so no answers, and no threshold below which to ask a person. */
interface WithoutAnswers extends Predicted {
  readonly answers: readonly [];
  readonly sure: true;
}

export interface EmbeddingPrediction extends WithoutAnswers {
  readonly kind: 'embedding';
  /** Of length 1: the dot product of two says how alike their inputs are. */
  readonly vector: Float32Array;
}

export interface FramesPrediction extends WithoutAnswers {
  readonly kind: 'frames';
  /** One a frame; the contract says how long a frame is and from which probability it is active. */
  readonly probabilities: Float32Array;
}

export interface Box extends Answer {
  /** Left, top, right, bottom, in pixels of the input tensor. */
  readonly corners: readonly [number, number, number, number];
}

export interface BoxesPrediction extends WithoutAnswers {
  readonly kind: 'boxes';
  /** Best first, those that reach the contract's threshold. */
  readonly boxes: readonly Box[];
}

/** The graph's outputs as they are. */
export interface ValuesPrediction extends WithoutAnswers {
  readonly kind: 'values';
}

/**
 * What came of one input. `kind` is that of the contract's decision; answers, sure, ran, timing, tensors and outputs
 * are there in every kind, so that `const { answers, sure } = await model.predict(file)` always holds.
 */
export type Prediction =
  | ScoresPrediction
  | EmbeddingPrediction
  | FramesPrediction
  | BoxesPrediction
  | ValuesPrediction;

export interface PredictOptions {
  readonly signal?: AbortSignal;
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

export interface Model {
  readonly contract: Contract;
  readonly ran: Ran;
  readonly report: LoadReport;
  /** Storing for use without a network has ended; `close` ends it too. Never rejects, predictions do not wait for it. */
  readonly whenKept: Promise<Kept>;
  predict(input: ModelInput, options?: PredictOptions): Promise<Prediction>;
  /** Run one input that is decoded already (golden examples, another decoder): the contract's inputs, without states. */
  predictTensors(tensors: readonly TensorData[], options?: PredictOptions): Promise<Prediction>;
  /** Decode only: what the model would see. */
  decode(input: ModelInput): Promise<readonly TensorData[]>;
  /** Milliseconds of `runs` bare runs on one decoded input, inside the worker: no decoding, no messages. */
  benchmark(tensors: readonly TensorData[], runs: number): Promise<readonly number[]>;
  /** Frees the session and ends the worker; whatever still waits is rejected with `closed`. */
  close(): Promise<void>;
}
