import type { Rgba, Rgbx } from './raster';

/** Lays the picture on a background: docs/decoders.md, step 3. Writes into the picture's own bytes. */
export function layOn(picture: Rgba, background: readonly [number, number, number]): Rgbx {
  if (!picture.hasAlpha) return picture;
  const [red, green, blue] = background;
  const { data } = picture;
  for (let i = 0; i < data.length; i += 4) {
    const alpha = data[i + 3] ?? 255;
    if (alpha === 255) continue;
    data[i] = blend(data[i] ?? 0, red, alpha);
    data[i + 1] = blend(data[i + 1] ?? 0, green, alpha);
    data[i + 2] = blend(data[i + 2] ?? 0, blue, alpha);
  }
  return picture;
}

/** Division by 255, rounded, in integers. */
function blend(colour: number, background: number, alpha: number): number {
  const t = colour * alpha + background * (255 - alpha) + 128;
  return (t + (t >> 8)) >> 8;
}
