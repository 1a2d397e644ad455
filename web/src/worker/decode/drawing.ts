// Drawings: grey, light ink on dark ground, the ink fitted to the tensor: docs/decoders.md, step 4b.
import type { DrawingInput } from '../../shared/contract';
import { LikewiseError } from '../../shared/errors';
import type { Grey, Rgbx, Size } from './raster';
import { type Filter, resize } from './resize';

/** From this value on a pixel counts as ink. */
const INK = 64;

export function toInk(picture: Rgbx, ink: DrawingInput['ink']): Grey {
  const grey = toGrey(picture);
  const invert = ink === 'dark-on-light' || (ink === 'auto' && hasLightBorder(grey));
  if (invert) for (let i = 0; i < grey.data.length; i += 1) grey.data[i] = 255 - (grey.data[i] ?? 0);
  return grey;
}

export function fitWhole(ink: Grey, filter: Filter, size: Size): Uint8Array<ArrayBuffer> {
  const window = { x: 0, y: 0, ...size };
  return resize({ ...ink, channels: 1 }, { size, window, filter });
}

/** A square around the ink, whose longer side fills 20 of 28 parts. Throws nothing-drawn. */
export function fitInk(ink: Grey, filter: Filter, size: Size): Uint8Array<ArrayBuffer> {
  const box = inkBox(ink);
  if (box === null)
    throw new LikewiseError('nothing-drawn', `No pixel reaches ${INK} of 255: nothing is drawn.`);
  const side = Math.floor((7 * Math.max(box.width, box.height) + 4) / 5);
  const x = box.x + Math.floor((box.width - side) / 2);
  const y = box.y + Math.floor((box.height - side) / 2);
  return fitWhole(cut(ink, x, y, side), filter, size);
}

function toGrey({ data, width, height }: Rgbx): Grey {
  const grey = new Uint8Array(width * height);
  for (let i = 0, p = 0; i < grey.length; i += 1, p += 4) {
    grey[i] = (19595 * (data[p] ?? 0) + 38470 * (data[p + 1] ?? 0) + 7471 * (data[p + 2] ?? 0) + 32768) >> 16;
  }
  return { data: grey, width, height };
}

function hasLightBorder({ data, width, height }: Grey): boolean {
  let sum = 0;
  let count = 0;
  for (let y = 0; y < height; y += 1) {
    const edge = y === 0 || y === height - 1;
    const step = edge || width === 1 ? 1 : width - 1;
    for (let x = 0; x < width; x += step) {
      sum += data[y * width + x] ?? 0;
      count += 1;
    }
  }
  return 2 * sum > 255 * count;
}

interface Box extends Size {
  readonly x: number;
  readonly y: number;
}

function inkBox({ data, width, height }: Grey): Box | null {
  let left = width;
  let right = -1;
  let top = -1;
  let bottom = -1;
  for (let y = 0; y < height; y += 1) {
    const row = data.subarray(y * width, (y + 1) * width);
    const first = row.findIndex(value => value >= INK);
    if (first < 0) continue;
    if (top < 0) top = y;
    bottom = y;
    left = Math.min(left, first);
    right = Math.max(
      right,
      row.findLastIndex(value => value >= INK),
    );
  }
  return top < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** The square at (x, y), which may reach beyond the picture: there it is 0. */
function cut({ data, width, height }: Grey, x: number, y: number, side: number): Grey {
  const square = new Uint8Array(side * side);
  const from = Math.max(0, x);
  const to = Math.min(width, x + side);
  for (let row = Math.max(0, y); row < Math.min(height, y + side); row += 1) {
    square.set(data.subarray(row * width + from, row * width + to), (row - y) * side + (from - x));
  }
  return { data: square, width: side, height: side };
}
