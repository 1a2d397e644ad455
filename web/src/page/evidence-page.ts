// The evidence of a model's current version, without loading the model.

import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import type { Evidence } from '../shared/evidence';
import type { Catalogue, Published } from './catalogue';
import './evidence-glance';
import './evidence-table';
import { judged } from './evidence-words';
import { type Refusal, refusalOf } from './refusal';
import './refusal-note';
import { modelHref } from './route';
import { buttons, shared } from './styles';
import './version-facts';

type State =
  | { readonly kind: 'loading' }
  | { readonly kind: 'shown'; readonly published: Published; readonly evidence: Evidence }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export class EvidencePage extends LitElement {
  static override properties = {
    name: { type: String },
    catalogue: { attribute: false },
    state: { state: true },
  };
  declare name: string;
  declare catalogue: Catalogue;
  declare state: State;

  #abort = new AbortController();

  constructor() {
    super();
    this.name = '';
    this.state = { kind: 'loading' };
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('name')) void this.#open();
  }

  override render() {
    const { state } = this;
    return html`
      <nav aria-label="Where you are"><a href=${modelHref(this.name)}>Back to the model</a></nav>
      ${state.kind === 'loading' ? html`<p class="soft">Reading the evidence</p>` : nothing}
      ${
        state.kind === 'refused'
          ? html`<h1>Evidence of ${this.name}</h1>
            <lw-refusal-note .refusal=${state.refusal}><button @click=${this.#open}>Try again</button></lw-refusal-note>`
          : nothing
      }
      ${state.kind === 'shown' ? this.#shown(state.published, state.evidence) : nothing}
    `;
  }

  #shown({ contract, versionUrl }: Published, evidence: Evidence) {
    const { limits, held } = judged(evidence.measurements);
    const environment = Object.entries(evidence.environment).map(([tool, version]) => `${tool} ${version}`);
    return html`
      <header>
        <h1>Evidence: ${contract.title}</h1>
        <p>Version ${contract.version}, measured before it was published. ${held} of ${limits} limits held.</p>
        <p class="small soft">
          The judge: ${evidence.judge}. ${environment.length > 0 ? `Measured with ${environment.join(', ')}.` : ''}
          ${contract.examples.length} golden examples ship with the version; every runtime has to answer them alike.
        </p>
      </header>
      <lw-evidence-glance .evidence=${evidence} .contract=${contract}></lw-evidence-glance>
      <section aria-labelledby="all">
        <h2 id="all">Every measurement</h2>
        <lw-evidence-table .evidence=${evidence} .contract=${contract}></lw-evidence-table>
      </section>
      ${
        evidence.notes.length > 0
          ? html`<section aria-labelledby="notes">
            <h2 id="notes">Notes</h2>
            <ul class="small notes">${evidence.notes.map(note => html`<li>${note}</li>`)}</ul>
          </section>`
          : nothing
      }
      <lw-version-facts .contract=${contract} .base=${versionUrl}></lw-version-facts>
    `;
  }

  #open = async (): Promise<void> => {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.state = { kind: 'loading' };
    try {
      const entry = await this.catalogue.entry(this.name, signal);
      document.title = `Evidence: ${entry.title} | Likewise`;
      const published = await this.catalogue.published(this.name, entry, signal);
      const evidence = await this.catalogue.evidence(published, signal);
      this.state = { kind: 'shown', published, evidence };
    } catch (error) {
      if (!signal.aborted) this.state = { kind: 'refused', refusal: refusalOf(error) };
    }
  };

  static override styles = [
    shared,
    buttons,
    css`
      :host {
        display: grid;
        gap: 32px;
        max-width: 800px;
        grid-template-columns: minmax(0, 1fr);
      }
      header,
      section {
        display: grid;
        gap: 8px;
        grid-template-columns: minmax(0, 1fr);
      }
      nav a {
        display: inline-flex;
        align-items: center;
        min-height: 44px;
      }
      nav {
        margin-bottom: -24px;
      }
      .notes {
        display: grid;
        gap: 8px;
        margin-top: 8px;
      }
    `,
  ];
}

customElements.define('lw-evidence-page', EvidencePage);
