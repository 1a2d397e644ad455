// Where the version comes from: licence, data, judge, tools, documents.

import { css, html, LitElement } from 'lit';
import type { Contract } from '../shared/contract';
import * as format from './format';
import { shared } from './styles';

export class VersionFacts extends LitElement {
  static override properties = { contract: { attribute: false }, base: { attribute: false } };
  declare contract: Contract;
  declare base: URL;

  override render() {
    const { contract, base } = this;
    const { provenance } = contract;
    const tools = Object.entries(provenance.tools).map(([tool, version]) => `${tool} ${version}`);
    const made = tools.length > 0 ? `, with ${tools.join(', ')}` : '';
    return html`
      <h2>About version ${contract.version}</h2>
      <dl>
        <div><dt>Task</dt><dd>${taskOf(contract)}</dd></div>
        <div><dt>Licence</dt><dd>${contract.licence}</dd></div>
        <div><dt>Data</dt><dd>${provenance.data}</dd></div>
        <div><dt>Compared with</dt><dd>${provenance.judge}</dd></div>
        <div><dt>Built</dt><dd>${provenance.built} from ${provenance.source_kind}${made}</dd></div>
        <div>
          <dt>Documents</dt>
          <dd>
            ${contract.documents.map(
              ({ file }) => html`<a href=${new URL(file, base).href}>${TITLES[file] ?? file}</a>, `,
            )}<a href=${new URL('contract.json', base).href}>Contract</a>
          </dd>
        </div>
      </dl>
    `;
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

function taskOf({ task, labels }: Contract): string {
  return labels.length === 0 ? task : `${task}, ${format.count(labels.length)} labels`;
}

const TITLES: Readonly<Record<string, string>> = {
  'README.md': 'Model card',
  'evidence.json': 'Evidence as data',
  'details.json': 'Spread of the answers as data',
  'decision.md': 'Decision record',
};

customElements.define('lw-version-facts', VersionFacts);
