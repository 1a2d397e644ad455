// A refusal as people see it: what, why, what now, and the code for whoever looks it up.

import { css, html, LitElement } from 'lit';
import { stop } from './icons';
import type { Refusal } from './refusal';
import { shared } from './styles';

export class RefusalNote extends LitElement {
  static override properties = { refusal: { attribute: false } };
  declare refusal: Refusal;

  override render() {
    const { what, why, now, code } = this.refusal;
    return html`
      <div role="alert">
        <p class="what">${stop}<strong>${what}</strong></p>
        <p class="small">${why}</p>
        <p class="small">${now}</p>
        <p class="small soft">Code: <code>${code}</code></p>
        <div><slot></slot></div>
      </div>
    `;
  }

  static override styles = [
    shared,
    css`
      :host {
        padding: 16px;
        border: 1px solid var(--ink);
        border-left-width: 8px;
        border-radius: var(--radius);
        background: var(--ground);
      }
      [role] {
        display: grid;
        gap: 8px;
      }
      [role] > div {
        margin-top: -8px;
      }
      p {
        overflow-wrap: anywhere;
      }
      .what {
        display: flex;
        gap: 8px;
      }
      .what svg {
        flex: none;
        margin-top: 2px;
      }
      ::slotted(*) {
        margin-top: 16px;
      }
    `,
  ];
}

customElements.define('lw-refusal-note', RefusalNote);
