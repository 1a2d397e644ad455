// How it ran: asked, got and why; bytes and times; whether it works without a network.

import { css, html, LitElement, type TemplateResult } from 'lit';
import type { Kept, Model, Ran } from '../runtime';
import * as format from './format';
import { type Shell, shellWhy } from './shell';
import { shared } from './styles';

const BACKENDS: Readonly<Record<Ran['backend'], string>> = {
  wasm: 'wasm, on the processor',
  webgpu: 'webgpu, on the graphics processor',
};

export class StatusPanel extends LitElement {
  static override properties = {
    model: { attribute: false },
    kept: { attribute: false },
    firstMs: { attribute: false },
    times: { attribute: false },
    shell: { attribute: false },
  };
  declare model: Model | null;
  /** Null while the model is being stored. */
  declare kept: Kept | null;
  declare firstMs: number | null;
  declare times: readonly number[];
  declare shell: Shell;

  constructor() {
    super();
    this.model = null;
    this.kept = null;
    this.firstMs = null;
    this.times = [];
    this.shell = 'storing';
  }

  override render() {
    const { model } = this;
    if (model === null) return html``;
    const { ran, report } = model;
    return html`
      <h2>On this device</h2>
      <dl>
        ${row('Backend', `${BACKENDS[ran.backend]} ${asked(ran.asked.backend)}`)}
        ${row('Threads', `${ran.threads} ${asked(ran.asked.threads)}`)}
        ${row('Variant', `${ran.variant} ${asked(ran.asked.variant)}`)}
        ${row('Why these', ran.why)}
        ${row('Model', this.#download())}
        ${row('Loading', `${format.duration(report.loadMs)}, of it fetching ${format.duration(report.downloadMs)} and preparing ${format.duration(report.compileMs)}`)}
        ${row('First answer', this.firstMs === null ? 'none yet' : format.duration(this.firstMs))}
        ${row('Usual answer', this.#usual())}
        ${row('Works offline', this.#offline())}
        ${row('Isolated', crossOriginIsolated ? 'yes, so threads can be used' : 'no, so one thread only')}
      </dl>
    `;
  }

  #download(): string {
    const { report } = this.model ?? {};
    if (report === undefined) return '';
    const size = format.bytes(report.modelBytes);
    if (report.fromStore) return `${size}, from this device's store`;
    return `${size}, ${format.bytes(report.downloadedBytes)} downloaded, every byte checked`;
  }

  #offline(): string {
    if (this.kept === null) return 'not yet: the model is being stored';
    const no = [this.kept.why, shellWhy(this.shell)].filter(Boolean);
    return no.length === 0 ? 'yes' : `no: ${no.join('; ')}`;
  }

  #usual(): string {
    const { times } = this;
    if (times.length === 0) return 'none yet';
    return `${format.duration(format.median(times))}, median of ${times.length}`;
  }

  static override styles = [
    shared,
    css`
      :host {
        display: grid;
        gap: 8px;
      }
      dl {
        display: grid;
        grid-template-columns: max-content 1fr;
        font-size: var(--small);
      }
      dl > div {
        display: grid;
        grid-column: 1 / -1;
        grid-template-columns: subgrid;
        gap: 16px;
        padding: 8px 0;
        border-top: 1px solid var(--line);
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

function row(term: string, value: string): TemplateResult {
  return html`<div><dt>${term}</dt><dd>${value}</dd></div>`;
}

function asked(value: string | number | null): string {
  return value === null ? '(automatic)' : `(asked for ${value})`;
}

customElements.define('lw-status-panel', StatusPanel);
