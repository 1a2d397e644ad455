// A sound that was chosen, to be listened to. What the model hears is decoded by the worker, not by this player.

import { css, html, LitElement, type PropertyValues } from 'lit';

export class SoundView extends LitElement {
  static override properties = {
    sound: { attribute: false },
    name: { type: String },
    address: { state: true },
  };
  declare sound: Blob | null;
  declare name: string;
  declare address: string;

  constructor() {
    super();
    this.sound = null;
    this.name = '';
    this.address = '';
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    URL.revokeObjectURL(this.address);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('sound')) return;
    URL.revokeObjectURL(this.address);
    this.address = this.sound === null ? '' : URL.createObjectURL(this.sound);
  }

  override render() {
    return html`<audio controls preload="metadata" src=${this.address} aria-label=${this.name}></audio>`;
  }

  static override styles = css`
    :host {
      display: block;
    }
    audio {
      display: block;
      width: 100%;
      max-width: 100%;
    }
  `;
}

customElements.define('lw-sound-view', SoundView);
