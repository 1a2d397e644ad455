// Tensors as they are, from .npy or from JSON as the v2 protocol has it: docs/decoders.md, "Tensors".
import type { Contract } from '../../shared/contract';
import { badInput, never } from '../../shared/errors';
import {
  countOf,
  type Datatype,
  float32Tensor,
  fromV2,
  int64Tensor,
  stringTensor,
  type TensorData,
  V2_DATATYPES,
} from '../../shared/tensors';
import { looksLikeJson, parseJson, readBytes, toText } from '../../shared/text-file';
import { checkTensors } from '../check-tensors';
import { isNpy, parseNpy } from './npy';

type Declared = Pick<Contract, 'input' | 'inputs'>;

/** Half of a pair, which has no UTF-8. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const RANGES = {
  bool: [0, 1],
  uint8: [0, 255],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
} as const;

/** In the order of the contract's inputs; throws bad-input naming the tensor and what is wrong with it. */
export async function decodeTensors(file: Blob, contract: Declared): Promise<readonly TensorData[]> {
  const bytes = await readBytes(file);
  if (isNpy(bytes)) return checkTensors(contract, [parseNpy(bytes, onlyName(contract))]);
  const text = toText(bytes);
  if (!looksLikeJson(text)) throw badInput('The file is neither .npy nor a JSON object.');
  return checkTensors(contract, inputsOf(parseJson(text)).map(toTensor));
}

function onlyName({ inputs }: Declared): string {
  if (inputs.length > 1) {
    const names = inputs.map(({ name }) => name).join(', ');
    throw badInput(`An .npy file holds one tensor; the model takes ${inputs.length}: ${names}. Give JSON.`);
  }
  return inputs[0].name;
}

function inputsOf(body: unknown): readonly unknown[] {
  const inputs = typeof body === 'object' && body !== null && 'inputs' in body ? body.inputs : null;
  if (!Array.isArray(inputs)) throw badInput('inputs: has to be a list of tensors');
  return inputs;
}

function toTensor(value: unknown): TensorData {
  const { name, datatype, shape, data } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name !== 'string') throw badInput('inputs: a tensor has no name');
  const dtype = fromV2(datatype);
  if (dtype === undefined) {
    throw badInput(
      `${name}: datatype ${String(datatype)}; it has to be one of ${Object.values(V2_DATATYPES).join(', ')}`,
    );
  }
  if (!isShape(shape)) throw badInput(`${name}: shape has to be a list of whole numbers`);
  if (!Array.isArray(data)) throw badInput(`${name}: data has to be a list`);
  const values = flat(data);
  if (values.length !== countOf(shape)) {
    throw badInput(
      `${name}: ${values.length} values given, shape [${shape.join(', ')}] has ${countOf(shape)}`,
    );
  }
  return pack(name, dtype, shape, values);
}

/** Not by recursion: how deep lists are nested is the sender's choice. */
function flat(data: readonly unknown[]): readonly unknown[] {
  let values = data;
  while (values.some(Array.isArray)) values = values.flat();
  return values;
}

function pack(
  name: string,
  dtype: Datatype,
  shape: readonly number[],
  values: readonly unknown[],
): TensorData {
  switch (dtype) {
    case 'float32':
      return float32Tensor(
        name,
        values.map((value, i) => toFloat(name, value, i)),
        shape,
      );
    case 'string':
      return stringTensor(
        name,
        values.map((value, i) => toWords(name, value, i)),
        shape,
      );
    case 'int64':
      return int64Tensor(name, integers(name, dtype, values), shape);
    case 'int32':
      return {
        name,
        dtype,
        shape,
        data: new Uint8Array(Int32Array.from(integers(name, dtype, values)).buffer),
      };
    case 'bool':
    case 'uint8':
      return { name, dtype, shape, data: Uint8Array.from(integers(name, dtype, values)) };
    default:
      return never(dtype);
  }
}

/** Minus zero becomes zero before anything is rounded: readers of JSON disagree on it. */
function toFloat(name: string, value: unknown, i: number): number {
  const number = typeof value === 'number' ? Math.fround(value + 0) : Number.NaN;
  if (!Number.isFinite(number)) throw badInput(`${name}: value ${i} is ${JSON.stringify(value)}, no float32`);
  return number;
}

function integers(name: string, dtype: keyof typeof RANGES, values: readonly unknown[]): readonly number[] {
  const [least, most] = RANGES[dtype];
  return values.map((value, i) => {
    const number = dtype === 'bool' && typeof value === 'boolean' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > most) {
      const range = `whole and in ${least}..${most}`;
      throw badInput(`${name}: value ${i} is ${JSON.stringify(value)}; ${dtype} has to be ${range}`);
    }
    return number + 0;
  });
}

function toWords(name: string, value: unknown, i: number): string {
  if (typeof value === 'string' && !LONE_SURROGATE.test(value)) return value;
  throw badInput(`${name}: value ${i} is ${JSON.stringify(value)}, no well-formed string`);
}

function isShape(shape: unknown): shape is readonly number[] {
  return Array.isArray(shape) && shape.every(size => Number.isSafeInteger(size) && size >= 0);
}
