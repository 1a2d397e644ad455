// Files chosen, and dropped or pasted anywhere on the page: a near miss must not make the browser leave for the file.

import { html, nothing, type ReactiveController, type ReactiveControllerHost } from 'lit';
import { createRef, ref } from 'lit/directives/ref.js';

export class FileIntake implements ReactiveController {
  /** A file is being held above the page. */
  over = false;
  readonly #host: ReactiveControllerHost;
  readonly #input = createRef<HTMLInputElement>();
  readonly #take: (file: File, name: string) => void;

  constructor(host: ReactiveControllerHost, take: (file: File, name: string) => void) {
    this.#host = host;
    this.#take = take;
    host.addController(this);
  }

  hostConnected(): void {
    document.addEventListener('paste', this.#paste);
    document.addEventListener('dragover', this.#dragOver);
    document.addEventListener('dragleave', this.#dragLeave);
    document.addEventListener('drop', this.#drop);
  }

  hostDisconnected(): void {
    document.removeEventListener('paste', this.#paste);
    document.removeEventListener('dragover', this.#dragOver);
    document.removeEventListener('dragleave', this.#dragLeave);
    document.removeEventListener('drop', this.#drop);
  }

  /** The hidden input behind `choose`; `accepted` as the file chooser takes it, '' for any. */
  input(label: string, accepted: string) {
    return html`<input ${ref(this.#input)} type="file" accept=${accepted || nothing} aria-label=${label} hidden @change=${this.#picked} />`;
  }

  /** Opens the file chooser. */
  readonly choose = (): void => {
    this.#input.value?.click();
  };

  #picked = (event: Event): void => {
    const input = event.target as HTMLInputElement;
    const file = input.files?.[0];
    if (file) this.#take(file, file.name);
    // The same file chosen again is a new choice.
    input.value = '';
  };

  #set(over: boolean): void {
    if (this.over === over) return;
    this.over = over;
    this.#host.requestUpdate();
  }

  #paste = (event: ClipboardEvent): void => {
    const file = event.clipboardData?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    this.#take(file, file.type.startsWith('image/') ? 'Pasted picture' : 'Pasted file');
  };

  #dragOver = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    this.#set(true);
  };

  #dragLeave = (event: DragEvent): void => {
    if (event.relatedTarget === null) this.#set(false);
  };

  #drop = (event: DragEvent): void => {
    this.#set(false);
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    this.#take(file, file.name);
  };
}
