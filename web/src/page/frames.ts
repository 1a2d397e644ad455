// Probabilities over time: which parts are active, for how long.

export interface Part {
  readonly from: number;
  readonly to: number;
}

/** Seconds in which frames reach the threshold, and of how many in all. */
export function activeSeconds(
  probabilities: Float32Array,
  seconds: number,
  threshold: number,
): { readonly active: string; readonly whole: string } {
  const active = activeParts(probabilities, threshold).reduce((sum, { from, to }) => sum + to - from, 0);
  return { active: time(active * seconds), whole: time(probabilities.length * seconds) };
}

/** Runs of frames at or above the threshold; `to` is the frame behind the last. */
export function activeParts(probabilities: Float32Array, threshold: number): readonly Part[] {
  const parts: Part[] = [];
  const limit = Math.fround(threshold); // as Python compares, and as the graph has it
  let from = -1;
  for (let i = 0; i <= probabilities.length; i += 1) {
    const active = (probabilities[i] ?? -1) >= limit;
    if (active && from < 0) from = i;
    if (!active && from >= 0) {
      parts.push({ from, to: i });
      from = -1;
    }
  }
  return parts;
}

/** At most `most` values, each the highest of its share: no short peak is lost. */
export function highest(values: Float32Array, most: number): readonly number[] {
  const share = Math.max(1, Math.ceil(values.length / most));
  return Array.from({ length: Math.ceil(values.length / share) }, (_, i) =>
    Math.max(...values.subarray(i * share, (i + 1) * share)),
  );
}

export function time(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}
