import { ascii, broken, type Header, unsupported } from './header';

const SIGNATURE_BYTES = 8;
/** Length, type and checksum around each chunk's data. */
const FRAME_BYTES = 12;
const GREY_ALPHA = 4;
const RGBA = 6;

/** Walks all chunks: a file that does not reach IEND was cut short. */
export function readPng(bytes: Uint8Array): Header {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size: Omit<Header, 'format' | 'hasAlpha'> | null = null;
  let hasAlpha = false;
  let at = SIGNATURE_BYTES;
  while (at + FRAME_BYTES <= bytes.length) {
    const length = view.getUint32(at);
    const type = ascii(bytes, at + 4, at + 8);
    const data = at + 8;
    if (data + length + 4 > bytes.length) break;
    if (type === 'IHDR' && length >= 13) {
      size = { width: view.getUint32(data), height: view.getUint32(data + 4) };
      if (view.getUint8(data + 8) === 16) throw unsupported('PNG with 16 bits a channel');
      const colour = view.getUint8(data + 9);
      hasAlpha = colour === GREY_ALPHA || colour === RGBA;
    }
    if (type === 'tRNS') hasAlpha = true;
    if (type === 'IEND' && size !== null) return { format: 'png', ...size, hasAlpha };
    at = data + length + 4;
  }
  throw broken('the PNG ends before its end mark');
}
