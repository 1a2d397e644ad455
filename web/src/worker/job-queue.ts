import { LikewiseError } from '../shared/errors';

/** One job at a time, in order. A job that fails stops nothing; one that still waits can be called off. */
export class JobQueue {
  #tail: Promise<unknown> = Promise.resolve();
  readonly #controllers = new Map<number, AbortController>();

  add<T>(id: number, job: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    const run = this.#tail.then(() => {
      throwIfAborted(controller.signal);
      return job(controller.signal);
    });
    this.#tail = run.then(nothing, nothing).then(() => this.#controllers.delete(id));
    return run;
  }

  /** Unknown and finished jobs are ignored: the message may cross with the answer. */
  abort(id: number): void {
    this.#controllers.get(id)?.abort();
  }
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new LikewiseError('aborted', 'Stopped on request.');
}

function nothing(): void {}
