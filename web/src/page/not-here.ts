// A kind of input that this page cannot read yet: what is missing, and what works all the same.

import { css, html, LitElement } from 'lit';
import type { IndexEntry } from '../shared/index-file';
import { KINDS } from './kinds';
import { evidenceHref } from './route';
import { shared } from './styles';

export class NotHere extends LitElement {
  static override properties = {
    name: { type: String },
    entry: { attribute: false },
    site: { attribute: false },
  };
  declare name: string;
  declare entry: IndexEntry;
  declare site: URL;

  override render() {
    const { name, entry, site } = this;
    const address = new URL(`v2/models/${name}/versions/${entry.version}/infer`, site);
    return html`
      <div class="sign">${KINDS[entry.kind].icon}</div>
      <div class="words">
        <h2>This page cannot read ${entry.kind} yet</h2>
        <p>So there is nothing to try here, and the model was not downloaded. What works today:</p>
        <ul>
          <li><a href=${evidenceHref(name)}>Its evidence</a>: its golden examples were answered by the browser's runtime
            before it was published, as tensors that had been decoded beforehand.</li>
          <li>The server, by the Open Inference Protocol v2: <code>POST ${address.pathname}</code></li>
        </ul>
      </div>
    `;
  }

  static override styles = [
    shared,
    css`
      :host {
        display: grid;
        gap: 16px 24px;
        max-width: 720px;
        padding: 24px;
        border: 1px dashed var(--edge);
        border-radius: var(--radius);
      }
      .sign svg {
        width: 48px;
        height: 48px;
        color: var(--soft);
        stroke-width: 1.5;
      }
      .words,
      ul {
        display: grid;
        gap: 8px;
        min-width: 0;
      }
      ul {
        padding-left: 24px;
        list-style: disc;
      }
      @media (min-width: 640px) {
        :host {
          grid-template-columns: auto minmax(0, 1fr);
        }
      }
    `,
  ];
}

customElements.define('lw-not-here', NotHere);
