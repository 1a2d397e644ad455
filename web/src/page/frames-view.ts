// What was active when: a curve of probabilities over time, and its parts in words for whoever does not see it.

import { css, html, LitElement, svg } from 'lit';
import * as format from './format';
import { activeParts, highest, time } from './frames';
import { shared } from './styles';

/** Bars drawn at most: more than that nobody tells apart. */
const MOST_BARS = 240;
/** Parts told in words at most. */
const MOST_PARTS = 12;

export class FramesView extends LitElement {
  static override properties = {
    probabilities: { attribute: false },
    seconds: { type: Number },
    threshold: { type: Number },
  };
  declare probabilities: Float32Array;
  /** Of a frame. */
  declare seconds: number;
  declare threshold: number;

  constructor() {
    super();
    this.probabilities = new Float32Array();
    this.seconds = 1;
    this.threshold = 0.5;
  }

  override render() {
    const { probabilities, seconds, threshold } = this;
    const bars = highest(probabilities, MOST_BARS);
    const parts = activeParts(probabilities, threshold);
    const shown = parts.slice(0, MOST_PARTS);
    return html`
      <svg viewBox="0 0 ${bars.length} 100" preserveAspectRatio="none" aria-hidden="true">
        ${bars.map((p, i) => svg`<rect class=${p >= Math.fround(threshold) ? 'active' : ''} x=${i} width="0.85" y=${100 - 100 * p} height=${Math.max(1, 100 * p)}></rect>`)}
        <line x1="0" x2=${bars.length} y1=${100 - 100 * threshold} y2=${100 - 100 * threshold}></line>
      </svg>
      <p class="scale small soft"><span>0 s</span><span>${time(probabilities.length * seconds)}</span></p>
      <p class="small">
        ${
          parts.length === 0
            ? `Never at or above ${format.percent(threshold, 0)}.`
            : `${shown.map(({ from, to }) => `${(from * seconds).toFixed(1)} to ${time(to * seconds)}`).join('; ')}${parts.length > shown.length ? `; and ${parts.length - shown.length} more` : ''}.`
        }
      </p>
    `;
  }

  static override styles = [
    shared,
    css`
      :host {
        display: grid;
        gap: 4px;
      }
      svg {
        width: 100%;
        height: 96px;
        background: var(--panel);
        border-radius: var(--radius);
      }
      rect {
        fill: var(--edge);
      }
      rect.active {
        fill: var(--accent);
      }
      line {
        stroke: var(--soft);
        stroke-dasharray: 4 4;
        vector-effect: non-scaling-stroke;
      }
      .scale {
        display: flex;
        justify-content: space-between;
      }
    `,
  ];
}

customElements.define('lw-frames-view', FramesView);
