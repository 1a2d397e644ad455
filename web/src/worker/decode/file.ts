// What is given, as a file or as text.
import type { ModelInput, Row } from '../../runtime/types';
import { LikewiseError } from '../../shared/errors';

/** A text is the file that holds it as UTF-8. Throws bad-input for what is no file. */
export function toBlob(given: ModelInput): Blob {
  if (given instanceof Blob) return given;
  if (typeof given === 'string') return new Blob([given]);
  throw new LikewiseError('bad-input', 'This model takes a file.');
}

export function isRow(given: ModelInput): given is Row {
  if (typeof given === 'string' || given instanceof Blob) return false;
  return typeof ImageData === 'undefined' || !(given instanceof ImageData);
}
