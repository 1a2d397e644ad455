import type { Orientation } from './exif';
import type { Rgba } from './raster';

/** Tiles keep both the read and the written lines of a quarter turn in the processor's cache. */
const TILE = 64;

/** The picture upright, as EXIF's orientation says: docs/decoders.md, step 2. */
export function turn(picture: Rgba, orientation: Orientation): Rgba {
  if (orientation === 1) return picture;
  const { data, width, height, hasAlpha } = picture;
  const [outWidth, outHeight] = orientation >= 5 ? [height, width] : [width, height];
  const source = new Uint32Array(data.buffer, data.byteOffset, width * height);
  const out = new Uint32Array(source.length);
  const { start, right, down } = walk(orientation, width, height);
  for (let top = 0; top < outHeight; top += TILE) {
    for (let left = 0; left < outWidth; left += TILE) {
      const bottom = Math.min(top + TILE, outHeight);
      const end = Math.min(left + TILE, outWidth);
      for (let y = top; y < bottom; y += 1) {
        let from = start + y * down + left * right;
        for (let x = left; x < end; x += 1) {
          out[y * outWidth + x] = source[from] ?? 0;
          from += right;
        }
      }
    }
  }
  return { data: new Uint8Array(out.buffer), width: outWidth, height: outHeight, hasAlpha };
}

interface Walk {
  /** Index in the source of the result's first pixel, and the steps there for one pixel right and one down. */
  readonly start: number;
  readonly right: number;
  readonly down: number;
}

function walk(orientation: Orientation, width: number, height: number): Walk {
  const last = width * height - 1;
  const walks: Readonly<Record<Orientation, Walk>> = {
    1: { start: 0, right: 1, down: width },
    2: { start: width - 1, right: -1, down: width },
    3: { start: last, right: -1, down: -width },
    4: { start: last - width + 1, right: 1, down: -width },
    5: { start: 0, right: width, down: 1 },
    6: { start: last - width + 1, right: -width, down: 1 },
    7: { start: last, right: -width, down: -1 },
    8: { start: width - 1, right: width, down: -1 },
  };
  return walks[orientation];
}
