// What the input panels tell the page: knows nothing of models.

import type { Row } from '../runtime';

export type Given =
  /** `why`: what is still needed before there is anything to answer; '' when nothing was begun. */
  | { readonly kind: 'nothing'; readonly why: string }
  | { readonly kind: 'drawing'; readonly pixels: () => ImageData }
  /** `sample`: its id, '' of the visitor's own. */
  | { readonly kind: 'text'; readonly text: string; readonly sample: string }
  | { readonly kind: 'row'; readonly row: Row; readonly sample: string }
  | { readonly kind: 'file'; readonly blob: Blob; readonly sample: string };

export const NOTHING: Given = { kind: 'nothing', why: '' };

/** What a panel that takes samples can do. */
export interface TakesFiles {
  /** Show this file and give it to the page; `sample` is the sample's id, '' of the visitor's own. */
  take(blob: Blob, name: string, sample?: string): void;
}

/** A hand in motion: the last answer stays until the next is there. */
export function inMotion({ kind }: Given): boolean {
  return kind === 'drawing' || kind === 'row' || kind === 'text';
}
