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
  /** Some pixels may be transparent. */
  readonly hasAlpha: boolean;
  readonly exif: readonly ExifPlace[];
}

/** Where EXIF lies in the file: decoders are given the file without, since they disagree on whether to apply it. */
export interface ExifPlace {
  /** Its TIFF structure. */
  readonly tiff: Range;
  /** What to leave out or to overwrite, so that no decoder finds it. */
  readonly hide: Range & { readonly by: string };
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

export const MEDIA_TYPES = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const;

const MAX_PIXELS = 100_000_000;

/** Throws unsupported-picture, picture-too-large or broken-picture (cut short). */
export function readHeader(bytes: Uint8Array): Header {
  const header = readAny(bytes);
  const { width, height } = header;
  if (width === 0 || height === 0) throw broken(`${width} x ${height} pixels`);
  if (width * height > MAX_PIXELS) {
    const limit = MAX_PIXELS.toLocaleString('en');
    throw new LikewiseError('picture-too-large', `${width} x ${height} pixels, limit ${limit} in all.`);
  }
  return header;
}

export function unsupported(what: string): LikewiseError {
  return new LikewiseError(
    'unsupported-picture',
    `${what}: not supported, since decoders do not agree on it.`,
  );
}

export function broken(what: string): LikewiseError {
  return new LikewiseError('broken-picture', `The picture cannot be decoded whole: ${what}.`);
}

function readAny(bytes: Uint8Array): Header {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return readJpeg(bytes);
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return readPng(bytes);
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return readWebp(bytes);
  throw new LikewiseError('unsupported-picture', 'This is not a JPEG, PNG or WebP picture.');
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((value, i) => bytes[i] === value);
}

export function ascii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}
