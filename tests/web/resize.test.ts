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

function parse(one: (typeof cases)[number]) {
  const [width = 0, height = 0] = one.from;
  const [toWidth = 0, toHeight = 0] = one.to;
  const channels = one.channels === 1 ? (1 as const) : (3 as const);
  return {
    source: { data: channels === 3 ? rgbx(bytes(one.pixels)) : bytes(one.pixels), width, height, channels },
    size: { width: toWidth, height: toHeight },
    expected: bytes(one.resized),
  };
}

function bytes(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

/** The fourth byte, which counts for nothing, is not 0. */
function rgbx(rgb: Uint8Array): Uint8Array {
  const pixels = Array.from({ length: rgb.length / 3 }, (_, i) => [...rgb.subarray(3 * i, 3 * i + 3), 99]);
  return Uint8Array.from(pixels.flat());
}
