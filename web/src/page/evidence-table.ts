// Every measured value beside its limit, grouped by variant.

import { css, html, LitElement } from 'lit';
import type { Contract } from '../shared/contract';
import type { Evidence, Measurement } from '../shared/evidence';
import { measured, WHAT, WHERE } from './evidence-words';
import * as format from './format';
import { checked, missed } from './icons';
import { shared } from './styles';

export class EvidenceTable extends LitElement {
  static override properties = { evidence: { attribute: false }, contract: { attribute: false } };
  declare evidence: Evidence;
  declare contract: Contract;

  override render() {
    const variants = [...new Set(this.evidence.measurements.map(({ variant }) => variant))];
    variants.sort((a, b) => Number(a !== null) - Number(b !== null));
    return variants.map(variant => this.#group(variant));
  }

  #group(variant: Measurement['variant']) {
    const rows = this.evidence.measurements.filter(m => m.variant === variant);
    return html`
      <table>
        <caption>${this.#title(variant)}</caption>
        <thead>
          <tr><th scope="col">Measured</th><th scope="col">Value</th><th scope="col">Limit</th><th scope="col">Held</th></tr>
        </thead>
        <tbody>${rows.map(row)}</tbody>
      </table>
    `;
  }

  #title(variant: Measurement['variant']) {
    if (variant === null) return html`Input <span class="soft">before any variant</span>`;
    const offered = this.contract.variants.find(({ name }) => name === variant);
    if (offered === undefined) return html`${variant} <span class="soft">measured, not offered</span>`;
    return html`${variant} <span class="soft">${offered.file}, ${format.bytes(offered.size_bytes)}</span>`;
  }

  static override styles = [
    shared,
    css`
      :host {
        display: grid;
        gap: 32px;
      }
      table {
        width: 100%;
        table-layout: fixed;
        border-collapse: collapse;
        font-size: var(--small);
      }
      caption {
        padding-bottom: 8px;
        text-align: left;
        font-size: var(--normal);
        font-weight: 600;
      }
      caption .soft {
        font-size: var(--small);
        font-weight: 400;
      }
      th,
      td {
        padding: 8px 0 8px 16px;
        border-top: 1px solid var(--line);
        text-align: right;
        vertical-align: top;
        font-weight: 400;
      }
      thead th {
        border-top: 0;
        color: var(--soft);
      }
      th:first-child {
        padding-left: 0;
        text-align: left;
      }
      td .value,
      td.value {
        white-space: nowrap;
      }
      th span {
        display: block;
        color: var(--soft);
      }
      thead th:nth-child(2) {
        width: 18%;
      }
      thead th:nth-child(3) {
        width: 25%;
      }
      thead th:nth-child(4) {
        width: 12%;
      }
      .verdict {
        display: inline-flex;
        gap: 4px;
        align-items: center;
      }
      .verdict svg {
        width: 16px;
        height: 16px;
      }
      .missed {
        font-weight: 600;
      }
      @media (max-width: 480px) {
        th,
        td {
          padding-left: 8px;
        }
        thead th:nth-child(2) {
          width: 24%;
        }
        thead th:nth-child(3) {
          width: 27%;
        }
        thead th:nth-child(4) {
          width: 13%;
        }
        .verdict span {
          position: absolute;
          clip-path: inset(50%);
        }
      }
    `,
  ];
}

function row(m: Measurement) {
  return html`
    <tr>
      <th scope="row">${WHAT[m.what]}<span>${WHERE[m.where]}${counted(m)}</span></th>
      <td class="value">${measured(m.what, m.value)}</td>
      <td>${limitOf(m)}</td>
      <td>${verdict(m.passed)}</td>
    </tr>
  `;
}

function limitOf({ what, rule, limit }: Measurement) {
  if (limit === null || limit === undefined) return html`<span class="soft">none</span>`;
  return html`${rule} <span class="value">${measured(what, limit)}</span>`;
}

function counted({ data, count }: Measurement): string {
  switch (data) {
    case 'files':
      return '';
    case 'golden examples':
      return `, ${format.count(count)} golden ${count === 1 ? 'example' : 'examples'}`;
    case 'labelled data':
      return `, ${format.count(count)} labelled ${count === 1 ? 'input' : 'inputs'}`;
    default:
      return data satisfies never;
  }
}

function verdict(passed: Measurement['passed']) {
  if (passed === true) return html`<span class="verdict">${checked}<span>yes</span></span>`;
  if (passed === false) return html`<span class="verdict missed">${missed}<span>no</span></span>`;
  return html`<span class="soft">told</span>`;
}

customElements.define('lw-evidence-table', EvidenceTable);
