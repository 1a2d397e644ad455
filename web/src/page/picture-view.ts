// The picture that was chosen, shown whole. Painted on a canvas: no object URL to keep track of.

import { css, html, LitElement, type PropertyValues } from 'lit';
import { shared } from './styles';

/** Longest side of what is painted, in pixels: enough for a sharp screen, small for a phone. */
const LONGEST = 1024;

export class PictureView extends LitElement {
  static override properties = {
    picture: { attribute: false },
    name: { type: String },
    size: { state: true },
  };
  declare picture: Blob | null;
  declare name: string;
  declare size: string;

  constructor() {
    super();
    this.picture = null;
    this.name = '';
    this.size = '';
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('picture') && this.picture !== null) void this.#show(this.picture);
  }

  override render() {
    return html`
      <canvas role="img" aria-label=${this.name} ?hidden=${this.size === ''}></canvas>
      <p class="soft" ?hidden=${this.size !== ''}>No preview of ${this.name}</p>
    `;
  }

  async #show(picture: Blob): Promise<void> {
    const bitmap = await createImageBitmap(picture).catch(() => null);
    if (picture !== this.picture) return bitmap?.close();
    const canvas = this.renderRoot.querySelector('canvas');
    if (bitmap === null || canvas === null) {
      this.size = '';
      return;
    }
    const scale = Math.min(1, LONGEST / Math.max(bitmap.width, bitmap.height));
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    canvas.classList.toggle('tiny', Math.max(bitmap.width, bitmap.height) < 96);
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    this.size = `${bitmap.width} × ${bitmap.height} px`;
    bitmap.close();
    this.dispatchEvent(new CustomEvent('measured', { detail: this.size }));
  }

  static override styles = [
    shared,
    css`
      :host {
        position: relative;
        display: grid;
        place-items: center;
      }
      canvas {
        position: absolute;
        inset: 0;
        width: 100%;
        height: 100%;
        object-fit: contain;
      }
      .tiny {
        image-rendering: pixelated;
      }
      p {
        padding: 16px;
        overflow-wrap: anywhere;
      }
    `,
  ];
}

customElements.define('lw-picture-view', PictureView);
