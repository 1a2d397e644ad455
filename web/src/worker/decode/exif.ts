// The orientation in EXIF: tag 0x0112 of the first directory, a number from 1 to 8.
import type { Header } from './header';

export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

const TAG = 0x0112;
const SHORT = 3;
const LONG = 4;
const ENTRY_BYTES = 12;

/** 1 (upright) where there is no EXIF or none that can be read. */
export function readOrientation(bytes: Uint8Array, { exif }: Pick<Header, 'exif'>): Orientation {
  const tiff = exif[0]?.tiff;
  if (tiff === undefined || tiff.to - tiff.from < 8) return 1;
  const view = new DataView(bytes.buffer, bytes.byteOffset + tiff.from, tiff.to - tiff.from);
  const order = view.getUint16(0);
  if (order !== 0x4949 && order !== 0x4d4d) return 1;
  return readDirectory(view, order === 0x4949);
}

/** The file without its EXIF, in pieces: no decoder may turn the picture a second time. */
export function withoutExif(bytes: Uint8Array<ArrayBuffer>, { exif }: Pick<Header, 'exif'>): BlobPart[] {
  const parts: BlobPart[] = [];
  let at = 0;
  for (const { hide } of exif) {
    parts.push(bytes.subarray(at, hide.from), hide.by);
    at = hide.to;
  }
  return [...parts, bytes.subarray(at)];
}

function readDirectory(view: DataView, little: boolean): Orientation {
  const start = view.getUint32(4, little);
  if (start + 2 > view.byteLength) return 1;
  const count = view.getUint16(start, little);
  for (let i = 0; i < count; i += 1) {
    const at = start + 2 + i * ENTRY_BYTES;
    if (at + ENTRY_BYTES > view.byteLength) return 1;
    if (view.getUint16(at, little) === TAG) return readValue(view, at, little);
  }
  return 1;
}

function readValue(view: DataView, at: number, little: boolean): Orientation {
  const type = view.getUint16(at + 2, little);
  const single = view.getUint32(at + 4, little) === 1;
  const value = type === SHORT ? view.getUint16(at + 8, little) : view.getUint32(at + 8, little);
  return single && (type === SHORT || type === LONG) && isOrientation(value) ? value : 1;
}

function isOrientation(value: number): value is Orientation {
  return value >= 1 && value <= 8;
}
