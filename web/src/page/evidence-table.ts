// Every measured value beside its limit, by variant and place.

import { css, html, LitElement } from 'lit';
import type { Contract } from '../shared/contract';
import type { Evidence, Measurement } from '../shared/evidence';
import { interval, judged, measured, WHAT, WHERE } from './evidence-words';
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
    const own = this.evidence.measurements.filter(m => m.variant === variant);
    const { limits, held } = judged(own);
    const places = [...new Set(own.map(({ where }) => where))];
    // Open is what this page runs; the rest is one press away.
    return html`
      <details ?open=${variant !== null && variant === this.contract.best.wasm}>
        <summary><strong>${variant ?? 'Input'}</strong> <span class="soft">${this.#about(variant)}; ${held} of ${limits} limits held</span></summary>
        <table aria-label="Measurements of ${variant ?? 'the input'}">
          <thead>
            <tr><th scope="col">Measured</th><th scope="col">Value</th><th scope="col">Limit</th><th scope="col">Held</th></tr>
          </thead>
          ${places.map(
            place => html`<tbody>
              <tr><th class="place" scope="rowgroup" colspan="4">${WHERE[place]}</th></tr>
              ${own.filter(({ where }) => where === place).map(row)}
            </tbody>`,
          )}
        </table>
      </details>
    `;
  }

  #about(variant: Measurement['variant']): string {
    if (variant === null) return 'before any variant';
    const offered = this.contract.variants.find(({ name }) => name === variant);
    if (offered === undefined) return 'measured, not offered';
    return `${offered.file}, ${format.bytes(offered.size_bytes)}`;
  }

  static override styles = [
    shared,
    css`
      details {
        border-top: 1px solid var(--line);
      }
      details:last-of-type {
        border-bottom: 1px solid var(--line);
      }
      summary {
        padding: 12px 0;
        cursor: pointer;
      }
      table {
        width: 100%;
        margin-bottom: 16px;
        table-layout: fixed;
        border-collapse: collapse;
        font-size: var(--small);
      }
      th,
      td {
        padding: 4px 0 4px 16px;
        text-align: right;
        vertical-align: top;
        font-weight: 400;
      }
      tbody:not(:last-child) tr:last-child > * {
        padding-bottom: 16px;
      }
      thead th {
        color: var(--soft);
      }
      thead th:nth-child(2) {
        width: 24%;
      }
      thead th:nth-child(3) {
        width: 22%;
      }
      thead th:nth-child(4) {
        width: 12%;
      }
      .place {
        border-top: 1px solid var(--line);
        padding-top: 8px;
        font-weight: 600;
      }
      .value {
        white-space: nowrap;
      }
      th:first-child {
        padding-left: 0;
        text-align: left;
      }
      .count {
        color: var(--soft);
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
        .count {
          display: block;
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
      <th scope="row">${WHAT[m.what]} <span class="count">${counted(m)}</span></th>
      <td><span class="value">${measured(m.what, m.value)}</span> <span class="value">${interval(m)}</span></td>
      <td>${limitOf(m)}</td>
      <td>${verdict(m.passed)}</td>
    </tr>
  `;
}

function limitOf({ what, rule, limit }: Measurement) {
  if (limit === null || limit === undefined) return html`<span class="soft">none</span>`;
  return html`${rule} <span class="value">${measured(what, limit)}</span>`;
}

function counted({ what, data, count }: Measurement): string {
  if (what === 'median_ms' || what === 'p95_ms' || what === 'time_vs_fp32')
    return `${format.count(count)} runs`;
  switch (data) {
    case 'files':
      return '';
    case 'golden examples':
      return `${format.count(count)} golden ${count === 1 ? 'example' : 'examples'}`;
    case 'labelled data':
      return `${format.count(count)} labelled ${count === 1 ? 'input' : 'inputs'}`;
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
