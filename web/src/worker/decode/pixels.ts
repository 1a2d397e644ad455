// From a file to its exact pixels, upright, colours not premultiplied.
import { LikewiseError } from '../../shared/errors';
import type { PictureInput } from '../../shared/messages';
import { broken, type Header, MEDIA_TYPES, readHeader } from './header';
import type { Rgba } from './raster';

export async function toPixels(input: PictureInput): Promise<Rgba> {
  if (input instanceof ImageData) return { ...rows(input), hasAlpha: true };
  const bytes = new Uint8Array(await input.arrayBuffer());
  return decodeFile(bytes, readHeader(bytes));
}

function rows({ width, height, data }: ImageData): Omit<Rgba, 'hasAlpha'> {
  return { width, height, data: new Uint8ClampedArray(data) };
}

async function decodeFile(bytes: Uint8Array<ArrayBuffer>, header: Header): Promise<Rgba> {
  const blob = new Blob([bytes], { type: MEDIA_TYPES[header.format] });
  const bitmap = await createImageBitmap(blob, {
    colorSpaceConversion: 'none',
    premultiplyAlpha: 'none',
  }).catch((error: unknown) => {
    throw broken(error instanceof Error ? error.message : String(error));
  });
  try {
    const frame = new VideoFrame(bitmap, { timestamp: 0 });
    const data = new Uint8Array(bitmap.width * bitmap.height * 4);
    await frame.copyTo(data, { format: 'RGBA' });
    frame.close();
    return { width: bitmap.width, height: bitmap.height, data, hasAlpha: header.hasAlpha };
  } catch (error) {
    throw new LikewiseError('failed', String(error));
  } finally {
    bitmap.close();
  }
}
