// RIFF WAVE, read whole or refused: docs/decoders.md, "Sound".
import { badInput } from '../../shared/errors';

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
const BITS: Readonly<Record<number, readonly number[]>> = { [PCM]: [8, 16, 24, 32], [FLOAT]: [32, 64] };
/** Of an extensible format's GUID, all but the first two bytes. */
const SUBFORMAT_TAIL = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
const RATES = { least: 1_000, most: 384_000 };
const MAX_FRAMES = 60_000_000;
const WAY_OUT = 'save it as WAV with 16 bits PCM';

interface Format {
  readonly tag: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
}

/** Sound as one float32 array, frame after frame. */
export interface Wave {
  readonly rate: number;
  readonly channels: number;
  readonly samples: Float32Array;
}

/** Throws bad-input saying what is missing or not supported. */
export function readWav(bytes: Uint8Array<ArrayBuffer>): Wave {
  if (text(bytes, 0, 4) !== 'RIFF' || text(bytes, 8, 12) !== 'WAVE')
    throw badInput(`Not a WAV file; ${WAY_OUT}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let format: Format | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const kind = text(bytes, at, at + 4);
    const start = at + 8;
    const size = view.getUint32(at + 4, true);
    if (start + size > bytes.length) {
      throw badInput(
        `The WAV is cut short: its chunk "${kind}" says ${size} bytes, ${bytes.length - start} are there; save or fetch it anew`,
      );
    }
    const chunk = new DataView(bytes.buffer, bytes.byteOffset + start, size);
    if (kind === 'fmt ') format ??= readFormat(chunk);
    if (kind === 'data') {
      if (format === null) throw badInput(`The WAV's "data" comes before its "fmt "; ${WAY_OUT}`);
      return { rate: format.rate, channels: format.channels, samples: readSamples(chunk, format) };
    }
    at = start + size + (size % 2);
  }
  throw badInput(`The WAV of ${bytes.length} bytes ends before its "data"; save it anew`);
}

function readFormat(chunk: DataView): Format {
  if (chunk.byteLength < 16)
    throw badInput(`The WAV's "fmt " has ${chunk.byteLength} bytes, 16 at least; ${WAY_OUT}`);
  const tag = chunk.getUint16(0, true) === EXTENSIBLE ? subformat(chunk) : chunk.getUint16(0, true);
  const channels = chunk.getUint16(2, true);
  const rate = chunk.getUint32(4, true);
  const frameBytes = chunk.getUint16(12, true);
  const bits = chunk.getUint16(14, true);
  if (BITS[tag]?.includes(bits) !== true) {
    throw badInput(
      `WAV of format ${tag} with ${bits} bits: not supported (PCM of 8, 16, 24 or 32 bits, float of 32 or 64); ${WAY_OUT}`,
    );
  }
  if (channels === 0 || frameBytes !== (channels * bits) / 8) {
    throw badInput(
      `The WAV says ${frameBytes} bytes a frame for ${channels} channels of ${bits} bits; ${WAY_OUT}`,
    );
  }
  if (rate < RATES.least || rate > RATES.most) {
    throw badInput(`${rate} samples a second, ${RATES.least} to ${RATES.most} are supported`);
  }
  return { tag, channels, rate, bits };
}

function subformat(chunk: DataView): number {
  const known = chunk.byteLength >= 40 && SUBFORMAT_TAIL.every((byte, i) => chunk.getUint8(26 + i) === byte);
  if (!known) throw badInput(`WAV of an extensible format that is neither PCM nor float; ${WAY_OUT}`);
  return chunk.getUint16(24, true);
}

function readSamples(chunk: DataView, { tag, channels, bits }: Format): Float32Array {
  const frameBytes = (channels * bits) / 8;
  const frames = chunk.byteLength / frameBytes;
  if (!Number.isInteger(frames)) {
    throw badInput(
      `The WAV is cut short: ${chunk.byteLength} bytes of data are no whole number of frames of ${frameBytes} bytes; save it anew`,
    );
  }
  if (frames === 0) throw badInput('The WAV holds no sound; record at least one sample');
  if (frames > MAX_FRAMES)
    throw badInput(`${frames} frames of sound, limit ${MAX_FRAMES}; give a part of it`);
  const read = reader(chunk, tag, bits);
  const samples = new Float32Array(frames * channels);
  for (let i = 0; i < samples.length; i += 1) samples[i] = read((i * bits) / 8);
  if (tag === FLOAT) checkFinite(samples);
  return samples;
}

/** Of a sample's first byte its value; storing it rounds to float32, once. */
function reader(chunk: DataView, tag: number, bits: number): (at: number) => number {
  switch (bits) {
    case 8:
      return at => (chunk.getUint8(at) - 128) / 2 ** 7;
    case 16:
      return at => chunk.getInt16(at, true) / 2 ** 15;
    case 24:
      return at => (chunk.getUint16(at, true) + chunk.getInt8(at + 2) * 2 ** 16) / 2 ** 23;
    case 32:
      return tag === FLOAT ? at => chunk.getFloat32(at, true) : at => chunk.getInt32(at, true) / 2 ** 31;
    default:
      return at => chunk.getFloat64(at, true);
  }
}

function checkFinite(samples: Float32Array): void {
  const wrong = samples.findIndex(sample => !Number.isFinite(sample));
  if (wrong >= 0) throw badInput(`Sample ${wrong} of the WAV is no finite float32; ${WAY_OUT}`);
}

function text(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, end));
}
