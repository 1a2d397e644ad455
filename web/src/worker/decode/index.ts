// From a picture to the bytes of the model's input tensor: docs/decoders.md, step by step.
import type { DecodedTensor } from '../../runtime/types';
import type { DrawingInput, ImageInput, Tensor } from '../../shared/contract';
import { LikewiseError, never } from '../../shared/errors';
import type { PictureInput } from '../../shared/messages';
import { layOn } from './background';
import { fitInk, fitWhole, toInk } from './drawing';
import { fitImage } from './image';
import { toPixels } from './pixels';

/** Throws unsupported-picture, picture-too-large, broken-picture, canvas-lies or nothing-drawn. */
export async function decode(
  input: PictureInput,
  decoder: ImageInput | DrawingInput,
): Promise<DecodedTensor> {
  const pixels = layOn(await toPixels(input), decoder.background);
  const shape = inputShape(decoder.tensor);
  const [, height, width] = shape;
  const data = decodePixels(pixels, decoder, { width, height });
  return { name: decoder.tensor.name, dtype: 'uint8', shape, data };
}

/** The shape of one input: batch 1, then the contract's height, width and channels. */
export function inputShape(tensor: Tensor): readonly [1, number, number, number] {
  const [, height, width, channels] = tensor.shape ?? [];
  if (typeof height !== 'number' || typeof width !== 'number' || typeof channels !== 'number') {
    throw new LikewiseError('bad-contract', `${tensor.name}: shape must be [batch, height, width, channels]`);
  }
  return [1, height, width, channels];
}

function decodePixels(
  pixels: Parameters<typeof fitImage>[0],
  decoder: ImageInput | DrawingInput,
  size: { readonly width: number; readonly height: number },
): Uint8Array {
  switch (decoder.kind) {
    case 'image':
      return fitImage(pixels, decoder.resize, size);
    case 'drawing': {
      const ink = toInk(pixels, decoder.ink);
      return decoder.fit === 'ink'
        ? fitInk(ink, decoder.resize.filter, size)
        : fitWhole(ink, decoder.resize.filter, size);
    }
    default:
      return never(decoder);
  }
}
