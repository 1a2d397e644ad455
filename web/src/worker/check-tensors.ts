// Given tensors against the contract's inputs: before the graph sees them, and with names in the message.
import type { Contract, Tensor } from '../shared/contract';
import { badInput } from '../shared/errors';
import { countOf, ITEM_BYTES, type TensorData, unpackStrings } from '../shared/tensors';

type Declared = Pick<Contract, 'input' | 'inputs'>;

/** What a decoder gives: the graph's inputs without a stream's states, its samples as many as there are. */
export function decodedInputs({ input, inputs }: Declared): readonly Tensor[] {
  if (input.kind !== 'sound' || input.stream === null) return inputs;
  const states = new Set(input.stream.states.map(state => state.input));
  return inputs
    .filter(({ name }) => !states.has(name))
    .map(declared =>
      declared.name === input.tensor ? { ...declared, shape: ['batch', 'samples'] } : declared,
    );
}

/**
 * The tensors in the contract's order. Throws `bad-input` naming the tensor unless each of the contract's is there
 * once with its datatype, its shape (`batch` is 1, sizes of one name are equal) and as many bytes as that asks for.
 */
export function checkTensors(contract: Declared, given: readonly TensorData[]): readonly TensorData[] {
  const expected = decodedInputs(contract);
  const names = expected.map(({ name }) => name);
  const surplus = given.find(({ name }) => !names.includes(name));
  if (surplus) throw badInput(`${surplus.name}: no input of the model; its inputs: ${names.join(', ')}`);
  const sizes = new Map([['batch', 1]]);
  return expected.map(declared => {
    const [tensor, second] = given.filter(({ name }) => name === declared.name);
    if (tensor === undefined) throw badInput(`${declared.name}: is not given`);
    if (second !== undefined) throw badInput(`${declared.name}: is given twice`);
    if (tensor.dtype !== declared.dtype) {
      throw badInput(`${declared.name}: is ${tensor.dtype}, the contract says ${declared.dtype}`);
    }
    if (!fits(tensor.shape, declared.shape, sizes)) {
      const shapes = `${shown(tensor.shape)}, the contract says ${shown(declared.shape ?? [])}`;
      const known = [...sizes].map(([name, size]) => `${name} = ${size}`).join(', ');
      throw badInput(`${declared.name}: its shape is ${shapes} with ${known}`);
    }
    checkBytes(tensor);
    return tensor;
  });
}

/** Names get their size where they come first. */
function fits(shape: readonly number[], declared: Tensor['shape'], sizes: Map<string, number>): boolean {
  if (!shape.every(size => Number.isSafeInteger(size) && size >= 0)) return false;
  if (declared === null) return true;
  if (declared.length !== shape.length) return false;
  return declared.every((wanted, axis) => {
    const size = shape[axis] ?? 0;
    if (wanted === null) return true;
    if (typeof wanted === 'number') return size === wanted;
    if (!sizes.has(wanted)) sizes.set(wanted, size);
    return sizes.get(wanted) === size;
  });
}

function checkBytes({ name, dtype, shape, data }: TensorData): void {
  const count = countOf(shape);
  const itemBytes = ITEM_BYTES[dtype];
  const [got, wanted] =
    itemBytes === null ? [unpackStrings(data).length, count] : [data.length, count * itemBytes];
  const what = itemBytes === null ? 'strings' : 'bytes';
  if (got !== wanted) throw badInput(`${name}: ${got} ${what} given, shape ${shown(shape)} has ${wanted}`);
}

function shown(shape: readonly (number | string | null)[]): string {
  return `[${shape.map(size => size ?? '?').join(', ')}]`;
}
