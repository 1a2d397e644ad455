// The input: a pad to draw on where the model reads drawings, and pictures by file, drop or paste for
// every model. Tells the page what was given; knows nothing of models.

import { css, html, LitElement, nothing } from 'lit';
import './drawing-pad';
import { FileIntake } from './file-intake';
import * as format from './format';
import { type Given, NOTHING, type TakesFiles } from './given';
import { clear, picture as pictureIcon, undo } from './icons';
import './picture-view';
import { DARK_ON_LIGHT, LIGHT_ON_DARK } from './strokes';
import { buttons, panel, shared } from './styles';

interface Chosen {
  readonly blob: Blob;
  readonly name: string;
}

const ACCEPTED = 'image/jpeg,image/png,image/webp';

export class InputPanel extends LitElement implements TakesFiles {
  static override properties = {
    kind: { type: String },
    ink: { type: String },
    chosen: { state: true },
    measured: { state: true },
    strokes: { state: true },
  };
  declare kind: 'drawing' | 'image';
  declare ink: 'light-on-dark' | 'dark-on-light' | 'auto';
  declare chosen: Chosen | null;
  declare measured: string;
  declare strokes: number;

  readonly #intake = new FileIntake(this, (file, name) => this.take(file, name));

  constructor() {
    super();
    this.kind = 'drawing';
    this.ink = 'auto';
    this.chosen = null;
    this.measured = '';
    this.strokes = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.#keys);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('keydown', this.#keys);
  }

  override render() {
    const drawing = this.kind === 'drawing';
    const empty = this.chosen === null && this.strokes === 0;
    return html`
      <h2>${drawing ? 'Draw' : 'Picture'}</h2>
      <div class="well ${this.#intake.over ? 'over' : ''} ${this.chosen ? 'filled' : ''} ${drawing ? 'square' : ''}">
        ${
          drawing
            ? html`<lw-drawing-pad
              ?hidden=${this.chosen !== null}
              .inks=${this.ink === 'light-on-dark' ? LIGHT_ON_DARK : DARK_ON_LIGHT}
              @ink=${this.#drawn}
            ></lw-drawing-pad>`
            : nothing
        }
        ${
          this.chosen
            ? html`<lw-picture-view
              .picture=${this.chosen.blob}
              .name=${this.chosen.name}
              @measured=${(event: CustomEvent<string>) => {
                this.measured = event.detail;
              }}
            ></lw-picture-view>`
            : drawing
              ? nothing
              : html`<div class="invitation" @click=${this.#intake.choose}>
                <p>Choose, drop or paste a picture</p>
                <p class="small soft">JPEG, PNG or WebP. It stays on this device.</p>
              </div>`
        }
      </div>
      <p class="caption small soft" ?hidden=${!this.chosen}>${this.#caption()}</p>
      <div class="row">
        <button ?disabled=${empty} @click=${this.#clear}>${clear}Clear</button>
        ${
          drawing
            ? html`<button ?disabled=${this.strokes === 0 || this.chosen !== null} @click=${this.#undo}>${undo}Undo</button>`
            : nothing
        }
        <button aria-label="Choose a picture" @click=${this.#intake.choose}>${pictureIcon}Picture</button>
        ${this.#intake.input('Picture file', ACCEPTED)}
      </div>
    `;
  }

  get #pad() {
    return this.renderRoot.querySelector('lw-drawing-pad');
  }

  #caption(): string {
    if (this.chosen === null) return '';
    const { name, blob } = this.chosen;
    return [name, this.measured, format.bytes(blob.size)].filter(Boolean).join(', ');
  }

  #give(given: Given): void {
    this.dispatchEvent(new CustomEvent<Given>('given', { detail: given }));
  }

  #drawn(): void {
    const pad = this.#pad;
    if (pad === null || this.chosen !== null) return;
    this.strokes = pad.strokeCount;
    this.#give(pad.empty ? NOTHING : { kind: 'drawing', pixels: () => pad.pixels() });
  }

  take(blob: Blob, name: string, sample = ''): void {
    this.measured = '';
    this.chosen = { blob, name };
    this.#pad?.clear();
    this.strokes = 0;
    this.#give({ kind: 'file', blob, sample });
  }

  #clear(): void {
    this.chosen = null;
    this.#pad?.clear();
    this.strokes = 0;
    this.#give(NOTHING);
  }

  #undo(): void {
    this.#pad?.undo();
  }

  #keys = (event: KeyboardEvent): void => {
    if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || event.shiftKey) return;
    if (this.strokes === 0 || this.chosen !== null) return;
    event.preventDefault();
    this.#undo();
  };

  static override styles = [
    shared,
    buttons,
    panel,
    css`
      .well {
        display: grid;
        overflow: hidden;
        border: 1px solid var(--edge);
        border-radius: var(--radius);
        background: var(--panel);
        aspect-ratio: 4 / 3;
        transition: border-color var(--motion);
      }
      .well.square {
        aspect-ratio: 1;
      }
      @media (max-width: 831px) {
        .well.square {
          width: min(100%, 46dvh);
          min-width: 256px;
        }
      }
      @media (max-width: 359px) {
        .row svg {
          display: none;
        }
      }
      .well:not(.square):not(.filled) {
        border-style: dashed;
      }
      .well.over {
        border-color: var(--accent);
        box-shadow: 0 0 0 1px var(--accent);
      }
      .well > * {
        grid-area: 1 / 1;
        min-width: 0;
        min-height: 0;
      }
      .invitation {
        display: grid;
        place-content: center;
        padding: 16px;
        text-align: center;
        cursor: pointer;
      }
      .caption {
        overflow-wrap: anywhere;
        margin-top: -8px;
      }
    `,
  ];
}

customElements.define('lw-input-panel', InputPanel);

declare global {
  interface HTMLElementTagNameMap {
    'lw-input-panel': InputPanel;
  }
}
