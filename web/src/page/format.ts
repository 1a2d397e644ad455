// Numbers as people read them: rounded with care, never without a unit.

/** Between a number and its unit, so that no line ends between them. */
const NB = '\u00a0';
const MEGA = 1_000_000;
const KILO = 1_000;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Bytes in the unit that suits them: "318 bytes", "4.1 kB", "3.9 MB". */
export function bytes(count: number): string {
  if (count >= MEGA / 10) return `${megabytes(count)}${NB}MB`;
  if (count >= KILO) return `${(count / KILO).toFixed(1)}${NB}kB`;
  return `${count}${NB}${count === 1 ? 'byte' : 'bytes'}`;
}

/** How far a download is: "1.2 of 3.9 MB". */
export function progress(done: number, total: number): string {
  if (total >= MEGA / 10) return `${megabytes(done)} of ${megabytes(total)}${NB}MB`;
  return `${(done / KILO).toFixed(1)} of ${(total / KILO).toFixed(1)}${NB}kB`;
}

/** A duration: "4.1 ms", "312 ms", "1.25 s". */
export function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms >= 10_000 ? 1 : 2)}${NB}s`;
  return `${ms.toFixed(ms < 10 ? 1 : 0)}${NB}ms`;
}

/** A probability in per cent. What is not certain is never rounded to certainty, either way. */
export function percent(share: number, digits = 1): string {
  const least = 10 ** -digits;
  const shown = share * 100;
  if (shown > 0 && shown < least / 2) return `< ${least}${NB}%`;
  if (shown < 100 && shown > 100 - least / 2) return `> ${(100 - least).toFixed(digits)}${NB}%`;
  return `${trimmed(shown, digits)}${NB}%`;
}

/** A difference of probabilities: "0", "0.20", "1.6 × 10⁻⁶". */
export function difference(value: number): string {
  if (value === 0) return '0';
  if (value >= 0.01) return value.toFixed(2);
  const [mantissa, exponent] = value.toExponential(1).split('e');
  return `${mantissa}${NB}×${NB}10${superscript(Number(exponent))}`;
}

/** A cosine, cut and never rounded up: "0.973", "0.999999"; 1 is only what is 1. */
export function likeness(cosine: number): string {
  return String(Math.floor(cosine * 1e6) / 1e6);
}

/** A count with thousands separated: "2,000". */
export function count(value: number): string {
  return value.toLocaleString('en-GB');
}

/** The middle of the values; 0 of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function megabytes(value: number): string {
  const mega = value / MEGA;
  return mega.toFixed(mega < 1 ? 2 : 1);
}

function trimmed(value: number, digits: number): string {
  return value === 0 || value === 100 ? value.toFixed(0) : value.toFixed(digits);
}

function superscript(value: number): string {
  const digits = [...String(Math.abs(value))].map(digit => SUPERSCRIPTS[Number(digit)]);
  return (value < 0 ? '⁻' : '') + digits.join('');
}
