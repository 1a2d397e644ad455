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

export async function readBytes(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.arrayBuffer());
}

/** Text of a UTF-8 file, without a byte order mark at its beginning. Throws bad-input for other bytes. */
export function toText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new LikewiseError('bad-input', 'The file is no UTF-8 text.');
  }
}

/** Whether it begins as a JSON object does. */
export function looksLikeJson(text: string): boolean {
  return /^[\t-\r ]*\{/.test(text);
}

/** The value of a JSON text. Throws bad-input saying where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LikewiseError(
      'bad-input',
      `The file is no JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
}
