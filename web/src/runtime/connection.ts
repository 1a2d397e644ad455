// The page's end of a model's worker: calls with answers, progress and abort.
import { fromShape, LikewiseError } from '../shared/errors';
import type { CallName, Calls, Reply, Request } from '../shared/messages';
import type { Progress } from './types';

interface CallOptions {
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Pending {
  readonly resolve: (value: Calls[CallName]['value']) => void;
  readonly reject: (error: LikewiseError) => void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

export class Connection {
  readonly #worker = new Worker(new URL('../worker/main.ts', import.meta.url), { type: 'module' });
  readonly #pending = new Map<number, Pending>();
  #ended = false;
  #lastId = 0;

  constructor() {
    this.#worker.addEventListener('message', (event: MessageEvent<Reply>) => this.#receive(event.data));
    this.#worker.addEventListener('error', event => {
      this.#fail(new LikewiseError('failed', event.message || 'The worker could not be started.'));
    });
  }

  /** An aborted call rejects at once; the worker drops the job when it still waits. */
  call<N extends CallName>(
    kind: N,
    args: Calls[N]['args'],
    options: CallOptions = {},
  ): Promise<Calls[N]['value']> {
    const { signal, onProgress } = options;
    if (this.#ended) return Promise.reject(new LikewiseError('closed', 'This model was closed.'));
    if (signal?.aborted) return Promise.reject(aborted());
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise<Calls[N]['value']>((resolve, reject) => {
      const onAbort = () => {
        this.#pending.delete(id);
        this.#post({ kind: 'abort', id });
        reject(aborted());
      };
      const settled = () => signal?.removeEventListener('abort', onAbort);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#pending.set(id, {
        resolve: value => {
          settled();
          resolve(value as Calls[N]['value']);
        },
        reject: error => {
          settled();
          reject(error);
        },
        onProgress,
      });
      this.#post({ kind, id, args } as Request);
    });
  }

  /** Lets the running job end, frees the session, ends the worker; what still waits is rejected. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#rejectAll(new LikewiseError('closed', 'The model was closed before this was done.'));
    await this.call('close', {}).finally(() => this.end());
  }

  /** Ends the worker at once. */
  end(): void {
    this.#ended = true;
    this.#worker.terminate();
    this.#rejectAll(new LikewiseError('closed', 'This model was closed.'));
  }

  #post(request: Request): void {
    this.#worker.postMessage(request);
  }

  #receive(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (reply.kind === 'progress') {
      pending?.onProgress?.(reply.progress);
      return;
    }
    this.#pending.delete(reply.id);
    if (reply.kind === 'value') pending?.resolve(reply.value);
    else pending?.reject(fromShape(reply.error));
  }

  /** A worker that has failed answers nothing any more. */
  #fail(error: LikewiseError): void {
    this.#rejectAll(error);
    this.end();
  }

  #rejectAll(error: LikewiseError): void {
    const waiting = [...this.#pending];
    this.#pending.clear();
    for (const [id, pending] of waiting) {
      this.#post({ kind: 'abort', id });
      pending.reject(error);
    }
  }
}

function aborted(): LikewiseError {
  return new LikewiseError('aborted', 'Stopped on request.');
}
