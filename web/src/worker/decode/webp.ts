import { ascii, broken, type Header, unsupported } from './header';

const RIFF_HEADER_BYTES = 12;

type Size = Omit<Header, 'format' | 'hasAlpha'>;

/** Walks all chunks up to the RIFF's length: a shorter file was cut short. */
export function readWebp(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 8 + view.getUint32(4, true);
  if (end > bytes.length) throw broken('the WebP is shorter than it says');
  let canvas: Size | null = null;
  let picture: Size | null = null;
  let hasAlpha = false;
  for (let at = RIFF_HEADER_BYTES; at + 8 <= end; ) {
    const type = ascii(bytes, at, at + 4);
    const length = view.getUint32(at + 4, true);
    const data = at + 8;
    if (data + length > end) throw broken('a WebP chunk is shorter than it says');
    if (type === 'VP8X') canvas = { width: 1 + uint24(view, data + 4), height: 1 + uint24(view, data + 7) };
    if (type === 'VP8 ') picture ??= lossy(view, data);
    if (type === 'VP8L') picture ??= lossless(view, data);
    hasAlpha ||= type === 'ALPH' || type === 'ANMF' || (type === 'VP8L' && isLosslessAlpha(view, data));
    at = data + length + (length % 2);
  }
  const size = canvas ?? picture;
  if (size === null) throw unsupported('WebP without a picture');
  return { format: 'webp', ...size, hasAlpha };
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + 0x10000 * view.getUint8(at + 2);
}

function lossy(view: DataView, data: number): Size {
  return { width: view.getUint16(data + 6, true) & 0x3fff, height: view.getUint16(data + 8, true) & 0x3fff };
}

function lossless(view: DataView, data: number): Size {
  const bits = view.getUint32(data + 1, true);
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
}

function isLosslessAlpha(view: DataView, data: number): boolean {
  return (view.getUint32(data + 1, true) & 0x10000000) !== 0;
}
