// What is published here, one card a model.

import { css, html, LitElement } from 'lit';
import { isAvailableOffline } from '../runtime';
import type { Index, IndexEntry } from '../shared/index-file';
import type { Catalogue } from './catalogue';
import { checked, stored } from './icons';
import { KINDS } from './kinds';
import { type Refusal, refusalOf } from './refusal';
import './refusal-note';
import { evidenceHref, modelHref } from './route';
import type { Shell } from './shell';
import { buttons, shared } from './styles';

type State =
  | { readonly kind: 'loading' }
  | { readonly kind: 'listed'; readonly models: Index['models'] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export class Gallery extends LitElement {
  static override properties = {
    catalogue: { attribute: false },
    shell: { attribute: false },
    state: { state: true },
    offline: { state: true },
  };
  declare catalogue: Catalogue;
  declare shell: Shell;
  declare state: State;
  /** Names of the models that are stored whole on this device. */
  declare offline: ReadonlySet<string>;

  #abort = new AbortController();

  constructor() {
    super();
    this.state = { kind: 'loading' };
    this.offline = new Set();
    this.shell = 'storing';
  }

  protected override firstUpdated(): void {
    void this.#open();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  override render() {
    return html`
      <header>
        <h1>The model comes to your device, not your data to the model</h1>
        <p>Likewise runs trained models in this page, without a network if need be, with evidence that they answer as the framework that trained them does.</p>
      </header>
      <section aria-labelledby="models">
        <h2 id="models">Models</h2>
        ${this.#models()}
      </section>
    `;
  }

  #models() {
    const { state } = this;
    switch (state.kind) {
      case 'loading':
        return html`<p class="soft">Reading the list of models</p>`;
      case 'refused':
        return html`<lw-refusal-note .refusal=${state.refusal}><button @click=${this.#open}>Try again</button></lw-refusal-note>`;
      case 'listed': {
        const models = Object.entries(state.models);
        return models.length === 0
          ? none
          : html`<ul class="cards">${models.map(([name, entry]) => this.#card(name, entry))}</ul>`;
      }
      default:
        return state satisfies never;
    }
  }

  #card(name: string, entry: IndexEntry) {
    const sample = entry.sample && new URL(entry.sample, this.catalogue.versionUrl(name, entry.version));
    return html`
      <li>
        <div class="picture ${sample ? entry.kind : 'sign'}">
          ${sample ? html`<img src=${sample.href} alt="" decoding="async" />` : KINDS[entry.kind].icon}
        </div>
        <div class="words">
          <h3><a class="open" href=${modelHref(name)}>${entry.title}</a></h3>
          <p>${entry.description}</p>
          <p class="small soft">${taskName(entry.task)}, version ${entry.version}</p>
          <p class="marks small">
            <a href=${evidenceHref(name)}>${checked}Verified<span class="unseen">: evidence of ${entry.title}</span></a>
            <span class="soft">${this.shell === 'stored' && this.offline.has(name) ? html`${stored}Works offline` : 'Offline once opened'}</span>
          </p>
        </div>
      </li>
    `;
  }

  #open = async (): Promise<void> => {
    this.state = { kind: 'loading' };
    const { signal } = this.#abort;
    try {
      const { models } = await this.catalogue.index(signal);
      this.state = { kind: 'listed', models };
      this.offline = await this.#stored(Object.keys(models));
    } catch (error) {
      if (!signal.aborted) this.state = { kind: 'refused', refusal: refusalOf(error) };
    }
  };

  async #stored(names: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(
      names.map(async name => [name, await isAvailableOffline(this.catalogue.modelUrl(name).href)] as const),
    );
    return new Set(found.filter(([, available]) => available).map(([name]) => name));
  }

  static override styles = [
    shared,
    buttons,
    css`
      :host {
        display: grid;
        gap: 48px;
      }
      header {
        display: grid;
        gap: 16px;
        max-width: 640px;
      }
      section {
        display: grid;
        gap: 16px;
      }
      .cards {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(288px, 100%), 1fr));
        gap: 24px;
      }
      li {
        position: relative;
        display: grid;
        grid-template-rows: auto 1fr;
        overflow: hidden;
        border: 1px solid var(--line);
        border-radius: var(--radius);
        transition: border-color var(--motion);
      }
      li:hover {
        border-color: var(--accent);
      }
      .picture {
        display: grid;
        place-items: center;
        height: 192px;
        background: var(--panel);
        border-bottom: 1px solid var(--line);
      }
      .picture img {
        display: block;
        width: 100%;
        height: 100%;
        object-fit: cover;
        min-height: 0;
      }
      .sign svg {
        width: 64px;
        height: 64px;
        color: var(--soft);
        stroke-width: 1.25;
      }
      .picture.drawing {
        background: #000000;
      }
      .picture.drawing img {
        width: 144px;
        height: 144px;
        object-fit: contain;
        image-rendering: pixelated;
      }
      .words {
        display: grid;
        gap: 8px;
        align-content: start;
        padding: 16px 16px 8px;
      }
      h3 {
        font-size: var(--normal);
      }
      .open {
        color: inherit;
        text-decoration: none;
      }
      .open::after {
        content: '';
        position: absolute;
        inset: 0;
      }
      .open:focus-visible {
        outline: none;
      }
      .open:focus-visible::after {
        outline: 2px solid var(--accent);
        outline-offset: -2px;
        border-radius: var(--radius);
      }
      .marks {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        justify-content: space-between;
        gap: 0 16px;
      }
      .marks a {
        position: relative;
        z-index: 1;
        min-height: 44px;
      }
      .marks a,
      .marks span.soft {
        display: inline-flex;
        align-items: center;
        gap: 4px;
      }
      .marks svg {
        width: 16px;
        height: 16px;
      }
      .none {
        display: grid;
        gap: 8px;
        padding: 24px;
        border: 1px dashed var(--edge);
        border-radius: var(--radius);
      }
    `,
  ];
}

/** Hugging Face's names of tasks: "image-classification" is "Image classification". */
function taskName(task: string): string {
  const words = task.replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const none = html`
  <div class="none">
    <p>No model is published here yet. This command builds one and publishes it when it holds its limits:</p>
    <p><code>likewise build digits</code></p>
  </div>
`;

customElements.define('lw-gallery', Gallery);
