// Any file by choice, drop or paste. Tells the page what was given; knows nothing of models.

import { css, html, LitElement, nothing } from 'lit';
import { FileIntake } from './file-intake';
import * as format from './format';
import { type Given, NOTHING, type TakesFiles } from './given';
import { clear, document as documentIcon } from './icons';
import './sound-view';
import { buttons, panel, shared } from './styles';

interface Chosen {
  readonly blob: Blob;
  readonly name: string;
}

export class FilePanel extends LitElement implements TakesFiles {
  static override properties = {
    what: { type: String },
    accepted: { type: String },
    sound: { type: Boolean },
    chosen: { state: true },
  };
  /** What kinds of file, in a few words. */
  declare what: string;
  /** As the file chooser takes it; '' for any. */
  declare accepted: string;
  /** The file is a sound, to be listened to. */
  declare sound: boolean;
  declare chosen: Chosen | null;

  readonly #intake = new FileIntake(this, (file, name) => this.take(file, name));

  constructor() {
    super();
    this.what = '';
    this.accepted = '';
    this.sound = false;
    this.chosen = null;
  }

  override render() {
    const { chosen } = this;
    return html`
      <h2>${this.sound ? 'Sound' : 'File'}</h2>
      <div class="well ${this.#intake.over ? 'over' : ''} ${chosen ? 'filled' : ''}" @click=${this.#intake.choose}>
        ${
          chosen
            ? html`<p class="name">${chosen.name}</p><p class="small soft">${format.bytes(chosen.blob.size)}</p>`
            : html`<p>Choose or drop a file</p><p class="small soft">${this.what} It stays on this device.</p>`
        }
      </div>
      ${this.sound && chosen ? html`<lw-sound-view .sound=${chosen.blob} .name=${chosen.name}></lw-sound-view>` : nothing}
      <div class="row">
        <button ?disabled=${chosen === null} @click=${this.#clear}>${clear}Clear</button>
        <button aria-label="Choose a file" @click=${this.#intake.choose}>${documentIcon}File</button>
        ${this.#intake.input(this.sound ? 'Sound file' : 'File', this.accepted)}
      </div>
    `;
  }

  take(blob: Blob, name: string, sample = ''): void {
    this.chosen = { blob, name };
    this.#give({ kind: 'file', blob, sample });
  }

  #give(detail: Given): void {
    this.dispatchEvent(new CustomEvent<Given>('given', { detail }));
  }

  #clear(): void {
    this.chosen = null;
    this.#give(NOTHING);
  }

  static override styles = [
    shared,
    buttons,
    panel,
    css`
      .well {
        display: grid;
        place-content: center;
        gap: 8px;
        min-height: 192px;
        padding: 16px;
        border: 1px dashed var(--edge);
        border-radius: var(--radius);
        background: var(--panel);
        text-align: center;
        cursor: pointer;
        transition: border-color var(--motion);
      }
      .well.filled {
        border-style: solid;
      }
      .well.over,
      .well:hover {
        border-color: var(--accent);
      }
      .well.over {
        box-shadow: 0 0 0 1px var(--accent);
      }
      .name {
        overflow-wrap: anywhere;
        font-weight: 600;
      }
      @media (max-width: 831px) {
        .well {
          min-height: 128px;
        }
      }
    `,
  ];
}

customElements.define('lw-file-panel', FilePanel);

declare global {
  interface HTMLElementTagNameMap {
    'lw-file-panel': FilePanel;
  }
}
