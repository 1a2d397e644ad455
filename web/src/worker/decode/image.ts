// Images: resized, then cropped to the centre: docs/decoders.md, step 4a.
import type { Resize } from '../../shared/contract';
import { LikewiseError } from '../../shared/errors';
import type { Rgbx, Size } from './raster';
import { resize } from './resize';

export function fitImage(picture: Rgbx, policy: Resize, window: Size): Uint8Array {
  const size = policy.short_side == null ? window : shortSide(picture, policy.short_side);
  const x = centre(size.width, window.width);
  const y = centre(size.height, window.height);
  if (x < 0 || y < 0) {
    const sizes = `${size.width}x${size.height} to ${window.width}x${window.height}`;
    throw new LikewiseError('bad-contract', `The resized picture does not cover the tensor: ${sizes}`);
  }
  const { filter } = policy;
  return resize({ ...picture, channels: 3 }, { size, window: { x, y, ...window }, filter });
}

function shortSide({ width, height }: Size, short: number): Size {
  const long = Math.floor((short * Math.max(width, height)) / Math.min(width, height));
  return width <= height ? { width: short, height: long } : { width: long, height: short };
}

/** Half of what is left over, halves to even, as torchvision rounds. */
function centre(size: number, window: number): number {
  const over = size - window;
  const half = Math.floor(over / 2);
  return over % 2 === 0 ? half : half + (half % 2);
}
