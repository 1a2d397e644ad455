import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readOrientation, withoutExif } from '../../web/src/worker/decode/exif';
import { readHeader } from '../../web/src/worker/decode/header';

const picture = (name: string) => new Uint8Array(readFileSync(new URL(`pictures/${name}`, import.meta.url)));

test.each([
  { name: 'turned.jpg', format: 'jpeg', hasAlpha: false, orientation: 6 },
  { name: 'turned.png', format: 'png', hasAlpha: false, orientation: 6 },
  { name: 'turned.webp', format: 'webp', hasAlpha: true, orientation: 6 },
  { name: 'alpha.png', format: 'png', hasAlpha: true, orientation: 1 },
  { name: 'alpha.webp', format: 'webp', hasAlpha: true, orientation: 1 },
  { name: 'palette.png', format: 'png', hasAlpha: true, orientation: 1 },
  { name: 'animated.png', format: 'png', hasAlpha: false, orientation: 1 },
  { name: 'grey.jpg', format: 'jpeg', hasAlpha: false, orientation: 1 },
  { name: 'progressive.jpg', format: 'jpeg', hasAlpha: false, orientation: 1 },
  { name: 'lossy.webp', format: 'webp', hasAlpha: false, orientation: 1 },
])('$name: $format of 7 x 5, may be transparent: $hasAlpha, orientation $orientation', expected => {
  const bytes = picture(expected.name);
  const header = readHeader(bytes);
  expect(header).toMatchObject({ format: expected.format, width: 7, height: 5, hasAlpha: expected.hasAlpha });
  expect(readOrientation(bytes, header)).toBe(expected.orientation);
});

test.each(['turned.jpg', 'turned.png', 'turned.webp'])(
  'without its EXIF %s is the same picture, upright',
  async name => {
    const bytes = picture(name);
    const rest = new Uint8Array(await new Blob(withoutExif(bytes, readHeader(bytes))).arrayBuffer());
    expect(readHeader(rest)).toMatchObject({ width: 7, height: 5, exif: [] });
  },
);

test.each([
  { name: 'cmyk.jpg', code: 'unsupported-picture', message: '4 channels' },
  { name: 'bits16.png', code: 'unsupported-picture', message: '16 bits' },
  { name: 'covered.png', code: 'unsupported-picture', message: 'cover' },
  { name: 'huge.png', code: 'picture-too-large', message: '20000 x 6000' },
])('$name is refused: $code', ({ name, code, message }) => {
  expect(() => readHeader(picture(name))).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(message) }),
  );
});

test('what is no picture is refused', () => {
  for (const text of ['', 'RIFF', 'GIF89a', '<svg xmlns="http://www.w3.org/2000/svg"/>']) {
    expect(() => readHeader(new TextEncoder().encode(text))).toThrow(
      expect.objectContaining({ code: 'unsupported-picture' }),
    );
  }
});

test.each(['progressive.jpg', 'alpha.png', 'alpha.webp', 'lossy.webp'])(
  '%s cut anywhere is refused',
  name => {
    const bytes = picture(name);
    for (let length = 12; length < bytes.length; length += 1) {
      expect(() => readHeader(bytes.subarray(0, length)), `${length} bytes`).toThrow(
        expect.objectContaining({ code: 'broken-picture' }),
      );
    }
  },
);

test('a flipped bit in a palette is refused', () => {
  const bytes = picture('palette.png');
  const at = Buffer.from(bytes).indexOf('PLTE') + 5;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  expect(() => readHeader(bytes)).toThrow(expect.objectContaining({ code: 'broken-picture' }));
});
