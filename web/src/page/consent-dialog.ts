// Asks, before an input leaves the device for the first time, in numbers and plain words.

import { css, html, LitElement } from 'lit';
import type { TensorData } from '../runtime';
import * as format from './format';
import { buttons, shared } from './styles';

export interface Leaving {
  readonly tensors: readonly TensorData[];
  readonly host: string;
  readonly model: string;
}

export class ConsentDialog extends LitElement {
  static override properties = { leaving: { state: true } };
  declare leaving: Leaving | null;

  constructor() {
    super();
    this.leaving = null;
  }

  /** True when the visitor allows it; false when declined or closed. */
  async ask(leaving: Leaving): Promise<boolean> {
    this.leaving = leaving;
    await this.updateComplete;
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog === null) return false;
    dialog.returnValue = '';
    dialog.showModal();
    await new Promise(closed => dialog.addEventListener('close', closed, { once: true }));
    return dialog.returnValue === 'allow';
  }

  override render() {
    const { leaving } = this;
    return html`
      <dialog aria-labelledby="title" aria-describedby="what">
        <form method="dialog">
          <h2 id="title">Send this input to the server?</h2>
          <div id="what">
            <p>Nothing leaves this device unless you allow it.</p>
            <dl>
              <dt>What leaves</dt>
              <dd>${leaving === null ? '' : this.#what(leaving)}</dd>
              <dt>Where to</dt>
              <dd>this site's own server, ${leaving?.host}</dd>
              <dt>When</dt>
              <dd>each time you press “Ask the server too” for ${leaving?.model}, and at no other time</dd>
            </dl>
            <p class="small soft">Your choice is remembered on this device for this model. You can take it back beside the button.</p>
          </div>
          <div class="row">
            <button class="primary" value="allow">Send it</button>
            <button value="decline" autofocus>Keep it here</button>
          </div>
        </form>
      </dialog>
    `;
  }

  #what({ tensors }: Leaving): string {
    const bytes = format.bytes(tensors.reduce((sum, { data }) => sum + data.byteLength, 0));
    const [only, ...more] = tensors;
    if (only === undefined || more.length > 0) {
      const names = tensors.map(({ name }) => name).join(', ');
      return `${tensors.length} input tensors as the model saw them: ${names}; ${bytes} in all. No file, no file name.`;
    }
    const size = only.shape.slice(1).join(' × ');
    return `the input tensor as the model saw it: ${size}, ${only.dtype}, ${bytes}. No file, no file name.`;
  }

  static override styles = [
    shared,
    buttons,
    css`
      dialog {
        width: min(480px, calc(100vw - 32px));
        padding: 24px;
        border: 1px solid var(--edge);
        border-radius: var(--radius);
        background: var(--ground);
        color: var(--ink);
        box-shadow: 0 8px 32px rgb(0 0 0 / 24%);
      }
      dialog::backdrop {
        background: rgb(0 0 0 / 48%);
      }
      form,
      #what {
        display: grid;
        gap: 16px;
      }
      dl {
        display: grid;
        grid-template-columns: max-content 1fr;
        gap: 8px 16px;
      }
      dt {
        color: var(--soft);
      }
      dd {
        overflow-wrap: anywhere;
      }
    `,
  ];
}

customElements.define('lw-consent-dialog', ConsentDialog);

declare global {
  interface HTMLElementTagNameMap {
    'lw-consent-dialog': ConsentDialog;
  }
}
