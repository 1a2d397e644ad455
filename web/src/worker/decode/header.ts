// What a picture file says of itself, read before anything decodes it: docs/decoders.md, step 1.
import { LikewiseError } from '../../shared/errors';
import { readJpeg } from './jpeg';
import { readPng } from './png';
import { readWebp } from './webp';

export interface Header {
  readonly format: 'jpeg' | 'png' | 'webp';
  /** As stored, before any turn. */
  readonly width: number;
  readonly height: number;
  /** False: no pixel is transparent. True: some may be. */
  readonly hasAlpha: boolean;
}

export const MEDIA_TYPES = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const;

const MAX_PIXELS = 100_000_000;

/** Throws unsupported-picture, picture-too-large or broken-picture (cut short). */
export function readHeader(bytes: Uint8Array): Header {
  const header = readAny(bytes);
  const { width, height } = header;
  if (width === 0 || height === 0) throw broken(`${width} x ${height} pixels`);
  if (width * height > MAX_PIXELS) {
    const pixels = (width * height).toLocaleString('en');
    const limit = MAX_PIXELS.toLocaleString('en');
    throw new LikewiseError('picture-too-large', `${width} x ${height}: ${pixels} pixels, limit ${limit}`);
  }
  return header;
}

export function unsupported(what: string): LikewiseError {
  return new LikewiseError('unsupported-picture', `${what} is not supported; JPEG, PNG and WebP are.`);
}

export function broken(what: string): LikewiseError {
  return new LikewiseError('broken-picture', `The picture cannot be decoded whole: ${what}.`);
}

function readAny(bytes: Uint8Array): Header {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return readJpeg(bytes);
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return readPng(bytes);
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return readWebp(bytes);
  throw unsupported('This file');
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((value, i) => bytes[i] === value);
}

export function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
