// From a picture to the bytes of the model's input tensor: docs/decoders.md, "Pictures and drawings".
import type { ModelInput } from '../../runtime/types';
import type { Contract, DrawingInput, ImageInput } from '../../shared/contract';
import { LikewiseError } from '../../shared/errors';
import type { TensorData } from '../../shared/tensors';
import { layOn } from './background';
import { fitInk, fitWhole, toInk } from './drawing';
import { isRow } from './file';
import { fitImage } from './image';
import { toPixels } from './pixels';
import type { Rgbx } from './raster';

type Inputs = Pick<Contract, 'inputs'>;

export async function decodeImage(
  given: ModelInput,
  spec: ImageInput,
  contract: Inputs,
): Promise<TensorData> {
  const picture = await upright(given, spec.background);
  const shape = pictureShape(spec.tensor, contract);
  const [, height, width] = shape;
  return tensor(spec.tensor, shape, fitImage(picture, spec, { width, height }));
}

export async function decodeDrawing(
  given: ModelInput,
  spec: DrawingInput,
  contract: Inputs,
): Promise<TensorData> {
  const ink = toInk(await upright(given, spec.background), spec.ink);
  const shape = pictureShape(spec.tensor, contract);
  const [, height, width] = shape;
  const toSize = spec.fit === 'ink' ? fitInk : fitWhole;
  return tensor(spec.tensor, shape, toSize(ink, spec.resize.filter, { width, height }));
}

async function upright(given: ModelInput, background: ImageInput['background']): Promise<Rgbx> {
  if (typeof given === 'string' || isRow(given)) {
    throw new LikewiseError('bad-input', 'This model takes a picture: an encoded file or raw pixels.');
  }
  return layOn(await toPixels(given), background);
}

/** The shape of one input: batch 1, then the contract's height, width and channels. */
function pictureShape(name: string, { inputs }: Inputs): readonly [1, number, number, number] {
  const [, height, width, channels] = inputs.find(input => input.name === name)?.shape ?? [];
  if (typeof height !== 'number' || typeof width !== 'number' || typeof channels !== 'number') {
    throw new LikewiseError('bad-contract', `${name}: shape must be [batch, height, width, channels]`);
  }
  return [1, height, width, channels];
}

function tensor(name: string, shape: readonly number[], data: Uint8Array<ArrayBuffer>): TensorData {
  return { name, dtype: 'uint8', shape, data };
}
