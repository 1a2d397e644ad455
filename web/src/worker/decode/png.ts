import { crc32 } from './crc32';
import { ascii, broken, type ExifPlace, type Header, unsupported } from './header';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum around each chunk's data. */
const FRAME_BYTES = 12;
const GREY = 0;
const GREY_ALPHA = 4;
const RGBA = 6;

interface Start {
  readonly width: number;
  readonly height: number;
  readonly bits: number;
  readonly colour: number;
}

/** Walks all chunks: a file that does not reach IEND was cut short. */
export function readPng(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const seen = new Set<string>();
  const exif: ExifPlace[] = [];
  let start: Start | null = null;
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= bytes.length; ) {
    const length = view.getUint32(at);
    const type = ascii(bytes, at + 4, at + 8);
    const from = at + 8;
    const to = from + length;
    const next = to + 4;
    if (next > bytes.length) break;
    // Picture data is left to the decoder, which checks it in any case.
    if (type !== 'IDAT' && type !== 'fdAT' && crc32(bytes.subarray(at + 4, to)) !== view.getUint32(to)) {
      throw broken(`the PNG's chunk ${type} is damaged`);
    }
    if (type === 'IHDR' && length >= 13) start ??= readStart(view, from);
    if (type === 'eXIf') exif.push({ tiff: { from, to }, hide: { from: at, to: next, by: '' } });
    if (type === 'fcTL' && seen.has('IDAT') && !seen.has('fcTL'))
      throw unsupported('Animated PNG with a cover');
    if (type === 'IEND' && start !== null) return { ...accepted(start, seen), exif };
    seen.add(type);
    at = next;
  }
  throw broken('the PNG ends before its end mark');
}

function readStart(view: DataView, from: number): Start {
  return {
    width: view.getUint32(from),
    height: view.getUint32(from + 4),
    bits: view.getUint8(from + 8),
    colour: view.getUint8(from + 9),
  };
}

function accepted({ width, height, bits, colour }: Start, seen: ReadonlySet<string>): Omit<Header, 'exif'> {
  const transparency = seen.has('tRNS');
  if (bits === 16) throw unsupported('PNG with 16 bits a channel');
  if (transparency && colour === GREY && (bits === 2 || bits === 4)) {
    throw unsupported(`Grey PNG with ${bits} bits a pixel and a transparent grey`);
  }
  return { format: 'png', width, height, hasAlpha: colour === GREY_ALPHA || colour === RGBA || transparency };
}
