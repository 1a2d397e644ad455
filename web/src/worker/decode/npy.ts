// NumPy's .npy files: docs/decoders.md, "Tensors". Format: numpy.lib.format, versions 1.0 to 3.0.
import { LikewiseError } from '../../shared/errors';
import { countOf, type Datatype, ITEM_BYTES, type TensorData } from '../../shared/tensors';

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] as const;

const DESCRIPTIONS: Readonly<Record<string, Datatype>> = {
  '|b1': 'bool',
  '|u1': 'uint8',
  '<i4': 'int32',
  '<i8': 'int64',
  '<f4': 'float32',
};

export function isNpy(bytes: Uint8Array): boolean {
  return MAGIC.every((value, i) => bytes[i] === value);
}

/** Throws bad-input for what contracts have no datatype for, Fortran order, and bytes too many or too few. */
export function parseNpy(bytes: Uint8Array<ArrayBuffer>, name: string): TensorData {
  const { header, start } = readHeader(bytes);
  const [, description = ''] = /'descr': *'([^']*)'/.exec(header) ?? [];
  const [, order] = /'fortran_order': *(True|False)/.exec(header) ?? [];
  const [, sizes] = /'shape': *\(([\d, ]*)\)/.exec(header) ?? [];
  const dtype = Object.hasOwn(DESCRIPTIONS, description) ? DESCRIPTIONS[description] : undefined;
  if (dtype === undefined) {
    const known = Object.keys(DESCRIPTIONS).join(', ');
    throw bad(`values of type "${description}"; it has to be one of ${known}`);
  }
  if (order !== 'False' || sizes === undefined) throw bad('it has to be in C order, with its shape');
  const shape = sizes.split(',').flatMap(size => (size.trim() === '' ? [] : [Number(size)]));
  const wanted = countOf(shape) * (ITEM_BYTES[dtype] ?? 0);
  const data = bytes.slice(start);
  if (data.length !== wanted)
    throw bad(`${data.length} bytes of values, shape [${shape.join(', ')}] has ${wanted}`);
  if (dtype === 'bool' && data.some(value => value > 1)) throw bad('a bool that is neither 0 nor 1');
  return { name, dtype, shape, data };
}

function readHeader(bytes: Uint8Array<ArrayBuffer>): { readonly header: string; readonly start: number } {
  const [major = 0, minor] = bytes.subarray(6, 8);
  if (![1, 2, 3].includes(major) || minor !== 0) throw bad(`version ${major}.${minor}, not 1.0 to 3.0`);
  const from = major === 1 ? 10 : 12;
  if (bytes.length < from) throw bad('it is cut short');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = from + (major === 1 ? view.getUint16(8, true) : view.getUint32(8, true));
  if (start > bytes.length) throw bad('it is cut short');
  return { header: new TextDecoder('latin1').decode(bytes.subarray(from, start)), start };
}

function bad(why: string): LikewiseError {
  return new LikewiseError('bad-input', `The .npy file: ${why}.`);
}
