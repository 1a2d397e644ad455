// Exact colours of transparent pictures. Canvas and video frames hold them multiplied by alpha, which loses
// digits (at alpha 3, all but two); a WebGL texture takes a bitmap's bytes as they are.
import { unsupported } from './header';
import { canvasLies, sameBytes, testPattern } from './honesty';

/** Every device has textures of this size. */
const TILE = 2048;

type Source = ImageBitmap | ImageData;

let gl: WebGL2RenderingContext | null = null;

/** RGBA as the file has it. Throws unsupported-picture where there is no WebGL, canvas-lies where it lies. */
export function exactColours(bitmap: ImageBitmap): Uint8Array {
  if (gl === null || gl.isContextLost()) gl = openChecked();
  return readAll(gl, bitmap);
}

function openChecked(): WebGL2RenderingContext {
  const context = new OffscreenCanvas(1, 1).getContext('webgl2');
  if (context === null) throw unsupported('A picture with transparency, in a browser without WebGL 2');
  context.pixelStorei(context.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
  context.pixelStorei(context.UNPACK_COLORSPACE_CONVERSION_WEBGL, context.NONE);
  context.bindTexture(context.TEXTURE_2D, context.createTexture());
  context.bindFramebuffer(context.FRAMEBUFFER, context.createFramebuffer());
  const pattern = testPattern();
  for (let i = 3; i < pattern.data.length; i += 4) pattern.data[i] = i & 255;
  if (!sameBytes(readAll(context, pattern), pattern.data)) throw canvasLies('WebGL');
  return context;
}

function readAll(context: WebGL2RenderingContext, source: Source): Uint8Array {
  const { width, height } = source;
  const data = new Uint8Array(width * height * 4);
  context.pixelStorei(context.PACK_ROW_LENGTH, width);
  for (let y = 0; y < height; y += TILE) {
    for (let x = 0; x < width; x += TILE) {
      readTile(
        context,
        source,
        { x, y, width: Math.min(TILE, width - x), height: Math.min(TILE, height - y) },
        data,
      );
    }
  }
  if (context.getError() !== context.NO_ERROR)
    throw unsupported(`A transparent picture of ${width} x ${height}, by WebGL`);
  return data;
}

interface Tile {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function readTile(context: WebGL2RenderingContext, source: Source, tile: Tile, data: Uint8Array): void {
  const { RGBA, TEXTURE_2D, UNSIGNED_BYTE, FRAMEBUFFER, COLOR_ATTACHMENT0 } = context;
  context.pixelStorei(context.UNPACK_SKIP_PIXELS, tile.x);
  context.pixelStorei(context.UNPACK_SKIP_ROWS, tile.y);
  context.texImage2D(TEXTURE_2D, 0, RGBA, tile.width, tile.height, 0, RGBA, UNSIGNED_BYTE, source);
  const texture = context.getParameter(context.TEXTURE_BINDING_2D) as WebGLTexture;
  context.framebufferTexture2D(FRAMEBUFFER, COLOR_ATTACHMENT0, TEXTURE_2D, texture, 0);
  const offset = (tile.y * source.width + tile.x) * 4;
  context.readPixels(0, 0, tile.width, tile.height, RGBA, UNSIGNED_BYTE, data, offset);
}
