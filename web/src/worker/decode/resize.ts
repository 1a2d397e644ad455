// Pillow's Image.resize, bit for bit, for the window of the result that is wanted: docs/decoders.md, "Resizing".
import { acrossColour, acrossGrey, squeezeDown } from './passes';
import type { Size } from './raster';
import { type Filter, type Weights, weigh } from './weights';

export type { Filter } from './weights';

/** One byte a pixel when there is one channel; RGBX, four bytes a pixel, when there are three. */
export interface Source extends Size {
  readonly data: Uint8Array;
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
export function resize(source: Source, target: Target): Uint8Array<ArrayBuffer> {
  const { size, window, filter } = target;
  const { width, height, channels } = source;
  const across = size.width === width ? null : weigh(filter, width, size.width, window.x, window.width);
  const down = size.height === height ? null : weigh(filter, height, size.height, window.y, window.height);
  const columns = across === null ? { first: window.x, count: window.width } : range(across);
  const rows = down === null ? { first: window.y, count: window.height } : range(down);
  if (across === null || down === null || !verticalFirst(source, size)) {
    const lines = across === null ? cut(source, columns, rows, channels) : squeezeRows(source, across, rows);
    return down === null ? lines : squeezeDown(lines, window.width * channels, down, rows.first);
  }
  const pixelBytes = pixelSize(source);
  const part = cut(source, columns, rows, pixelBytes);
  const data = squeezeDown(part, columns.count * pixelBytes, down, rows.first);
  const lines = { data, width: columns.count, height: window.height, channels };
  return squeezeRows(lines, across, { first: 0, count: window.height }, columns.first);
}

interface Range {
  readonly first: number;
  readonly count: number;
}

/** Pillow 13 starts with the vertical pass when it takes away more than twice as many rows as columns. */
function verticalFirst(source: Size, size: Size): boolean {
  return size.height < source.height && source.height - size.height > 2 * (source.width - size.width);
}

/** The source positions that the weights reach. */
function range({ starts, lengths }: Weights): Range {
  const last = starts.length - 1;
  const first = starts[0] ?? 0;
  return { first, count: (starts[last] ?? 0) + (lengths[last] ?? 0) - first };
}

function pixelSize({ channels }: Source): 1 | 4 {
  return channels === 3 ? 4 : 1;
}

/** The horizontal pass over some rows; `left` is the place in the whole of the source's first column. */
function squeezeRows(source: Source, weights: Weights, rows: Range, left = 0): Uint8Array<ArrayBuffer> {
  const pitch = source.width * pixelSize(source);
  const data = source.data.subarray(rows.first * pitch, (rows.first + rows.count) * pitch);
  const out = new Uint8Array(rows.count * weights.starts.length * source.channels);
  const pass = source.channels === 3 ? acrossColour : acrossGrey;
  pass({ data, width: source.width, left }, weights, out);
  return out;
}

/** A part of the picture, the first `keep` bytes of each pixel. */
function cut(source: Source, columns: Range, rows: Range, keep: number): Uint8Array<ArrayBuffer> {
  const { data, width } = source;
  const pixelBytes = pixelSize(source);
  const out = new Uint8Array(rows.count * columns.count * keep);
  let to = 0;
  for (let y = rows.first; y < rows.first + rows.count; y += 1) {
    for (let x = columns.first; x < columns.first + columns.count; x += 1) {
      const at = (y * width + x) * pixelBytes;
      for (let i = 0; i < keep; i += 1) {
        out[to] = data[at + i] ?? 0;
        to += 1;
      }
    }
  }
  return out;
}
