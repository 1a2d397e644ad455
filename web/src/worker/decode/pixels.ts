// From an input to its exact pixels, upright, colours not premultiplied.

import { readBitmap } from './bitmap';
import { exactColours } from './colours';
import { readOrientation, withoutExif } from './exif';
import { broken, type Header, MEDIA_TYPES, readHeader, unsupported } from './header';
import { checkCanvas } from './honesty';
import type { Rgba } from './raster';
import { turn } from './turn';

export async function toPixels(input: Blob | ImageData): Promise<Rgba> {
  if (input instanceof ImageData) return fromCanvas(input);
  const bytes = new Uint8Array(await input.arrayBuffer());
  const header = readHeader(bytes);
  return turn(await decode(bytes, header), readOrientation(bytes, header));
}

/** Raw pixels come from a canvas as a rule, and a browser that guards against fingerprints changes them. */
function fromCanvas({ width, height, data }: ImageData): Rgba {
  checkCanvas();
  return { width, height, data: new Uint8Array(data), hasAlpha: true };
}

async function decode(bytes: Uint8Array<ArrayBuffer>, header: Header): Promise<Rgba> {
  const blob = new Blob(withoutExif(bytes, header), { type: MEDIA_TYPES[header.format] });
  // A file's own colours and alpha, as Pillow gives them: nothing converted, nothing multiplied.
  const options = { colorSpaceConversion: 'none', premultiplyAlpha: 'none' } as const;
  const bitmap = await createImageBitmap(blob, options).catch((error: unknown) => {
    throw broken(error instanceof Error ? error.message : String(error));
  });
  try {
    const { width, height } = bitmap;
    if (width !== header.width || height !== header.height) {
      throw unsupported(`${header.width} x ${header.height} in the file, ${width} x ${height} decoded`);
    }
    const data = await readBitmap(bitmap);
    if (!header.hasAlpha || isOpaque(data)) return { width, height, data, hasAlpha: false };
    return { width, height, data: exactColours(bitmap), hasAlpha: true };
  } finally {
    bitmap.close();
  }
}

function isOpaque(data: Uint8Array): boolean {
  for (let i = 3; i < data.length; i += 4) if (data[i] !== 255) return false;
  return true;
}
