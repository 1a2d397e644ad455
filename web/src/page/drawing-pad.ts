// The pad: mouse, finger or pen draw strokes; the page asks for their pixels.

import { css, html, LitElement } from 'lit';
import { DARK_ON_LIGHT, type Inks, type Point, paint, type Stroke } from './strokes';
import { shared } from './styles';

// Ten pixels for each of the model's 28: the decoder shrinks it, as it would a scanned digit.
const SIDE = 280;

export class DrawingPad extends LitElement {
  static override properties = {
    label: { type: String },
    inks: { attribute: false },
    strokeCount: { state: true },
  };
  declare label: string;
  declare inks: Inks;
  declare strokeCount: number;

  #strokes: Stroke[] = [];
  #stroke: Point[] | null = null;
  #pointer: number | null = null;
  #frame = 0;
  #resize = new ResizeObserver(() => this.#fit());

  constructor() {
    super();
    this.label = 'Drawing pad';
    this.inks = DARK_ON_LIGHT;
    this.strokeCount = 0;
  }

  /** Nothing is drawn. */
  get empty(): boolean {
    return this.#strokes.length === 0;
  }

  /** What is drawn now, as the model is to see it. */
  pixels(): ImageData {
    const context = new OffscreenCanvas(SIDE, SIDE).getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('This browser gives no 2D canvas.');
    paint(context, this.#strokes, SIDE, this.inks);
    return context.getImageData(0, 0, SIDE, SIDE);
  }

  clear(): void {
    this.#strokes = [];
    this.#changed();
  }

  undo(): void {
    this.#strokes = this.#strokes.slice(0, -1);
    this.#changed();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#resize.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#resize.disconnect();
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  get #canvas(): HTMLCanvasElement | null {
    return this.renderRoot.querySelector('canvas');
  }

  #fit(): void {
    const canvas = this.#canvas;
    if (canvas === null) return;
    const side = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio));
    if (canvas.width !== side) {
      canvas.width = side;
      canvas.height = side;
    }
    this.#paint();
  }

  #paint(): void {
    const canvas = this.#canvas;
    const context = canvas?.getContext('2d');
    if (canvas && context) paint(context, this.#strokes, canvas.width, this.inks);
  }

  /** Once a frame at most, however many points arrive. */
  #changed(): void {
    this.strokeCount = this.#strokes.length;
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
      this.dispatchEvent(new CustomEvent('ink', { bubbles: true, composed: true }));
    });
  }

  #down(event: PointerEvent): void {
    if (this.#pointer !== null || event.button !== 0) return;
    event.preventDefault();
    this.#canvas?.setPointerCapture(event.pointerId);
    this.#pointer = event.pointerId;
    this.#stroke = [this.#point(event)];
    this.#strokes = [...this.#strokes, this.#stroke];
    this.#changed();
  }

  #move(event: PointerEvent): void {
    if (event.pointerId !== this.#pointer || this.#stroke === null) return;
    const all = event.getCoalescedEvents?.() ?? [];
    for (const each of all.length > 0 ? all : [event]) this.#stroke.push(this.#point(each));
    this.#changed();
  }

  #up(event: PointerEvent): void {
    if (event.pointerId !== this.#pointer) return;
    this.#pointer = null;
    this.#stroke = null;
    this.#changed();
  }

  #point(event: PointerEvent): Point {
    const box = this.#canvas?.getBoundingClientRect();
    if (box === undefined) return { x: 0, y: 0 };
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height };
  }

  override render() {
    const count = this.strokeCount;
    const state = count === 0 ? 'empty' : `${count} ${count === 1 ? 'stroke' : 'strokes'}`;
    return html`
      <canvas
        role="img"
        aria-label="${this.label}, ${state}"
        @pointerdown=${this.#down}
        @pointermove=${this.#move}
        @pointerup=${this.#up}
        @pointercancel=${this.#up}
      ></canvas>
      <p class="hint" aria-hidden="true" ?hidden=${count > 0}>Draw here</p>
    `;
  }

  static override styles = [
    shared,
    css`
      :host {
        position: relative;
        aspect-ratio: 1;
      }
      canvas {
        display: block;
        width: 100%;
        height: 100%;
        filter: var(--pad-filter);
        cursor: crosshair;
        touch-action: none;
        user-select: none;
        -webkit-user-select: none;
      }
      .hint {
        position: absolute;
        inset: 0;
        display: grid;
        place-items: center;
        color: var(--soft);
        pointer-events: none;
      }
    `,
  ];
}

customElements.define('lw-drawing-pad', DrawingPad);

declare global {
  interface HTMLElementTagNameMap {
    'lw-drawing-pad': DrawingPad;
  }
}
