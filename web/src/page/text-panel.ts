// A text, typed or from a file. Tells the page what was given; knows nothing of models.

import { css, html, LitElement, nothing } from 'lit';
import { readBytes, toText } from '../shared/text-file';
import { FileIntake } from './file-intake';
import { type Given, NOTHING, type TakesFiles } from './given';
import { clear, document as documentIcon } from './icons';
import { buttons, panel, shared } from './styles';

export class TextPanel extends LitElement implements TakesFiles {
  static override properties = { text: { state: true }, refused: { state: true } };
  declare text: string;
  /** Why a file was not taken, or ''. */
  declare refused: string;

  readonly #intake = new FileIntake(this, (file, name) => this.take(file, name));

  constructor() {
    super();
    this.text = '';
    this.refused = '';
  }

  override render() {
    return html`
      <h2><label for="text">Text</label></h2>
      <textarea
        id="text"
        rows="6"
        class=${this.#intake.over ? 'over' : ''}
        placeholder="Type or paste a text"
        aria-describedby="counted"
        .value=${this.text}
        @input=${(event: Event) => this.#set((event.target as HTMLTextAreaElement).value, '')}
      ></textarea>
      <p id="counted" class="small soft">${this.#counted()}</p>
      ${this.refused ? html`<p class="small refused" role="alert">${this.refused}</p>` : nothing}
      <div class="row">
        <button ?disabled=${this.text === ''} @click=${() => this.#set('', '')}>${clear}Clear</button>
        <button @click=${this.#intake.choose}>${documentIcon}Text from a file</button>
        ${this.#intake.input('File with a text', '.txt,.md,text/*')}
      </div>
    `;
  }

  take(blob: Blob, name: string, sample = ''): void {
    void readBytes(blob)
      .then(bytes => this.#set(toText(bytes), sample))
      .catch((error: unknown) => {
        this.refused = `${name}: ${error instanceof Error ? error.message : String(error)}`;
      });
  }

  #counted(): string {
    const { length } = [...this.text];
    if (length === 0) return 'It stays on this device.';
    return `${length.toLocaleString('en-GB')} ${length === 1 ? 'character' : 'characters'}. It stays on this device.`;
  }

  #set(text: string, sample: string): void {
    this.text = text;
    this.refused = '';
    const detail: Given = text.trim() === '' ? NOTHING : { kind: 'text', text, sample };
    this.dispatchEvent(new CustomEvent<Given>('given', { detail }));
  }

  static override styles = [
    shared,
    buttons,
    panel,
    css`
      textarea {
        width: 100%;
        min-height: 144px;
        padding: 12px;
        border: 1px solid var(--edge);
        border-radius: var(--radius);
        background: var(--ground);
        color: var(--ink);
        font: inherit;
        resize: vertical;
        transition: border-color var(--motion);
      }
      textarea::placeholder {
        color: var(--soft);
        opacity: 1;
      }
      textarea:hover,
      .over {
        border-color: var(--accent);
      }
      .over {
        box-shadow: 0 0 0 1px var(--accent);
      }
      #counted {
        margin-top: -8px;
      }
      .refused {
        overflow-wrap: anywhere;
      }
    `,
  ];
}

customElements.define('lw-text-panel', TextPanel);
