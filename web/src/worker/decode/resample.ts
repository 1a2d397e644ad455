// The resampler "kaiser-polyphase", every operation as docs/decoders.md names it: only + - * / of float64, in the order
// written there, so that Python gives the same bits.
import { badInput } from '../../shared/errors';

const MAX_SAMPLES = 60_000_000;
/** Of the sine on either side. */
const ZEROS = 10;
const QUARTER_BETA_SQUARED = 6.25; // beta 5

/**
 * From `source` to `target` samples a second; `most`: no more than so many of the result. Throws bad-input when too many
 * would come out, or one is beyond float32.
 */
export function resample(
  samples: Float32Array,
  source: number,
  target: number,
  most: number = Number.POSITIVE_INFINITY,
): Float32Array {
  const common = greatestCommonDivisor(source, target);
  const up = target / common;
  const down = source / common;
  const count = Math.min(Math.ceil((samples.length * up) / down), most);
  if (count > MAX_SAMPLES) {
    throw badInput(`${count} samples at ${target} a second, limit ${MAX_SAMPLES}; give a part of it`);
  }
  if (up === down) return samples.subarray(0, count);
  const result = sum(samples, up, down, count);
  if (!result.every(Number.isFinite)) {
    throw badInput('The sound is too loud: resampled it is beyond float32; scale it to -1..1');
  }
  return result;
}

/** Each output summed from its earliest sample in reach to its latest. */
function sum(samples: Float32Array, up: number, down: number, count: number): Float32Array {
  const filter = coefficients(up, down);
  const half = filter.length - 1;
  const result = new Float32Array(count);
  for (let t = 0; t < count; t += 1) {
    const place = t * down;
    const last = Math.min(Math.floor((place + half) / up), samples.length - 1);
    let total = 0;
    for (let i = Math.max(0, Math.ceil((place - half) / up)); i <= last; i += 1) {
      total += (samples[i] ?? 0) * (filter[Math.abs(place - i * up)] ?? 0);
    }
    result[t] = total;
  }
  return result;
}

/** c[0 .. half] of the symmetric low-pass. */
function coefficients(up: number, down: number): Float64Array {
  const r = Math.max(up, down);
  const half = ZEROS * r;
  const raw = new Float64Array(half + 1);
  raw[0] = (Math.PI / r) * window(0, half);
  let total = raw[0];
  for (let m = 1; m <= half; m += 1) {
    const value = (sine(m, r) / m) * window(m, half);
    raw[m] = value;
    total += 2 * value;
  }
  return raw.map(value => (value / total) * up);
}

/** sin(pi m / r), by the first eighth of the circle alone. */
function sine(m: number, r: number): number {
  const folded = m % r;
  const k = Math.min(folded, r - folded);
  const sign = Math.floor(m / r) % 2 === 1 ? -1 : 1;
  if (4 * k > r) return sign * series((Math.PI * (r - 2 * k)) / (2 * r), 15);
  const angle = (Math.PI * k) / r;
  return sign * (angle * series(angle, 16));
}

/** Taylor's series of sin(a) / a (from an even number of terms) or cos(a) (an odd one). */
function series(angle: number, terms: number): number {
  const square = angle * angle;
  let total = 1;
  for (let n = terms; n > 0; n -= 2) total = 1 - (square / (n * (n + 1))) * total;
  return total;
}

/** Bessel's I0 of 5 sqrt(1 - (m / half)^2), by its power series. */
function window(m: number, half: number): number {
  const ratio = m / half;
  const square = QUARTER_BETA_SQUARED * (1 - ratio * ratio);
  let total = 1;
  for (let n = 25; n > 0; n -= 1) total = 1 + (square / (n * n)) * total;
  return total;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
