// Images: resized, then cropped, letterboxed or neither: docs/decoders.md, step 4a.
import type { ImageInput } from '../../shared/contract';
import { LikewiseError, never } from '../../shared/errors';
import type { Rgbx, Size } from './raster';
import { type Filter, resize } from './resize';

export type Fit = Pick<ImageInput, 'resize' | 'fit' | 'padding'>;

/** RGB of the tensor's size. */
export function fitImage(picture: Rgbx, policy: Fit, tensor: Size): Uint8Array<ArrayBuffer> {
  const { filter, short_side } = policy.resize;
  switch (policy.fit) {
    case 'stretch':
      return whole(picture, filter, tensor);
    case 'centre-crop':
      return crop(picture, filter, shortSide(picture, short_side ?? 0), tensor);
    case 'letterbox':
      return letterbox(picture, filter, tensor, policy.padding);
    default:
      return never(policy.fit);
  }
}

function whole(picture: Rgbx, filter: Filter, size: Size): Uint8Array<ArrayBuffer> {
  return resize({ ...picture, channels: 3 }, { size, window: { x: 0, y: 0, ...size }, filter });
}

function crop(picture: Rgbx, filter: Filter, size: Size, window: Size): Uint8Array<ArrayBuffer> {
  const x = centre(size.width, window.width);
  const y = centre(size.height, window.height);
  if (x < 0 || y < 0) {
    const sizes = `${size.width}x${size.height} to ${window.width}x${window.height}`;
    throw new LikewiseError('bad-contract', `The resized picture does not cover the tensor: ${sizes}`);
  }
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

function letterbox(
  picture: Rgbx,
  filter: Filter,
  tensor: Size,
  padding: ImageInput['padding'],
): Uint8Array<ArrayBuffer> {
  const size = letterboxed(picture, tensor);
  const pixels = whole(picture, filter, size);
  const out = new Uint8Array(tensor.width * tensor.height * 3);
  for (let i = 0; i < out.length; i += 3) out.set(padding, i);
  const left = Math.floor((tensor.width - size.width) / 2);
  const top = Math.floor((tensor.height - size.height) / 2);
  const pitch = 3 * size.width;
  for (let y = 0; y < size.height; y += 1) {
    const row = pixels.subarray(y * pitch, (y + 1) * pitch);
    out.set(row, 3 * ((top + y) * tensor.width + left));
  }
  return out;
}

/** The longer side fills the tensor, the other keeps the aspect, rounded half up. */
export function letterboxed({ width: w, height: h }: Size, { width, height }: Size): Size {
  if (w * height >= h * width) {
    return { width, height: Math.max(1, Math.floor((2 * h * width + w) / (2 * w))) };
  }
  return { width: Math.max(1, Math.floor((2 * w * height + h) / (2 * h))), height };
}
