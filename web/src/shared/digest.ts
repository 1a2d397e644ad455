import type { FileRef } from './contract';
import { LikewiseError } from './errors';

/** SHA-256 in lower-case hex, as contracts write it. */
export async function sha256(data: BufferSource): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) {
    throw new LikewiseError(
      'failed',
      'Files cannot be verified here: the page needs https, or http on localhost.',
    );
  }
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', data));
  return Array.from(hash, byte => byte.toString(16).padStart(2, '0')).join('');
}

/** Throws wrong-bytes naming the file and both values, unless these are the bytes that `ref` promises. */
export async function verify(data: Uint8Array<ArrayBuffer>, ref: FileRef): Promise<void> {
  if (data.length !== ref.size_bytes) throw wrongSize(ref, String(data.length));
  const actual = await sha256(data);
  if (actual !== ref.sha256) {
    throw new LikewiseError(
      'wrong-bytes',
      `${ref.file}: sha256 is ${actual}, the contract says ${ref.sha256}`,
    );
  }
}

export function wrongSize(ref: FileRef, actual: string): LikewiseError {
  return new LikewiseError(
    'wrong-bytes',
    `${ref.file}: ${actual} bytes came, the contract says ${ref.size_bytes}`,
  );
}
