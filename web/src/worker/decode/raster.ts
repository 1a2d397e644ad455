// Pixels in rows from the top, channels interleaved.

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** RGBA, colours not premultiplied, already turned upright. */
export interface Rgba extends Size {
  readonly data: Uint8Array;
  /** False: alpha is 255 throughout. */
  readonly hasAlpha: boolean;
}

/** RGBA whose alpha means nothing any more: four bytes a pixel, the fourth unused. */
export interface Rgbx extends Size {
  readonly data: Uint8Array;
}

export interface Grey extends Size {
  readonly data: Uint8Array;
}
