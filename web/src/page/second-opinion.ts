// "Ask the server too": after consent the same input tensors go to the server, and both answers
// are compared.

import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import type { Model, Prediction } from '../runtime';
import './consent-dialog';
import { allowServer, mayAskServer, revokeServer } from './consent';
import * as format from './format';
import { checked, missed } from './icons';
import { askServer, type Comparison, compare, NoSecondOpinion } from './infer';
import { buttons, shared } from './styles';

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'compared'; readonly comparison: Comparison; readonly roundTripMs: number }
  | { readonly kind: 'none'; readonly code: string; readonly why: string };

const IDLE: State = { kind: 'idle' };

export class SecondOpinion extends LitElement {
  static override properties = {
    model: { attribute: false },
    prediction: { attribute: false },
    site: { attribute: false },
    state: { state: true },
    allowed: { state: true },
  };
  declare model: Model | null;
  declare prediction: Prediction | null;
  declare site: URL | null;
  declare state: State;
  declare allowed: boolean;

  #abort = new AbortController();

  constructor() {
    super();
    this.model = null;
    this.prediction = null;
    this.site = null;
    this.state = IDLE;
    this.allowed = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#abort.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('model') && this.model) this.allowed = mayAskServer(this.model.contract.name);
    // An opinion is about one input: with the next answer it is out of date.
    if (changed.has('prediction')) {
      this.#abort.abort();
      this.#abort = new AbortController();
      this.state = IDLE;
    }
  }

  override render() {
    const ready = this.prediction !== null && this.state.kind !== 'asking';
    return html`
      <div class="row">
        <button ?disabled=${!ready} @click=${this.#ask}>Ask the server too</button>
        ${
          this.allowed
            ? html`<button class="plain" @click=${this.#revoke}>Take back permission</button>`
            : html`<span class="small soft">Sends nothing before you agree.</span>`
        }
      </div>
      <div role="status">${this.#said()}</div>
      <lw-consent-dialog></lw-consent-dialog>
    `;
  }

  #said() {
    const { state } = this;
    switch (state.kind) {
      case 'idle':
        return nothing;
      case 'asking':
        return html`<p class="soft">Asking the server</p>`;
      case 'compared':
        return this.#compared(state.comparison, state.roundTripMs);
      case 'none':
        return html`<p class="opinion">${missed}<span><strong>No second opinion.</strong> ${state.why}
          <span class="small soft">The answer above is this device's own. Code: <code>${state.code}</code></span></span></p>`;
      default:
        return state satisfies never;
    }
  }

  #compared({ same, words, largest }: Comparison, roundTripMs: number) {
    const what = this.model?.contract.decision.kind === 'scores' ? 'a probability' : 'a value';
    return html`
      <p class="opinion ${same ? 'same' : ''}">
        ${same ? checked : missed}
        <span>
          <strong>${words}</strong>
          <span class="small soft">Largest difference of ${what}: ${format.difference(largest)}. Answered in ${format.duration(roundTripMs)}, way there and back included.</span>
        </span>
      </p>
    `;
  }

  async #ask(): Promise<void> {
    const { model, prediction, site } = this;
    if (model === null || prediction === null || site === null) return;
    if (!this.allowed && !(await this.#consent(model, prediction, site))) return;
    if (prediction !== this.prediction) return;
    this.state = { kind: 'asking' };
    const { signal } = this.#abort;
    const state = await opinion(site, model, prediction, signal);
    if (!signal.aborted) this.state = state;
  }

  async #consent({ contract }: Model, { tensors }: Prediction, site: URL): Promise<boolean> {
    const dialog = this.renderRoot.querySelector('lw-consent-dialog');
    const allowed = await dialog?.ask({ tensors, host: site.host, model: contract.title });
    if (allowed !== true) return false;
    allowServer(contract.name);
    this.allowed = true;
    return true;
  }

  #revoke(): void {
    if (this.model === null) return;
    revokeServer(this.model.contract.name);
    this.allowed = false;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.state = IDLE;
  }

  static override styles = [
    shared,
    buttons,
    css`
      :host {
        display: grid;
        gap: 16px;
      }
      .row {
        column-gap: 16px;
      }
      [role='status']:empty {
        display: none;
      }
      .opinion {
        display: flex;
        gap: 8px;
        overflow-wrap: anywhere;
      }
      .opinion > svg {
        flex: none;
        margin-top: 2px;
      }
      .same > svg,
      .same strong {
        color: var(--accent);
      }
      .opinion .small {
        display: block;
      }
    `,
  ];
}

async function opinion(site: URL, model: Model, prediction: Prediction, signal: AbortSignal): Promise<State> {
  try {
    const { contract } = model;
    const answer = await askServer(site, contract, prediction.ran.variant, prediction.tensors, signal);
    const comparison = compare(contract, prediction, answer);
    return { kind: 'compared', comparison, roundTripMs: answer.roundTripMs };
  } catch (error) {
    if (error instanceof NoSecondOpinion) return { kind: 'none', code: error.code, why: error.message };
    return { kind: 'none', code: 'failed', why: error instanceof Error ? error.message : String(error) };
  }
}

customElements.define('lw-second-opinion', SecondOpinion);
