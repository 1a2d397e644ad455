// The weights of Pillow's resampling filters: libImaging/Resample.c, precompute_coeffs and normalize_coeffs_8bpc.

export type Filter = 'bilinear' | 'bicubic' | 'lanczos' | 'box';

/** Weights are integers with so many fractional bits. */
export const PRECISION_BITS = 22;

/** For output positions `from` .. `from + count - 1`: where their source pixels begin, how many, what they weigh. */
export interface Weights {
  readonly starts: Int32Array;
  readonly lengths: Int32Array;
  /** `width` weights per output position, of which `lengths` count. */
  readonly values: Int32Array;
  readonly width: number;
}

interface Shape {
  readonly support: number;
  readonly weigh: (x: number) => number;
}

const FILTERS: Readonly<Record<Filter, Shape>> = {
  box: { support: 0.5, weigh: x => (x > -0.5 && x <= 0.5 ? 1 : 0) },
  bilinear: { support: 1, weigh: x => Math.max(0, 1 - Math.abs(x)) },
  bicubic: { support: 2, weigh: bicubic },
  lanczos: { support: 3, weigh: x => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
};

export function weigh(filter: Filter, inSize: number, outSize: number, from: number, count: number): Weights {
  const shape = FILTERS[filter];
  const scale = inSize / outSize;
  const filterScale = Math.max(scale, 1);
  const support = shape.support * filterScale;
  const width = Math.ceil(support) * 2 + 1;
  const starts = new Int32Array(count);
  const lengths = new Int32Array(count);
  const values = new Int32Array(count * width);
  const exact = new Float64Array(width);
  for (let i = 0; i < count; i += 1) {
    const centre = (from + i + 0.5) * scale;
    const start = Math.max(0, Math.trunc(centre - support + 0.5));
    const length = Math.min(inSize, Math.trunc(centre + support + 0.5)) - start;
    let sum = 0;
    for (let k = 0; k < length; k += 1) {
      // The reciprocal first, as Pillow does: it is not the same as a division.
      const weight = shape.weigh((k + start - centre + 0.5) * (1 / filterScale));
      exact[k] = weight;
      sum += weight;
    }
    for (let k = 0; k < length; k += 1) values[i * width + k] = toFixed((exact[k] ?? 0) / (sum || 1));
    starts[i] = start;
    lengths[i] = length;
  }
  return { starts, lengths, values, width };
}

/** Halves away from zero. */
function toFixed(weight: number): number {
  return Math.trunc(weight * 2 ** PRECISION_BITS + (weight < 0 ? -0.5 : 0.5));
}

function bicubic(value: number): number {
  const a = -0.5;
  const x = Math.abs(value);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}
