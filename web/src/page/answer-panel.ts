// The answer: the best label large, all labels as bars, and how it was reached. Says "not sure"
// where the contract says so. Boxes are listed by label; what has no view yet is told as it came. Screen readers hear the best answer once it has settled.

import { css, html, LitElement, nothing, type PropertyValues } from 'lit';
import type { Answer, FramesPrediction, Prediction, Ran, TensorData } from '../runtime';
import type { Contract } from '../shared/contract';
import { firstValues } from './first-values';
import * as format from './format';
import { activeSeconds } from './frames';
import './frames-view';
import type { Refusal } from './refusal';
import './refusal-note';
import { shared } from './styles';

export type AnswerState =
  | { readonly kind: 'empty' }
  | { readonly kind: 'working' }
  | { readonly kind: 'answered'; readonly prediction: Prediction }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** Labels longer than this many letters stand above their bars on a narrow screen. */
const LONG = 12;

/** An answer that stands this long is worth saying aloud; a hand in motion changes it sooner. */
const SETTLED_MS = 700;

export class AnswerPanel extends LitElement {
  static override properties = {
    state: { attribute: false },
    contract: { attribute: false },
    invitation: { type: String },
    said: { state: true },
  };
  declare state: AnswerState;
  declare contract: Contract | null;
  declare invitation: string;
  declare said: string;

  #settle = 0;

  constructor() {
    super();
    this.state = { kind: 'empty' };
    this.contract = null;
    this.invitation = '';
    this.said = '';
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#settle);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('state')) return;
    clearTimeout(this.#settle);
    this.#settle = window.setTimeout(() => {
      this.said = this.#spoken();
    }, SETTLED_MS);
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('state') && this.state.kind === 'answered') this.#showSeen(this.state.prediction);
  }

  override render() {
    return html`${this.#body()}<p class="unseen" role="status">${this.said}</p>`;
  }

  #body() {
    const { state } = this;
    switch (state.kind) {
      case 'empty':
        return html`<p class="empty soft">${this.invitation}</p>`;
      case 'working':
        return html`<p class="empty soft">Working on it</p>`;
      case 'answered':
        return this.#answered(state.prediction);
      case 'refused':
        return html`<lw-refusal-note .refusal=${state.refusal}></lw-refusal-note>`;
      default:
        return state satisfies never;
    }
  }

  #answered(prediction: Prediction) {
    const { ran, timing } = prediction;
    return html`
      <div class="answered ${prediction.sure ? 'sure' : 'unsure'}">
        <div class="head ${this.#isPicture() ? 'pictured' : ''}">
          ${this.#head(prediction)}
          <figure ?hidden=${!this.#isPicture()}>
            <canvas class="seen" role="img" aria-label="The input as the model saw it"></canvas>
            <figcaption class="small soft">as the model saw it</figcaption>
          </figure>
        </div>
        ${this.#rest(prediction)}
        <p class="small soft">${format.duration(timing.totalMs)} on this device: ${howItRan(ran)}</p>
      </div>
    `;
  }

  #isPicture(): boolean {
    const kind = this.contract?.input.kind;
    return kind === 'image' || kind === 'drawing';
  }

  #head(prediction: Prediction) {
    switch (prediction.kind) {
      case 'scores': {
        const [best] = prediction.answers;
        return html`<div>
          <p class="best">${prediction.sure ? best?.label : 'Not sure'}</p>
          ${prediction.sure ? nothing : html`<p class="small">${this.#doubt(best?.label ?? '', best?.score ?? 0)}</p>`}
        </div>`;
      }
      case 'boxes': {
        const { length } = prediction.boxes;
        return html`<p class="best">${length === 0 ? 'Nothing found' : `${length} found`}</p>`;
      }
      case 'frames':
        return html`<p class="best">${this.#activeFor(prediction)}</p>`;
      case 'embedding':
      case 'values':
        return html`<div>
          <p class="best">Answered</p>
          <p class="small">This page has no view of such an answer yet. What the model gave:</p>
        </div>`;
      default:
        return prediction satisfies never;
    }
  }

  #rest(prediction: Prediction) {
    switch (prediction.kind) {
      case 'scores':
        return bars(prediction.answers, 'Answers, best first');
      case 'boxes':
        return prediction.boxes.length === 0 ? nothing : bars(prediction.boxes, 'Found, surest first');
      case 'frames': {
        const { seconds, threshold } = this.#frames();
        return html`<lw-frames-view .probabilities=${prediction.probabilities} .seconds=${seconds} .threshold=${threshold}></lw-frames-view>`;
      }
      case 'embedding':
      case 'values':
        return html`<ul class="outputs" aria-label="Outputs">
          ${prediction.outputs.map(outputItem)}
        </ul>`;
      default:
        return prediction satisfies never;
    }
  }

  #frames(): { seconds: number; threshold: number } {
    const decision = this.contract?.decision;
    if (decision?.kind !== 'frames') return { seconds: 1, threshold: 0.5 };
    return { seconds: decision.frame_seconds, threshold: decision.threshold };
  }

  #activeFor({ probabilities }: FramesPrediction): string {
    const { seconds, threshold } = this.#frames();
    const { active, whole } = activeSeconds(probabilities, seconds, threshold);
    return `Active for ${active} of ${whole}`;
  }

  #doubt(label: string, score: number): string {
    const decision = this.contract?.decision;
    const limit = (decision?.kind === 'scores' && decision.ask_a_person_below) || 0;
    return `Best guess: ${label} at ${format.percent(score)}. Below ${format.percent(limit, 0)} this model is not to be relied on; ask a person.`;
  }

  #spoken(): string {
    if (this.state.kind !== 'answered') return '';
    const { prediction } = this.state;
    switch (prediction.kind) {
      case 'scores': {
        const [best] = prediction.answers;
        if (best === undefined) return '';
        return `${prediction.sure ? 'Answer' : 'Not sure, best guess'}: ${best.label}, ${format.percent(best.score)}`;
      }
      case 'boxes':
        return prediction.boxes.length === 0
          ? 'Nothing found'
          : `Found: ${prediction.boxes.map(({ label }) => label).join(', ')}`;
      case 'frames':
        return this.#activeFor(prediction);
      case 'embedding':
      case 'values':
        return 'Answered';
      default:
        return prediction satisfies never;
    }
  }

  /** Paint the input tensor itself: what is shown here is what the model was given. */
  #showSeen({ tensors: [tensor] }: Prediction): void {
    const canvas = this.renderRoot.querySelector<HTMLCanvasElement>('canvas.seen');
    const [, height = 0, width = 0, channels = 1] = tensor?.shape ?? [];
    if (!this.#isPicture() || canvas === null || tensor === undefined || height === 0 || width === 0) return;
    canvas.width = width;
    canvas.height = height;
    const pixels = new ImageData(width, height);
    for (let i = 0; i < width * height; i++) {
      for (let c = 0; c < 3; c++) {
        pixels.data[4 * i + c] = tensor.data[channels * i + (channels === 1 ? 0 : c)] ?? 0;
      }
      pixels.data[4 * i + 3] = 255;
    }
    canvas.getContext('2d')?.putImageData(pixels, 0, 0);
  }

  static override styles = [
    shared,
    css`
      .empty {
        display: grid;
        align-items: center;
        min-height: 96px;
      }
      .answered {
        display: grid;
        gap: 16px;
      }
      .head {
        display: flex;
        justify-content: space-between;
        align-items: flex-start;
        gap: 16px;
      }
      .pictured {
        min-height: 88px;
      }
      .best {
        font-size: var(--large);
        font-weight: 600;
        line-height: 1.25;
        letter-spacing: -0.02em;
        color: var(--accent);
        overflow-wrap: anywhere;
      }
      .unsure .best {
        color: var(--ink);
      }
      figure {
        flex: none;
        max-width: 96px;
        text-align: right;
      }
      figcaption {
        line-height: 1.25;
      }
      .seen {
        width: 56px;
        height: 56px;
        border-radius: 2px;
        object-fit: contain;
        image-rendering: pixelated;
      }
      ol {
        display: grid;
        grid-template-columns: fit-content(45%) 1fr auto;
        gap: 8px 16px;
      }
      ol > li {
        display: grid;
        grid-column: 1 / -1;
        grid-template-columns: subgrid;
        align-items: center;
      }
      ol > li:first-child {
        font-weight: 600;
      }
      svg {
        display: block;
      }
      .rail {
        fill: var(--line);
      }
      .score {
        fill: var(--accent);
        transition: width var(--motion);
      }
      li:not(:first-child) .score,
      .unsure .score {
        fill: var(--edge);
      }
      .outputs {
        display: grid;
        gap: 8px;
      }
      .values {
        overflow-wrap: anywhere;
      }
      .value {
        text-align: right;
        min-width: 8ch;
      }
      .label {
        overflow-wrap: anywhere;
      }
      @media (max-width: 480px) {
        .long {
          grid-template-columns: 1fr auto;
        }
        .long svg {
          grid-row: 2;
          grid-column: 1 / -1;
          height: 8px;
        }
      }
    `,
  ];
}

function bars(answers: readonly Answer[], label: string) {
  return html`<ol class=${answers.some(one => one.label.length > LONG) ? 'long' : ''} aria-label=${label}>
    ${answers.map(
      ({ label, score }) => html`
        <li>
          <span class="label">${label}</span>
          <svg width="100%" height="16" aria-hidden="true">
            <rect class="rail" width="100%" height="16"></rect>
            <rect class="score" width="${score * 100}%" height="16"></rect>
          </svg>
          <span class="value">${format.percent(score)}</span>
        </li>
      `,
    )}
  </ol>`;
}

function outputItem(output: TensorData) {
  const { name, dtype, shape } = output;
  return html`<li>
    <p><code>${name}</code> <span class="small soft">${dtype}, ${shape.length === 0 ? 'a scalar' : shape.join(' × ')}</span></p>
    <p class="values">${firstValues(output)}</p>
  </li>`;
}

function howItRan({ backend, threads, variant }: Ran): string {
  return `${backend}, ${threads} ${threads === 1 ? 'thread' : 'threads'}, ${variant}`;
}

customElements.define('lw-answer-panel', AnswerPanel);
