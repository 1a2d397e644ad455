// Calls to the raw worker, which opens a model's bytes without a contract.
import type { Backend } from '../runtime/types';

/** Any of the runtime's own types; strings are no bytes. */
export interface RawTensor {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly data: Uint8Array<ArrayBuffer> | readonly string[];
}

/** As the runtime tells it: a free size without a name reads as 4294967295. */
export interface RawPort {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly (number | string)[];
}

export interface RawOpened {
  readonly inputs: readonly RawPort[];
  readonly outputs: readonly RawPort[];
}

export interface RawCalls {
  readonly open: {
    readonly args: { readonly model: Uint8Array<ArrayBuffer>; readonly backend: Backend };
    readonly value: RawOpened;
  };
  readonly run: {
    readonly args: { readonly feeds: readonly RawTensor[] };
    readonly value: readonly RawTensor[];
  };
  readonly close: { readonly args: Record<never, never>; readonly value: null };
}

export type RawCall = keyof RawCalls;

export type RawRequest = {
  [N in RawCall]: { readonly kind: N; readonly args: RawCalls[N]['args'] };
}[RawCall];

export type RawReply =
  | { readonly value: RawCalls[RawCall]['value'] }
  | { readonly error: { readonly code: string; readonly message: string } };
