import { ascii, broken, type ExifPlace, type Header } from './header';

const RIFF_HEADER_BYTES = 12;
/** Some writers put JPEG's prefix before the TIFF structure. */
const EXIF_PREFIX = 'Exif\0\0';

type Size = Pick<Header, 'width' | 'height'>;

/** Walks all chunks up to the RIFF's length: a shorter file was cut short. */
export function readWebp(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length < RIFF_HEADER_BYTES ? 0 : 8 + view.getUint32(4, true);
  if (end > bytes.length) throw broken('the WebP is shorter than it says');
  const exif: ExifPlace[] = [];
  let size: Size | null = null;
  let hasPixels = false;
  let hasAlpha = false;
  for (let at = RIFF_HEADER_BYTES; at + 8 <= end; ) {
    const type = ascii(bytes, at, at + 4);
    const from = at + 8;
    const to = from + view.getUint32(at + 4, true);
    if (to > end) throw broken('a WebP chunk is shorter than it says');
    if (type in SIZES && to - from >= 10) size ??= (SIZES[type] ?? lossless)(view, from);
    hasPixels ||= type === 'VP8 ' || type === 'VP8L' || type === 'ANMF';
    hasAlpha ||= type === 'ALPH' || type === 'VP8L' || type === 'ANMF';
    if (type === 'EXIF') exif.push(exifPlace(bytes, at, from, to));
    at = to + ((to - from) % 2);
  }
  if (size === null || !hasPixels) throw broken('the WebP has no picture');
  return { format: 'webp', ...size, hasAlpha, exif };
}

const SIZES: Readonly<Record<string, (view: DataView, from: number) => Size>> = {
  VP8X: (view, from) => ({ width: 1 + uint24(view, from + 4), height: 1 + uint24(view, from + 7) }),
  'VP8 ': (view, from) => ({
    width: view.getUint16(from + 6, true) & 0x3fff,
    height: view.getUint16(from + 8, true) & 0x3fff,
  }),
  VP8L: lossless,
};

function lossless(view: DataView, from: number): Size {
  const bits = view.getUint32(from + 1, true);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + 0x10000 * view.getUint8(at + 2);
}

/** Renamed rather than taken out: so the lengths in the file stay true. */
function exifPlace(bytes: Uint8Array, at: number, from: number, to: number): ExifPlace {
  const prefix = ascii(bytes, from, from + EXIF_PREFIX.length) === EXIF_PREFIX ? EXIF_PREFIX.length : 0;
  return { tiff: { from: from + prefix, to }, hide: { from: at, to: at + 4, by: 'NONE' } };
}
