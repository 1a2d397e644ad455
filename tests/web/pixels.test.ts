import { expect, test } from 'vitest';
import { layOn } from '../../web/src/worker/decode/background';
import { fitInk, toInk } from '../../web/src/worker/decode/drawing';
import type { Orientation } from '../../web/src/worker/decode/exif';
import { fitImage } from '../../web/src/worker/decode/image';
import { turn } from '../../web/src/worker/decode/turn';

const picture = { width: 3, height: 2, data: pixels([1, 2, 3, 4, 5, 6]), hasAlpha: false };

test.each([
  { orientation: 1, rows: ['123', '456'] },
  { orientation: 2, rows: ['321', '654'] },
  { orientation: 3, rows: ['654', '321'] },
  { orientation: 4, rows: ['456', '123'] },
  { orientation: 5, rows: ['14', '25', '36'] },
  { orientation: 6, rows: ['41', '52', '63'] },
  { orientation: 7, rows: ['63', '52', '41'] },
  { orientation: 8, rows: ['36', '25', '14'] },
])('orientation $orientation gives $rows', ({ orientation, rows }) => {
  const { data, width, height } = turn(picture, orientation as Orientation);
  const seen = Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => data[(y * width + x) * 4]).join(''),
  );
  expect(seen).toEqual(rows);
});

test('a transparent pixel is the background, an opaque one itself, what is between is rounded', () => {
  const data = Uint8Array.from([200, 30, 30, 0, 30, 160, 30, 128, 30, 30, 200, 255, 180, 180, 60, 3]);
  const { data: laid } = layOn({ data, width: 4, height: 1, hasAlpha: true }, [255, 255, 255]);
  const colours = [0, 4, 8, 12].map(at => [...laid.subarray(at, at + 3)]);
  // As Pillow lays them on white.
  expect(colours).toEqual([
    [255, 255, 255],
    [142, 207, 142],
    [30, 30, 200],
    [254, 254, 253],
  ]);
});

test('ink on light paper is inverted, on dark ground it is not', () => {
  const light = { width: 3, height: 3, data: pixels([255, 255, 255, 255, 0, 255, 255, 255, 255]) };
  expect([...toInk(light, 'auto').data]).toEqual([0, 0, 0, 0, 255, 0, 0, 0, 0]);
  const dark = { width: 3, height: 3, data: pixels([0, 0, 0, 0, 255, 0, 0, 0, 0]) };
  expect([...toInk(dark, 'auto').data]).toEqual([0, 0, 0, 0, 255, 0, 0, 0, 0]);
});

test('a drawing without ink is refused', () => {
  const blank = { width: 4, height: 4, data: new Uint8Array(16).fill(63) };
  expect(() => fitInk(blank, 'bilinear', { width: 28, height: 28 })).toThrow(
    expect.objectContaining({ code: 'nothing-drawn' }),
  );
});

test('ink in a corner lands in the middle, 20 of 28 parts wide', () => {
  const data = new Uint8Array(40 * 40);
  for (let y = 0; y < 20; y += 1) data.fill(255, y * 40, y * 40 + 20);
  const fitted = fitInk({ width: 40, height: 40, data }, 'box', { width: 28, height: 28 });
  const expected = Array.from({ length: 28 }, (_, i) => (i >= 4 && i < 24 ? 255 : 0));
  expect([...fitted.subarray(14 * 28, 15 * 28)]).toEqual(expected);
  expect(Array.from({ length: 28 }, (_, y) => fitted[y * 28 + 14])).toEqual(expected);
});

test('a window that the resized picture does not cover is refused', () => {
  const resize = { filter: 'bilinear', short_side: 2 } as const;
  expect(() => fitImage(picture, resize, { width: 4, height: 4 })).toThrow(
    expect.objectContaining({ code: 'bad-contract' }),
  );
});

/** Grey pixels as RGBA. */
function pixels(values: number[]): Uint8Array {
  return Uint8Array.from(values.flatMap(value => [value, value, value, 255]));
}
