// Files as bytes, text and JSON: docs/decoders.md reads them alike for every kind.
import { LikewiseError } from './errors';

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
