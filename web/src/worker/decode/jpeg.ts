import { ascii, broken, type ExifPlace, type Header, unsupported } from './header';

const END = 0xd9;
const SCAN = 0xda;
const APP1 = 0xe1;

type Size = Pick<Header, 'width' | 'height'>;

/** Reads all segments up to the end mark: a file without one was cut short. */
export function readJpeg(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const exif: ExifPlace[] = [];
  let size: Size | null = null;
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) throw broken('a JPEG segment is missing');
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // fill byte
      continue;
    }
    const to = at + 2 + view.getUint16(at + 2);
    if (isFrame(marker)) size = readFrame(view, at, marker);
    if (marker === APP1 && ascii(bytes, at + 4, at + 10) === 'Exif\0\0') {
      exif.push({ tiff: { from: at + 10, to }, hide: { from: at, to, by: '' } });
    }
    at = marker === SCAN ? nextMarker(bytes, to) : to;
    if (marker === SCAN && bytes[at + 1] === END && size !== null) {
      return { format: 'jpeg', ...size, hasAlpha: false, exif };
    }
  }
  throw broken('the JPEG ends before its end mark');
}

/** SOF0 to SOF15, without the three markers in between that are none. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function readFrame(view: DataView, at: number, marker: number): Size {
  if (at + 10 > view.byteLength) throw broken('the JPEG ends in its header');
  const bits = view.getUint8(at + 4);
  const channels = view.getUint8(at + 9);
  if (marker > 0xc2) throw unsupported('Lossless, hierarchical or arithmetic JPEG');
  if (bits !== 8) throw unsupported(`JPEG with ${bits} bits a channel`);
  if (channels !== 1 && channels !== 3) throw unsupported(`JPEG with ${channels} channels (CMYK)`);
  return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
}

/** Past the coded data: stuffed zeros and restart marks belong to it. */
function nextMarker(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(0xff, from);
  while (at >= 0) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
    at = bytes.indexOf(0xff, at + 1);
  }
  return bytes.length;
}
