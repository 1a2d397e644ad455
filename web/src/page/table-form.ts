// A row of a table, made of the contract's columns: a field each, with its range and its unit. Gives a row to the
// page whenever every field is fine.

import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import type { Column, TableInput } from '../shared/contract';
import { readRow } from '../shared/row';
import { FileIntake } from './file-intake';
import type { Given, TakesFiles } from './given';
import { clear, document as documentIcon } from './icons';
import {
  emptyTexts,
  type Field,
  fieldOf,
  filled,
  mayBeMissing,
  rangeOf,
  type Texts,
  toTexts,
} from './row-form';
import { buttons, panel, shared } from './styles';

const ACCEPTED = '.csv,.json,text/csv,application/json';

export class TableForm extends LitElement implements TakesFiles {
  static override properties = {
    spec: { attribute: false },
    texts: { state: true },
    refused: { state: true },
  };
  declare spec: TableInput | null;
  declare texts: Texts;
  /** Why a file was not taken, or ''. */
  declare refused: string;

  readonly #intake = new FileIntake(this, (file, name) => this.take(file, name));

  constructor() {
    super();
    this.spec = null;
    this.texts = new Map();
    this.refused = '';
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('spec') && this.spec !== null) this.texts = emptyTexts(this.spec);
  }

  override render() {
    const { spec } = this;
    if (spec === null) return nothing;
    return html`
      <h2>Row</h2>
      <form class=${this.#intake.over ? 'over' : ''} autocomplete="off" @submit=${prevent}>
        ${spec.columns.map((column, i) => this.#field(column, i, spec.matrix))}
      </form>
      ${this.refused ? html`<p class="small refused" role="alert">${this.refused}</p>` : nothing}
      <div class="row">
        <button ?disabled=${this.texts.size === 0} @click=${this.#clear}>${clear}Clear</button>
        <button @click=${this.#intake.choose}>${documentIcon}Row from a file</button>
        ${this.#intake.input('File with a row', ACCEPTED)}
      </div>
    `;
  }

  #field(column: Column, i: number, matrix: string | null) {
    const text = this.texts.get(column.name) ?? '';
    const field = fieldOf(column, text, matrix);
    const optional = mayBeMissing(column, matrix);
    const hint = hintOf(column, field, optional);
    const set = (value: string) => this.#set(column.name, value);
    if (column.type === 'boolean' && !optional) {
      return html`<label class="field check">
        <input type="checkbox" .checked=${text === 'true'} @change=${(event: Event) => set(String((event.target as HTMLInputElement).checked))} />
        <span>${column.title}</span>
      </label>`;
    }
    return html`<div class="field ${field.kind}">
      <label for="field-${i}">${column.title}${column.unit ? html`<span class="soft">, ${column.unit}</span>` : nothing}</label>
      ${isChoice(column) ? choice(column, i, text, field, optional, set) : number(column, i, text, field, set)}
      <p id="hint-${i}" class="hint small">${hint}</p>
    </div>`;
  }

  #set(name: string, text: string): void {
    this.texts = new Map([...this.texts, [name, text]]);
    this.#give('');
  }

  #give(sample: string): void {
    const { spec } = this;
    if (spec === null) return;
    const form = filled(spec, this.texts);
    const detail: Given =
      form.kind === 'row' ? { kind: 'row', row: form.row, sample } : { kind: 'nothing', why: form.why };
    this.dispatchEvent(new CustomEvent<Given>('given', { detail }));
  }

  take(blob: Blob, name: string, sample = ''): void {
    const { spec } = this;
    if (spec === null) return;
    void readRow(blob)
      .then(cells => {
        this.texts = toTexts(cells, spec);
        this.refused = '';
      })
      .catch((error: unknown) => {
        this.refused = `${name}: ${error instanceof Error ? error.message : String(error)}`;
      })
      .then(() => this.#give(this.refused === '' ? sample : ''));
  }

  #clear(): void {
    if (this.spec !== null) this.texts = emptyTexts(this.spec);
    this.refused = '';
    this.#give('');
  }

  static override styles = [
    shared,
    buttons,
    panel,
    css`
      form {
        display: grid;
        grid-template-columns: repeat(auto-fill, minmax(min(176px, 100%), 1fr));
        gap: 8px 16px;
        align-items: start;
      }
      form.over {
        outline: 2px solid var(--accent);
        outline-offset: 8px;
        border-radius: var(--radius);
      }
      .field {
        display: grid;
        min-width: 0;
      }
      label {
        overflow-wrap: anywhere;
        font-size: var(--small);
      }
      input:not([type]),
      select {
        width: 100%;
        min-height: 44px;
        padding: 0 12px;
        border: 1px solid var(--edge);
        border-radius: var(--radius);
        background: var(--ground);
        color: var(--ink);
        font: inherit;
        font-variant-numeric: tabular-nums;
        text-align: right;
        transition: border-color var(--motion);
      }
      select {
        text-align: left;
      }
      input:not([type]):hover,
      select:hover {
        border-color: var(--accent);
      }
      .check {
        display: flex;
        gap: 8px;
        align-items: center;
        align-self: center;
        min-height: 44px;
        cursor: pointer;
      }
      .check input {
        flex: none;
        width: 24px;
        height: 24px;
        margin: 0;
        accent-color: var(--accent);
      }
      .hint {
        min-height: 1.5em;
        color: var(--soft);
      }
      .wrong input,
      .outside input {
        border-color: var(--ink);
        border-left-width: 8px;
      }
      .wrong .hint,
      .outside .hint {
        color: var(--ink);
        font-weight: 600;
      }
      .refused {
        overflow-wrap: anywhere;
      }
      @media (max-width: 831px) {
        form {
          grid-template-columns: repeat(auto-fill, minmax(min(144px, 100%), 1fr));
        }
      }
    `,
  ];
}

function prevent(event: Event): void {
  event.preventDefault();
}

function isChoice({ type }: Column): boolean {
  return type === 'category' || type === 'boolean';
}

function number(column: Column, i: number, text: string, field: Field, set: (value: string) => void) {
  // No type="number": a browser gives nothing for what it does not take for a number, and nothing means missing.
  return html`<input
    id="field-${i}"
    name=${column.name}
    inputmode=${column.type === 'integer' ? 'numeric' : 'decimal'}
    spellcheck="false"
    .value=${text}
    aria-describedby="hint-${i}"
    aria-invalid=${field.kind === 'wrong' ? 'true' : 'false'}
    @input=${(event: Event) => set((event.target as HTMLInputElement).value)}
  />`;
}

function choice(
  column: Column,
  i: number,
  text: string,
  field: Field,
  optional: boolean,
  set: (value: string) => void,
) {
  const options = column.type === 'boolean' ? ['true', 'false'] : (column.categories ?? []);
  const names = column.type === 'boolean' ? ['yes', 'no'] : options;
  // By place, since an option may be the empty text.
  const chosen = field.kind === 'missing' ? -1 : options.indexOf(text);
  return html`<select
    id="field-${i}"
    name=${column.name}
    aria-describedby="hint-${i}"
    @change=${(event: Event) => set(options[(event.target as HTMLSelectElement).selectedIndex - 1] ?? '')}
  >
    <option ?disabled=${!optional} .selected=${chosen < 0}>${optional ? 'not given' : 'Choose'}</option>
    ${names.map((name, place) => html`<option .selected=${place === chosen}>${name === '' ? '(empty)' : name}</option>`)}
  </select>`;
}

function hintOf(column: Column, field: Field, optional: boolean): string {
  const range = rangeOf(column);
  switch (field.kind) {
    case 'wrong':
      return field.why;
    case 'outside':
      return `outside ${range}`;
    case 'fine':
    case 'missing':
      return [range, optional ? 'may be left empty' : ''].filter(Boolean).join('; ');
    default:
      return field satisfies never;
  }
}

customElements.define('lw-table-form', TableForm);

declare global {
  interface HTMLElementTagNameMap {
    'lw-table-form': TableForm;
  }
}
