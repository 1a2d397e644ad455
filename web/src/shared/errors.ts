// One shape of error on every edge: over the worker, over HTTP, to the page.

/** Codes are stable: pages decide by them. The message says what, where, the value and the limit. */
export const ERROR_CODES = [
  'bad-contract',
  'wrong-bytes',
  'not-found',
  'offline',
  'bad-input',
  'unsupported-picture',
  'picture-too-large',
  'broken-picture',
  'canvas-lies',
  'nothing-drawn',
  'not-a-number',
  'backend-unavailable',
  'unverified',
  'aborted',
  'closed',
  'failed',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorShape {
  readonly code: ErrorCode;
  readonly message: string;
}

export class LikewiseError extends Error {
  override readonly name = 'LikewiseError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** What is given is at fault: the message says what, where, the value and the limit. */
export function badInput(message: string): LikewiseError {
  return new LikewiseError('bad-input', message);
}

/** What crosses to another thread: only the shape, whatever was thrown. */
export function toShape(error: unknown): ErrorShape {
  if (error instanceof LikewiseError) return { code: error.code, message: error.message };
  if (isAbort(error)) return { code: 'aborted', message: 'Stopped on request.' };
  return { code: 'failed', message: error instanceof Error ? error.message : String(error) };
}

export function fromShape(shape: ErrorShape): LikewiseError {
  return new LikewiseError(shape.code, shape.message);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** For the default branch of a switch over a union. */
export function never(value: never): never {
  throw new LikewiseError('failed', `Unexpected value: ${JSON.stringify(value)}`);
}
