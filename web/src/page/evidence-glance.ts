// All variants side by side: the worst of each kind of measurement, over all places.

import { css, html, LitElement } from 'lit';
import type { Contract } from '../shared/contract';
import type { Evidence, Measurement } from '../shared/evidence';
import { judged, measured, WHAT, WHERE, worst } from './evidence-words';
import { shared } from './styles';

type Variant = Contract['variants'][number]['name'];

/** Times of other places say more about those machines than about the variant. */
const TIMED = 'chromium-wasm-1-thread';

const ROWS: readonly Measurement['what'][] = [
  'size_mb',
  'accuracy',
  'label_agreement',
  'cosine',
  'max_difference',
  'time_vs_fp32',
];

export class EvidenceGlance extends LitElement {
  static override properties = { evidence: { attribute: false }, contract: { attribute: false } };
  declare evidence: Evidence;
  declare contract: Contract;

  override render() {
    const variants = this.contract.variants.map(({ name }) => name);
    const used = this.contract.best.wasm;
    return html`
      <table>
        <caption>Variants side by side</caption>
        <thead>
          <tr>
            <td></td>
            ${variants.map(
              name => html`<th scope="col">${name}<span>${name === used ? 'used here' : ''}</span></th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${this.#rows().map(
            what => html`<tr><th scope="row">${WHAT[what]}<span>${where(what)}</span></th>
              ${variants.map(name => html`<td>${this.#worst(what, name)}</td>`)}</tr>`,
          )}
          <tr><th scope="row">Limits held</th>${variants.map(name => html`<td>${this.#held(name)}</td>`)}</tr>
        </tbody>
      </table>
    `;
  }

  /** What was measured of any variant: a vector has no label to agree on. */
  #rows(): readonly Measurement['what'][] {
    return ROWS.filter(row => this.evidence.measurements.some(({ what }) => what === row));
  }

  #of(name: Variant): readonly Measurement[] {
    return this.evidence.measurements.filter(({ variant }) => variant === name);
  }

  #worst(what: Measurement['what'], name: Variant): string {
    const own = this.#of(name).filter(m => m.what === what && (what !== 'time_vs_fp32' || m.where === TIMED));
    const value = worst(what, own);
    return value === null ? 'not measured' : measured(what, value);
  }

  #held(name: Variant): string {
    const { limits, held } = judged(this.#of(name));
    return `${held} of ${limits}`;
  }

  static override styles = [
    shared,
    css`
      table {
        width: 100%;
        border-collapse: collapse;
        table-layout: fixed;
        font-size: var(--small);
      }
      caption {
        padding-bottom: 8px;
        text-align: left;
        font-size: var(--normal);
        font-weight: 600;
      }
      th,
      td {
        padding: 8px 0 8px 8px;
        border-top: 1px solid var(--line);
        text-align: right;
        vertical-align: top;
        font-weight: 400;
      }
      thead th,
      thead td {
        border-top: 0;
      }
      thead th {
        font-weight: 600;
      }
      th:first-child,
      td:first-child {
        width: 40%;
        padding-left: 0;
        text-align: left;
      }
      th span {
        display: block;
        color: var(--soft);
        font-weight: 400;
      }
      td {
        white-space: nowrap;
      }
      @media (max-width: 480px) {
        th,
        td {
          padding-left: 4px;
        }
        th:first-child,
        td:first-child {
          width: 30%;
        }
      }
    `,
  ];
}

function where(what: Measurement['what']): string {
  if (what === 'size_mb') return '';
  return what === 'time_vs_fp32' ? WHERE[TIMED] : 'at the worst place';
}

customElements.define('lw-evidence-glance', EvidenceGlance);
