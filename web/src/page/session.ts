// One opened model: its state while it loads, its predictions one after another, its times.

import { type Kept, load, type Model, type ModelInput, type Prediction, type Progress } from '../runtime';
import { type Refusal, refusalOf } from './refusal';

export type SessionState =
  | { readonly kind: 'loading'; readonly progress: Progress }
  | { readonly kind: 'ready'; readonly model: Model }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Of this many last predictions the usual time is told. */
const KEPT_TIMES = 99;

export class ModelSession {
  state: SessionState = { kind: 'loading', progress: { stage: 'contract' } };
  /** Null while the model is being stored. */
  kept: Kept | null = null;
  firstMs: number | null = null;
  /** Later predictions, oldest first: the first one pays for warming up and would blur them. */
  times: readonly number[] = [];
  readonly ready: Promise<Model | null>;
  readonly #abort = new AbortController();
  readonly #changed: () => void;

  constructor(url: URL, changed: () => void) {
    this.#changed = changed;
    this.ready = this.#load(url);
  }

  /** Throws what the runtime throws. */
  async predict(model: Model, input: ModelInput): Promise<Prediction> {
    const prediction = await model.predict(input, { signal: this.#abort.signal });
    const { totalMs } = prediction.timing;
    if (this.firstMs === null) this.firstMs = totalMs;
    else this.times = [...this.times, totalMs].slice(-KEPT_TIMES);
    return prediction;
  }

  /** Stop what runs and free the model. */
  close(): void {
    this.#abort.abort();
    void this.ready.then(model => model?.close());
  }

  async #load(url: URL): Promise<Model | null> {
    const { signal } = this.#abort;
    const onProgress = (progress: Progress) => this.#become({ kind: 'loading', progress });
    try {
      const model = await load(url.href, { onProgress, signal });
      if (model.report.availableOffline) this.kept = model.report;
      this.#become({ kind: 'ready', model });
      void model.whenKept.then(kept => {
        this.kept = kept;
        this.#become({ kind: 'ready', model });
      });
      return model;
    } catch (error) {
      this.#become({ kind: 'refused', refusal: refusalOf(error) });
      return null;
    }
  }

  #become(state: SessionState): void {
    if (this.#abort.signal.aborted) return;
    this.state = state;
    this.#changed();
  }
}
