// One job at a time, and of those that wait only the newest: what keeps a fast hand and a slow
// model in step.

export class LatestOnly<Input> {
  readonly #run: (input: Input) => Promise<void>;
  #waiting: { readonly input: Input } | null = null;
  #running = false;

  /** `run` reports its own errors; what it throws is dropped, so that the next job still runs. */
  constructor(run: (input: Input) => Promise<void>) {
    this.#run = run;
  }

  /** Run this now, or after the running one; whatever waited before is forgotten. */
  offer(input: Input): void {
    this.#waiting = { input };
    if (!this.#running) void this.#drain();
  }

  /** Forget what waits. What runs already is not stopped. */
  forget(): void {
    this.#waiting = null;
  }

  async #drain(): Promise<void> {
    this.#running = true;
    while (this.#waiting !== null) {
      const { input } = this.#waiting;
      this.#waiting = null;
      await this.#run(input).catch(() => {});
    }
    this.#running = false;
  }
}
