// What happens until the model can answer, step by step, each with its number.

import { css, html, LitElement, nothing } from 'lit';
import type { Progress } from '../runtime';
import * as format from './format';
import { checked } from './icons';
import { shared } from './styles';

const STAGES = ['contract', 'download', 'compile', 'ready'] as const satisfies readonly Progress['stage'][];

export class LoadingSteps extends LitElement {
  static override properties = { progress: { attribute: false } };
  declare progress: Progress;

  constructor() {
    super();
    this.progress = { stage: 'contract' };
  }

  override render() {
    return html`<ol>${STAGES.slice(0, 3).map(stage => this.#step(stage))}</ol>`;
  }

  #step(stage: Progress['stage']) {
    const turn = STAGES.indexOf(stage) - STAGES.indexOf(this.progress.stage);
    const state = turn < 0 ? 'done' : turn === 0 ? 'current' : 'next';
    return html`
      <li class=${state} aria-current=${state === 'current' ? 'step' : nothing}>
        <span class="mark">${state === 'done' ? checked : nothing}</span>
        <span>${this.#words(stage)}</span>
        ${state === 'current' && this.progress.stage === 'download' ? this.#bar(this.progress.fraction) : nothing}
      </li>
    `;
  }

  #words(stage: Progress['stage']): string {
    const { progress } = this;
    switch (stage) {
      case 'contract':
        return 'Read and check the contract';
      case 'download':
        if (progress.stage !== 'download') return 'Fetch the model and check every byte';
        return `${progress.fromStore ? 'Read from this device' : 'Download'}: ${format.progress(progress.doneBytes, progress.totalBytes)}`;
      case 'compile':
        return 'Prepare it on this device';
      case 'ready':
        return 'Ready';
      default:
        return stage satisfies never;
    }
  }

  #bar(fraction: number) {
    return html`<svg class="bar" width="100%" height="4" role="progressbar" aria-label="Download"
      aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(fraction * 100)}>
      <rect class="rail" width="100%" height="4"></rect>
      <rect class="done" width="${fraction * 100}%" height="4"></rect>
    </svg>`;
  }

  static override styles = [
    shared,
    css`
      ol {
        display: grid;
        gap: 8px;
      }
      li {
        display: grid;
        grid-template-columns: 24px 1fr;
        gap: 0 8px;
        align-items: center;
        color: var(--soft);
      }
      .current {
        color: var(--ink);
      }
      .mark {
        display: grid;
        place-items: center;
        width: 24px;
        height: 24px;
      }
      .current .mark::before,
      .next .mark::before {
        content: '';
        width: 8px;
        height: 8px;
        border: 1px solid var(--edge);
        border-radius: 50%;
      }
      .current .mark::before {
        border-color: var(--accent);
        background: var(--accent);
      }
      .bar {
        grid-column: 2;
        display: block;
        margin-top: 8px;
      }
      .rail {
        fill: var(--line);
      }
      .done rect,
      rect.done {
        fill: var(--accent);
      }
    `,
  ];
}

customElements.define('lw-loading-steps', LoadingSteps);
