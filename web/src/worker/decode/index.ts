// From what is given to the tensors that the model sees: docs/decoders.md, one section a kind.
import type { ModelInput } from '../../runtime/types';
import type { Contract } from '../../shared/contract';
import { LikewiseError, never } from '../../shared/errors';
import type { TensorData } from '../../shared/tensors';
import { decodeBytes } from './bytes';
import { toBlob } from './file';
import { decodeDrawing, decodeImage } from './picture';
import { decodeSound } from './sound';
import { decodeTable, rowOf } from './table';
import { decodeTensors } from './tensor';
import { decodeText, type Tokenize } from './text';

/**
 * `tokenize` is the contract's own, where it is of text. Throws what the decoders throw: bad-input, or of pictures
 * unsupported-picture, picture-too-large, broken-picture, canvas-lies, nothing-drawn.
 */
export async function decode(
  given: ModelInput,
  contract: Pick<Contract, 'name' | 'input' | 'inputs'>,
  tokenize: Tokenize | null,
): Promise<readonly TensorData[]> {
  const { input } = contract;
  switch (input.kind) {
    case 'image':
      return [await decodeImage(given, input, contract)];
    case 'drawing':
      return [await decodeDrawing(given, input, contract)];
    case 'table':
      return decodeTable(await rowOf(given), input);
    case 'bytes':
      return [await decodeBytes(toBlob(given), input)];
    case 'tensor':
      return decodeTensors(toBlob(given), contract);
    case 'text':
      if (tokenize === null)
        throw new LikewiseError('closed', `${contract.name}: its tokenizer is not loaded`);
      return decodeText(toBlob(given), input, tokenize);
    case 'sound':
      return [await decodeSound(toBlob(given), input)];
    default:
      return never(input);
  }
}
