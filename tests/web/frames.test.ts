// Which parts of a sound are active, and what of them is drawn.
import { expect, test } from 'vitest';
import { activeParts, activeSeconds, highest } from '../../web/src/page/frames';

const quiet = 0.1;
const loud = 0.9;

test('active parts begin and end where the threshold is crossed, at the edges too', () => {
  const frames = Float32Array.of(loud, loud, quiet, 0.5, quiet, loud);
  expect(activeParts(frames, 0.5)).toEqual([
    { from: 0, to: 2 },
    { from: 3, to: 4 },
    { from: 5, to: 6 },
  ]);
  expect(activeParts(Float32Array.of(quiet), 0.5)).toEqual([]);
  expect(activeParts(new Float32Array(), 0.5)).toEqual([]);
});

test('a threshold that float32 cannot hold is the one that the contract says', () => {
  expect(activeParts(Float32Array.of(0.7), 0.7)).toEqual([{ from: 0, to: 1 }]);
});

test('seconds are told of all frames', () => {
  expect(activeSeconds(Float32Array.of(loud, quiet, loud, loud), 0.5, 0.5)).toEqual({
    active: '1.5 s',
    whole: '2.0 s',
  });
});

test('no short peak is lost in drawing', () => {
  const frames = new Float32Array(1000);
  frames[777] = loud;
  const bars = highest(frames, 240);
  expect(bars.length).toBeLessThanOrEqual(240);
  expect(bars.filter(bar => bar > 0.8)).toHaveLength(1);
});
