// A model's own page: input on the left, answer on the right, and how it came about.

import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import type { Model, ModelInput, Prediction } from '../runtime';
import type { Example } from '../shared/contract';
import type { Evidence } from '../shared/evidence';
import type { IndexEntry } from '../shared/index-file';
import './answer-panel';
import type { AnswerState } from './answer-panel';
import { type Catalogue, fetchVerified, type Published } from './catalogue';
import { summary } from './evidence-words';
import './file-panel';
import * as format from './format';
import { type Given, inMotion, NOTHING, type TakesFiles } from './given';
import { checked, stored } from './icons';
import './input-panel';
import { KINDS } from './kinds';
import { LatestOnly } from './latest';
import './loading-steps';
import { codeOf, type Refusal, refusalOf } from './refusal';
import './refusal-note';
import './sample-strip';
import { evidenceHref, galleryHref } from './route';
import './second-opinion';
import { ModelSession } from './session';
import './status-panel';
import type { Shell } from './shell';
import { buttons, shared } from './styles';
import './table-form';
import './text-panel';
import './version-facts';

export class ModelPage extends LitElement {
  static override properties = {
    name: { type: String },
    catalogue: { attribute: false },
    site: { attribute: false },
    shell: { attribute: false },
    entry: { state: true },
    published: { state: true },
    evidence: { state: true },
    refusal: { state: true },
    answer: { state: true },
    sample: { state: true },
  };
  declare name: string;
  declare catalogue: Catalogue;
  declare site: URL;
  declare shell: Shell;
  declare entry: IndexEntry | null;
  declare published: Published | null;
  declare evidence: Evidence | null;
  /** Why there is no page at all: the index is out of reach, or the model is not in it. */
  declare refusal: Refusal | null;
  declare answer: AnswerState;
  /** Id of the sample that is chosen, or ''. */
  declare sample: string;

  #session: ModelSession | null = null;
  #given: Given = NOTHING;
  #abort = new AbortController();
  readonly #queue = new LatestOnly<Given>(given => this.#predict(given));

  constructor() {
    super();
    this.name = '';
    this.shell = 'storing';
    this.#reset();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#close();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('name')) void this.#open();
  }

  override render() {
    return html`
      <nav aria-label="Where you are"><a href=${galleryHref}>All models</a></nav>
      ${
        this.refusal
          ? html`<h1>${this.name}</h1>
            <lw-refusal-note .refusal=${this.refusal}><button @click=${this.#open}>Try again</button></lw-refusal-note>`
          : nothing
      }
      ${this.entry ? this.#page(this.entry) : nothing}
    `;
  }

  #page(entry: IndexEntry) {
    const state = this.#session?.state;
    const model = state?.kind === 'ready' ? state.model : null;
    const { published } = this;
    return html`
      <header>
        <h1>${entry.title}</h1>
        <p>${entry.description}</p>
        <p class="marks small">
          ${
            // A version whose files are not what was verified is not called so.
            state?.kind === 'refused'
              ? html`<a href=${evidenceHref(this.name)}>Evidence of version ${entry.version}</a>`
              : html`<a href=${evidenceHref(this.name)}>${checked}Verified, version ${entry.version}</a>`
          }
          ${this.#session?.kept?.availableOffline && this.shell === 'stored' ? html`<span class="soft">${stored}Works offline</span>` : nothing}
        </p>
      </header>
      ${this.#columns(entry, model)}
      ${this.#evidence(model)}
      ${
        published
          ? html`<section aria-label="About this version">
            <lw-version-facts .contract=${published.contract} .base=${published.versionUrl}></lw-version-facts>
          </section>`
          : nothing
      }
    `;
  }

  #columns(entry: IndexEntry, model: Model | null) {
    const { published } = this;
    return html`
      <div class="columns ${entry.kind}">
        <section class="input" aria-label="Input">
          ${this.#panel(entry)}
          ${entry.kind === 'table' ? html`<p class="live" aria-hidden="true">${this.#inShort()}</p>` : nothing}
        </section>
        <section class="answer" aria-label="Answer">
          <h2>Answer</h2>
          ${this.#answer(entry)}
        </section>
        <section class="samples" aria-label="Samples">
          <lw-sample-strip
            .samples=${published ? samplesOf(published.contract.examples) : []}
            .base=${published?.versionUrl ?? null}
            .chosen=${this.sample}
            @sample=${this.#onSample}
          ></lw-sample-strip>
          <p class="small soft">${KINDS[entry.kind].otherWays}</p>
        </section>
        ${
          model
            ? html`<section class="device" aria-label="On this device">
                <lw-status-panel .model=${model} .kept=${this.#session?.kept ?? null} .shell=${this.shell} .firstMs=${this.#session?.firstMs ?? null} .times=${this.#session?.times ?? []}></lw-status-panel>
              </section>`
            : nothing
        }
      </div>
    `;
  }

  #panel({ kind }: IndexEntry) {
    const input = this.published?.contract.input;
    switch (kind) {
      case 'drawing':
      case 'image':
        return html`<lw-input-panel
          .kind=${kind}
          .ink=${input?.kind === 'drawing' ? input.ink : 'auto'}
          @given=${this.#onGiven}
        ></lw-input-panel>`;
      case 'table':
        return html`<lw-table-form .spec=${input?.kind === 'table' ? input : null} @given=${this.#onGiven}></lw-table-form>`;
      case 'bytes':
        return html`<lw-file-panel what="Any file." @given=${this.#onGiven}></lw-file-panel>`;
      case 'tensor':
        return html`<lw-file-panel
          what=".npy for one tensor, or JSON as the v2 protocol has it."
          accepted=".npy,.json,application/json"
          @given=${this.#onGiven}
        ></lw-file-panel>`;
      case 'text':
        return html`<lw-text-panel @given=${this.#onGiven}></lw-text-panel>`;
      case 'sound':
        return html`<lw-file-panel what="WAV." accepted=".wav,audio/wav" sound @given=${this.#onGiven}></lw-file-panel>`;
      default:
        return kind satisfies never;
    }
  }

  /** The answer beside a form that is longer than a phone; screen readers hear it from the answer itself. */
  #inShort(): string {
    const { answer } = this;
    if (answer.kind !== 'answered') return this.#given.kind === 'nothing' ? this.#given.why : '';
    const [best] = answer.prediction.answers;
    if (best === undefined) return '';
    return `${answer.prediction.sure ? best.label : 'Not sure'}, ${format.percent(best.score)}`;
  }

  #answer(entry: IndexEntry) {
    const state = this.#session?.state;
    if (state === undefined || state.kind === 'loading') {
      const progress = state?.progress ?? { stage: 'contract' };
      return html`<lw-loading-steps .progress=${progress}></lw-loading-steps>
        <p class="small soft">${KINDS[entry.kind].meanwhile}</p>`;
    }
    if (state.kind === 'refused') {
      return html`<lw-refusal-note .refusal=${state.refusal}><button @click=${this.#open}>Try again</button></lw-refusal-note>`;
    }
    const { answer } = this;
    return html`
      <lw-answer-panel
        .state=${answer}
        .contract=${state.model.contract}
        invitation=${(this.#given.kind === 'nothing' && this.#given.why) || KINDS[entry.kind].invitation}
      ></lw-answer-panel>
      <lw-second-opinion
        .model=${state.model}
        .site=${this.site}
        .prediction=${answer.kind === 'answered' ? answer.prediction : null}
      ></lw-second-opinion>
    `;
  }

  #evidence(model: Model | null) {
    if (this.evidence === null) return nothing;
    const words = summary(this.evidence, model?.ran.variant ?? null);
    return html`
      <section class="evidence" aria-label="Evidence">
        <p><strong>Proven against ${this.evidence.judge}.</strong> ${words}.</p>
        <a href=${evidenceHref(this.name)}>See the evidence</a>
      </section>
    `;
  }

  #onGiven(event: CustomEvent<Given>): void {
    this.#given = event.detail;
    this.sample = 'sample' in event.detail ? event.detail.sample : '';
    this.#answerLatest();
  }

  async #onSample(event: CustomEvent<Example>): Promise<void> {
    const { input, title, id, media_type: type } = event.detail;
    const { published } = this;
    if (published === null) return;
    const { signal } = this.#abort;
    this.sample = id;
    const file = await fetchVerified(published.versionUrl, input, signal).catch(refusalOf);
    if (signal.aborted || this.sample !== id) return;
    if (file instanceof Uint8Array) this.#input?.take(new Blob([file], { type }), title, id);
    else this.answer = { kind: 'refused', refusal: file };
  }

  get #input(): TakesFiles | null {
    return this.renderRoot.querySelector<HTMLElement & TakesFiles>('.input > :first-child');
  }

  #answerLatest(): void {
    const given = this.#given;
    if (given.kind === 'nothing') {
      this.#queue.forget();
      this.answer = { kind: 'empty' };
      return;
    }
    // While drawing or typing the last answer stays until the next is there; another file starts afresh.
    if (!inMotion(given) || this.answer.kind !== 'answered') this.answer = { kind: 'working' };
    this.#queue.offer(given);
  }

  async #predict(given: Given): Promise<void> {
    const session = this.#session;
    const model = await session?.ready;
    if (!session || !model || given.kind === 'nothing') return;
    const answer = await answerOf(session, model, given);
    // What was cleared or replaced meanwhile by another kind of input is no longer asked for.
    if (session === this.#session && answer !== null && this.#stillAsked(given)) this.answer = answer;
  }

  #stillAsked(given: Given): boolean {
    const now = this.#given;
    return inMotion(now) ? given.kind === now.kind : now === given;
  }

  #reset(): void {
    this.entry = null;
    this.published = null;
    this.evidence = null;
    this.refusal = null;
    this.answer = { kind: 'empty' };
    this.sample = '';
  }

  #close(): void {
    this.#abort.abort();
    this.#leave();
  }

  #leave(): void {
    this.#session?.close();
    this.#session = null;
  }

  #open = async (): Promise<void> => {
    this.#close();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { name, catalogue } = this;
    if (this.entry === null || this.refusal !== null) this.#reset();
    this.#session = new ModelSession(catalogue.modelUrl(name), () => this.requestUpdate());
    if (this.#given.kind !== 'nothing') this.#answerLatest();
    try {
      this.entry = await catalogue.entry(name, signal);
      document.title = `${this.entry.title} | Likewise`;
      this.published = await catalogue.published(name, this.entry, signal);
      this.evidence = await catalogue.evidence(this.published, signal);
    } catch (error) {
      // With the shell on screen it is the runtime that says what is wrong with the version.
      if (!signal.aborted && this.entry === null) this.refusal = refusalOf(error);
    }
  };

  static override styles = [
    shared,
    buttons,
    css`
      :host {
        display: grid;
        gap: 32px;
      }
      header {
        display: grid;
        gap: 8px;
      }
      nav {
        margin-bottom: -24px;
      }
      nav a,
      .marks a {
        display: inline-flex;
        align-items: center;
        gap: 4px;
        min-height: 44px;
      }
      .marks {
        display: flex;
        flex-wrap: wrap;
        gap: 0 24px;
      }
      .marks span {
        display: inline-flex;
        align-items: center;
        gap: 4px;
      }
      .marks svg {
        width: 16px;
        height: 16px;
      }
      .columns {
        display: grid;
        gap: 32px;
      }
      .columns > section {
        display: grid;
        gap: 16px;
        align-content: start;
        min-width: 0;
      }
      .live {
        position: sticky;
        bottom: 0;
        z-index: 1;
        margin: 0 -16px;
        padding: 8px 16px;
        border-top: 1px solid var(--line);
        background: var(--ground);
        color: var(--accent);
        font-weight: 600;
      }
      .live:empty {
        display: none;
      }
      .evidence {
        display: grid;
        gap: 0 32px;
        align-items: center;
        padding: 16px;
        border-radius: var(--radius);
        background: var(--panel);
      }
      .evidence a {
        display: inline-flex;
        align-items: center;
        min-height: 44px;
      }
      @media (max-width: 831px) {
        :host {
          gap: 24px;
        }
        nav {
          display: none;
        }
        .columns {
          gap: 24px;
        }
        .answer h2 {
          position: absolute;
          clip-path: inset(50%);
        }
        /* A form may be longer than the screen: what fills it in and what comes of it stand above it. */
        .table .samples {
          order: -2;
        }
        .table .answer {
          order: -1;
        }
      }
      @media (min-width: 832px) {
        header {
          grid-template-columns: 1fr auto;
          gap: 8px 32px;
          align-items: center;
        }
        header h1 {
          grid-column: 1 / -1;
        }
        .columns {
          grid-template:
            'input answer' auto
            'input device' auto
            'samples device' 1fr / minmax(320px, 448px) minmax(0, 1fr);
          gap: 24px 64px;
        }
        .columns.bytes,
        .columns.text,
        .columns.sound,
        .columns.tensor {
          grid-template:
            'input answer' auto
            'samples device' 1fr / minmax(320px, 448px) minmax(0, 1fr);
        }
        .columns.table {
          grid-template:
            'samples answer' auto
            'input answer' 1fr
            'device device' auto / minmax(0, 1fr) minmax(320px, 400px);
        }
        .table .answer {
          position: sticky;
          top: 16px;
          align-self: start;
        }
        .live {
          display: none;
        }
        .input {
          grid-area: input;
        }
        .samples {
          grid-area: samples;
        }
        .answer {
          grid-area: answer;
          padding-bottom: 16px;
        }
        .device {
          grid-area: device;
        }
        .evidence {
          grid-template-columns: 1fr auto;
        }
      }
    `,
  ];
}

/** Samples shown at once: two rows on a phone. */
const SAMPLES = 12;

/** One of each label as long as there are places: a visitor wants to see them all answered. */
function samplesOf(examples: readonly Example[]): readonly Example[] {
  const seen = new Set<string>();
  const different = examples.filter(({ shown, title }) => shown && !seen.has(title) && seen.add(title));
  return different.slice(0, SAMPLES);
}

type Something = Exclude<Given, { kind: 'nothing' }>;

function inputOf(given: Something): ModelInput {
  switch (given.kind) {
    case 'drawing':
      return given.pixels();
    case 'text':
      return given.text;
    case 'row':
      return given.row;
    case 'file':
      return given.blob;
    default:
      return given satisfies never;
  }
}

async function answerOf(session: ModelSession, model: Model, given: Something): Promise<AnswerState | null> {
  try {
    const prediction: Prediction = await session.predict(model, inputOf(given));
    return { kind: 'answered', prediction };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'aborted' || code === 'closed') return null;
    if (code === 'nothing-drawn' && given.kind === 'drawing') return { kind: 'empty' };
    return { kind: 'refused', refusal: refusalOf(error) };
  }
}

customElements.define('lw-model-page', ModelPage);
