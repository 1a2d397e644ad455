import { expect, test } from 'vitest';
import { layOn } from '../../web/src/worker/decode/background';
import { fitInk, toInk } from '../../web/src/worker/decode/drawing';
import type { Orientation } from '../../web/src/worker/decode/exif';
import { fitImage, letterboxed } from '../../web/src/worker/decode/image';
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
  const policy = { resize: { filter: 'bilinear', short_side: 2 }, fit: 'centre-crop' } as const;
  expect(() => fitImage(picture, { ...policy, padding: [0, 0, 0] }, { width: 4, height: 4 })).toThrow(
    expect.objectContaining({ code: 'bad-contract' }),
  );
});

test.each([
  { what: 'wide', from: [8, 4], tensor: [4, 4], size: [4, 2] },
  { what: 'tall', from: [4, 8], tensor: [4, 4], size: [2, 4] },
  { what: "of the tensor's aspect", from: [6, 3], tensor: [4, 2], size: [4, 2] },
  { what: 'half a row, rounded up', from: [8, 5], tensor: [4, 4], size: [4, 3] },
  { what: 'less than half a row', from: [16, 9], tensor: [4, 4], size: [4, 2] },
  { what: 'much too wide', from: [1000, 1], tensor: [4, 4], size: [4, 1] },
  { what: 'much too tall', from: [1, 1000], tensor: [4, 6], size: [1, 6] },
  { what: 'smaller', from: [2, 1], tensor: [640, 416], size: [640, 320] },
] as const)('letterbox: $what, $from into $tensor becomes $size', ({ from, tensor, size }) => {
  const side = ([width, height]: readonly [number, number]) => ({ width, height });
  expect(letterboxed(side(from), side(tensor))).toEqual(side(size));
});

test('a letterboxed picture lies in the middle, with the padding around it', () => {
  const wide = { width: 4, height: 2, data: pixels([1, 2, 3, 4, 5, 6, 7, 8]) };
  const policy = { resize: { filter: 'bilinear', short_side: null }, fit: 'letterbox' } as const;
  const padded = fitImage(wide, { ...policy, padding: [90, 91, 92] }, { width: 4, height: 5 });
  const reds = Array.from({ length: 5 }, (_, y) =>
    [...padded].filter((_, i) => i % 3 === 0).slice(4 * y, 4 * y + 4),
  );
  expect(reds).toEqual([
    [90, 90, 90, 90],
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [90, 90, 90, 90],
    [90, 90, 90, 90],
  ]);
  expect([...padded.subarray(0, 3)]).toEqual([90, 91, 92]);
});

/** Grey pixels as RGBA. */
function pixels(values: number[]): Uint8Array {
  return Uint8Array.from(values.flatMap(value => [value, value, value, 255]));
}
