// Evidence in words: one line for the model's page, names and values for the table.

import type { Evidence, Measurement } from '../shared/evidence';
import * as format from './format';

export const WHAT: Readonly<Record<Measurement['what'], string>> = {
  accuracy: 'Right answers',
  accuracy_loss_points: 'Right answers lost',
  batch_difference: 'Difference between alone and in a batch',
  cosine: "Likeness to the judge's vector (cosine)",
  differing_input_bytes: 'Differing bytes of the input',
  label_agreement: 'Same answer as the judge',
  max_difference: 'Largest difference of an output',
  paired_p_value: 'Chance that the loss is chance (paired test)',
  p95_ms: '95 of 100 runs end within',
  size_mb: 'Size',
  size_vs_fp32: 'Size against fp32',
  time_vs_fp32: 'Time against fp32',
  median_ms: 'Median time of a run',
};

export const WHERE: Readonly<Record<Measurement['where'], string>> = {
  publication: 'Files',
  'python-cpu': 'Python, CPU',
  'chromium-wasm-1-thread': 'Browser, wasm, 1 thread',
  'chromium-wasm-2-threads': 'Browser, wasm, 2 threads',
  'chromium-webgpu': 'Browser, WebGPU',
};

/** A measured value or a limit, with its unit. */
export function measured(what: Measurement['what'], value: number): string {
  switch (what) {
    case 'accuracy':
    case 'label_agreement':
      return format.percent(value, 2);
    case 'accuracy_loss_points':
      return `${value.toFixed(2)} points`;
    case 'differing_input_bytes':
      return `${format.count(value)} ${value === 1 ? 'byte' : 'bytes'}`;
    case 'batch_difference':
    case 'max_difference':
      return format.difference(value);
    case 'cosine':
      return format.likeness(value);
    case 'paired_p_value':
      return value < 0.001 ? '< 0.001' : value.toFixed(3);
    case 'size_mb':
      return `${value.toFixed(value < 1 ? 3 : 1)} MB`;
    case 'size_vs_fp32':
    case 'time_vs_fp32':
      return `${value.toFixed(2)} times`;
    case 'median_ms':
    case 'p95_ms':
      return format.duration(value);
    default:
      return what satisfies never;
  }
}

/** "(98.8-99.6)": the 95 % interval of a value, in the value's own unit; '' where none was measured. */
export function interval({ what, low, high }: Measurement): string {
  if (low == null || high == null) return '';
  const [least, most] = [low, high].map(end => measured(what, end).split('\u00a0')[0]);
  return `(${least}-${most})`;
}

export interface Judged {
  readonly limits: number;
  readonly held: number;
}

export function judged(measurements: readonly Measurement[]): Judged {
  const limited = measurements.filter(({ passed }) => passed !== null && passed !== undefined);
  return { limits: limited.length, held: limited.filter(({ passed }) => passed === true).length };
}

/** "2,000 of 2,000 inputs equal byte for byte; 99.9 % of answers as the judge's." Only what was measured. */
export function summary({ measurements }: Evidence, variant: string | null): string {
  const { limits, held } = judged(measurements);
  const parts = [
    inputs(measurements),
    agreement(measurements, variant),
    likeness(measurements, variant),
    `${held} of ${limits} limits held`,
    held < limits ? 'where one was missed, the variant is not offered' : null,
  ];
  return parts.filter(part => part !== null).join('; ');
}

function inputs(measurements: readonly Measurement[]): string | null {
  const equal = widest(
    measurements.filter(({ what, where }) => what === 'differing_input_bytes' && inBrowser(where)),
  );
  if (equal === null) return null;
  const differ =
    equal.value === 0 ? 'equal byte for byte' : `with ${format.count(equal.value)} differing bytes`;
  return `${format.count(equal.count)} input tensors ${differ} in the browser`;
}

function agreement(measurements: readonly Measurement[], variant: string | null): string | null {
  const own = measurements.filter(({ what, where }) => what === 'label_agreement' && inBrowser(where));
  const mine = own.filter(m => variant === null || m.variant === variant);
  // Golden examples were chosen; labelled data tell how it does on what comes.
  const labelled = mine.filter(({ data }) => data === 'labelled data');
  const agreed = widest(labelled.length > 0 ? labelled : mine);
  if (agreed === null) return null;
  return `${format.percent(agreed.value, 2)} of ${format.count(agreed.count)} answers as the judge's`;
}

/** Of vectors, which have no best label to agree on. */
function likeness(measurements: readonly Measurement[], variant: string | null): string | null {
  const own = measurements.filter(({ what, where }) => what === 'cosine' && inBrowser(where));
  const least = widest(own.filter(m => variant === null || m.variant === variant));
  if (least === null) return null;
  return `cosine of at least ${format.likeness(least.value)} to the judge's vector on ${format.count(least.count)} inputs`;
}

/** The value to judge a variant by: the least of what should be much, the most of what should be little. */
export function worst(what: Measurement['what'], measurements: readonly Measurement[]): number | null {
  if (measurements.length === 0) return null;
  const values = measurements.map(({ value }) => value);
  const much = BETTER_HIGH.has(what);
  return much ? Math.min(...values) : Math.max(...values);
}

/** The more of it the better; of all others the less. */
const BETTER_HIGH: ReadonlySet<Measurement['what']> = new Set([
  'accuracy',
  'cosine',
  'label_agreement',
  'paired_p_value',
]);

const inBrowser = (where: Measurement['where']): boolean => where.startsWith('chromium');

/** Over most inputs, the worst value of any place (all of one kind). */
function widest(measurements: readonly Measurement[]): Pick<Measurement, 'count' | 'value'> | null {
  const count = Math.max(0, ...measurements.map(m => m.count));
  const widestOnes = measurements.filter(m => m.count === count);
  const first = widestOnes[0];
  if (first === undefined) return null;
  return { count, value: worst(first.what, widestOnes) ?? first.value };
}
