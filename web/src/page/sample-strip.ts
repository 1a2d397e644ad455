// Samples that ship with the version: one press each.

import { css, html, LitElement } from 'lit';
import type { Example } from '../shared/contract';
import { shared } from './styles';

export class SampleStrip extends LitElement {
  static override properties = {
    samples: { attribute: false },
    base: { attribute: false },
    chosen: { type: String },
  };
  declare samples: readonly Example[];
  declare base: URL | null;
  declare chosen: string;

  constructor() {
    super();
    this.samples = [];
    this.base = null;
    this.chosen = '';
  }

  override render() {
    const { base } = this;
    if (base === null || this.samples.length === 0) return html``;
    return html`
      <h2 id="samples">Samples</h2>
      <ul aria-labelledby="samples">
        ${this.samples.map(
          sample => html`
            <li>
              <button
                class=${isPicture(sample) ? 'picture' : ''}
                aria-label=${sample.title}
                aria-pressed=${sample.id === this.chosen ? 'true' : 'false'}
                title=${sample.title}
                @click=${() => this.#choose(sample)}
              >
                ${
                  isPicture(sample)
                    ? html`<img src=${new URL(sample.input.file, base).href} alt="" width="46" height="46" loading="lazy" decoding="async" />`
                    : sample.title
                }
              </button>
            </li>
          `,
        )}
      </ul>
    `;
  }

  #choose(sample: Example): void {
    this.dispatchEvent(new CustomEvent<Example>('sample', { detail: sample }));
  }

  static override styles = [
    shared,
    css`
      :host {
        display: grid;
        gap: 8px;
      }
      h2 {
        color: var(--soft);
        font-size: var(--small);
      }
      ul {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
      }
      button {
        display: block;
        min-height: 48px;
        padding: 8px 16px;
        border: 1px solid var(--edge);
        border-radius: var(--radius);
        background: var(--panel);
        color: var(--ink);
        font: inherit;
        text-align: start;
        overflow-wrap: anywhere;
        cursor: pointer;
      }
      .picture {
        width: 48px;
        height: 48px;
        padding: 0;
        overflow: hidden;
      }
      button:hover,
      button[aria-pressed='true'] {
        border-color: var(--accent);
        box-shadow: 0 0 0 1px var(--accent);
      }
      :focus-visible {
        border-radius: var(--radius);
      }
      img {
        display: block;
        width: 100%;
        height: 100%;
        object-fit: cover;
      }
    `,
  ];
}

function isPicture({ media_type }: Example): boolean {
  return media_type.startsWith('image/');
}

customElements.define('lw-sample-strip', SampleStrip);
