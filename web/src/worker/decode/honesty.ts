// Some browsers answer with changed pixels, silently, to make fingerprints useless. Then no answer is right.
import { LikewiseError } from '../../shared/errors';

const SIDE = 64;

let verdict: 'honest' | 'lies' | null = null;

/** Throws canvas-lies unless a 2D canvas gives back what was put into it. */
export function checkCanvas(): void {
  verdict ??= returnsWhatItGot() ? 'honest' : 'lies';
  if (verdict === 'lies') throw canvasLies('A canvas');
}

export function canvasLies(what: string): LikewiseError {
  return new LikewiseError(
    'canvas-lies',
    `${what} gives back other pixels than it got: this browser guards against fingerprints; allow canvas data for this page.`,
  );
}

/** All values of each channel, opaque: so premultiplying has no part in it. */
export function testPattern(): ImageData {
  const pattern = new ImageData(SIDE, SIDE);
  for (let i = 0; i < SIDE * SIDE; i += 1) {
    pattern.data.set([i & 255, (i * 7) & 255, (i * 31 + (i >> 4)) & 255, 255], 4 * i);
  }
  return pattern;
}

export function sameBytes(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

function returnsWhatItGot(): boolean {
  const context = new OffscreenCanvas(SIDE, SIDE).getContext('2d', { willReadFrequently: true });
  if (context === null) return false;
  const pattern = testPattern();
  context.putImageData(pattern, 0, 0);
  return sameBytes(context.getImageData(0, 0, SIDE, SIDE).data, pattern.data);
}
