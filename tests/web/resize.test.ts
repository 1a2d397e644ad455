import { expect, test } from 'vitest';
import { type Filter, resize } from '../../web/src/worker/decode/resize';
// Written by Pillow 13: random pixels, all filters, up, down, one axis only, vertical pass first.
import cases from './resize-cases.json';

test.each(cases)('$filter from $from to $to, $channels channels, is what Pillow gives', one => {
  const { source, size, expected } = parse(one);
  const result = resize(source, { size, window: { x: 0, y: 0, ...size }, filter: one.filter as Filter });
  expect(result).toEqual(expected);
});

test.each(cases)('a window of $filter from $from to $to is that part of the whole', one => {
  const { source, size, expected } = parse(one);
  const window = {
    x: size.width >> 1,
    y: size.height >> 2,
    width: (size.width + 1) >> 1,
    height: (size.height + 1) >> 1,
  };
  const result = resize(source, { size, window, filter: one.filter as Filter });
  const rows = Array.from({ length: window.height }, (_, y) => {
    const from = ((window.y + y) * size.width + window.x) * source.channels;
    return [...expected.subarray(from, from + window.width * source.channels)];
  });
  expect([...result]).toEqual(rows.flat());
});

test('RGBA is read in place: the fourth byte has no part in the result', () => {
  const one = cases.find(({ channels }) => channels === 3);
  if (one === undefined) throw new Error('no case with three channels');
  const { source, size, expected } = parse(one);
  const data = new Uint8Array(source.width * source.height * 4).fill(99);
  for (let i = 0; i < source.width * source.height; i += 1)
    data.set(source.data.subarray(3 * i, 3 * i + 3), 4 * i);
  const target = { size, window: { x: 0, y: 0, ...size }, filter: one.filter as Filter };
  expect(resize({ ...source, data, stride: 4 }, target)).toEqual(expected);
});

function parse(one: (typeof cases)[number]) {
  const [width = 0, height = 0] = one.from;
  const [toWidth = 0, toHeight = 0] = one.to;
  const channels = one.channels === 1 ? (1 as const) : (3 as const);
  return {
    source: { data: bytes(one.pixels), width, height, channels, stride: channels },
    size: { width: toWidth, height: toHeight },
    expected: bytes(one.resized),
  };
}

function bytes(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}
