// Pillow's Image.resize, bit for bit, for the window of the result that is wanted: docs/decoders.md, "Resizing".
import { acrossOne, acrossThree, down } from './passes';
import type { Size } from './raster';
import { type Filter, type Weights, weigh } from './weights';

export type { Filter } from './weights';

export interface Source extends Size {
  readonly data: Uint8Array | Uint8ClampedArray;
  /** Bytes from pixel to pixel: 4 reads RGBA in place. */
  readonly stride: 1 | 3 | 4;
  readonly channels: 1 | 3;
}

export interface Target {
  /** Of the whole result. */
  readonly size: Size;
  /** The part of it that is computed; lies inside. */
  readonly window: Size & { readonly x: number; readonly y: number };
  readonly filter: Filter;
}

/** The window's pixels, channels interleaved. A pass that would keep the size is left out, as in Pillow. */
export function resize(source: Source, { size, window, filter }: Target): Uint8Array {
  const { width, height, channels } = source;
  const across = size.width === width ? null : weigh(filter, width, size.width, window.x, window.width);
  const vertical =
    size.height === height ? null : weigh(filter, height, size.height, window.y, window.height);
  const top = vertical === null ? window.y : (vertical.starts[0] ?? 0);
  const rows = vertical === null ? window.height : lastRow(vertical) - top;
  const lines =
    across === null ? cut(source, window.x, window.width, top, rows) : squeeze(source, across, top, rows);
  return vertical === null ? lines : down(lines, window.width * channels, vertical, top);
}

function lastRow({ starts, lengths }: Weights): number {
  const last = starts.length - 1;
  return (starts[last] ?? 0) + (lengths[last] ?? 0);
}

/** The horizontal pass, over the rows that the vertical one needs. */
function squeeze(source: Source, weights: Weights, top: number, rows: number): Uint8Array {
  const { data, width, stride, channels } = source;
  const lines = data.subarray(top * width * stride, (top + rows) * width * stride);
  const out = new Uint8Array(rows * weights.starts.length * channels);
  if (channels === 3) acrossThree(lines, width * stride, stride, weights, out);
  else acrossOne(lines, width * stride, stride, weights, out);
  return out;
}

/** No horizontal pass: the columns as they are. */
function cut(source: Source, left: number, columns: number, top: number, rows: number): Uint8Array {
  const { data, width, stride, channels } = source;
  const out = new Uint8Array(rows * columns * channels);
  let to = 0;
  for (let y = top; y < top + rows; y += 1) {
    for (let x = left; x < left + columns; x += 1) {
      const at = (y * width + x) * stride;
      for (let channel = 0; channel < channels; channel += 1) {
        out[to] = data[at + channel] ?? 0;
        to += 1;
      }
    }
  }
  return out;
}
