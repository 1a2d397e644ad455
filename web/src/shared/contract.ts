// Generated from contract.schema.json by web/scripts/types.mjs: change the schema, then run `npm run types`.

/**
 * Everything a runtime needs to give the framework's answers, and to prove that it does.
 */
export interface Contract {
  schema_version: 1;
  name: string;
  version: number;
  title: string;
  description: string;
  task: string;
  licence: string;
  labels: string[];
  input: ImageInput | DrawingInput;
  outputs: Tensor[];
  decision: Decision;
  variants: Variant[];
  /**
   * Per backend the variant that the recipe's rule picks among those that passed.
   */
  best: {
    [k: string]: 'fp32' | 'fp16' | 'q8';
  };
  examples: Example[];
  /**
   * evidence.json and README.md.
   */
  documents: FileRef[];
  provenance: Provenance;
}
/**
 * A picture, decoded to uint8 RGB [batch, height, width, 3].
 */
export interface ImageInput {
  kind: 'image';
  tensor: Tensor;
  resize: Resize;
  orientation: 'exif';
  /**
   * @minItems 3
   * @maxItems 3
   */
  background: [number, number, number];
  colour_profile: 'ignore';
}
/**
 * Name, dtype and shape. A dimension is a number, a name (symbolic) or null (unknown);
 * `[]` is a scalar and a null shape an unknown rank.
 */
export interface Tensor {
  name: string;
  dtype: 'uint8' | 'int32' | 'int64' | 'float32';
  shape: (number | string | null)[] | null;
}
/**
 * How the decoded picture reaches the model's size, by Pillow's arithmetic.
 */
export interface Resize {
  filter: 'bilinear' | 'bicubic' | 'lanczos' | 'box';
  /**
   * Shorter side after resizing, aspect kept; null stretches to the tensor.
   */
  short_side?: number | null;
}
/**
 * A drawing, decoded to uint8 grey [batch, height, width, 1], light ink on dark ground.
 */
export interface DrawingInput {
  kind: 'drawing';
  tensor: Tensor;
  resize: Resize;
  orientation: 'exif';
  /**
   * @minItems 3
   * @maxItems 3
   */
  background: [number, number, number];
  colour_profile: 'ignore';
  /**
   * auto: dark on light when the border is lighter than mid grey.
   */
  ink: 'light-on-dark' | 'dark-on-light' | 'auto';
  /**
   * ink: a square around the ink's bounding box, the ink's longer side filling 20 of 28 parts, as in MNIST; stretch: the whole picture.
   */
  fit: 'stretch' | 'ink';
}
/**
 * How outputs become answers: probabilities over labels, the best k of them.
 */
export interface Decision {
  kind: 'scores';
  probabilities: string;
  top_probabilities: string;
  top_indices: string;
  top_k: number;
  ask_a_person_below?: number | null;
}
/**
 * One model file and where it holds.
 */
export interface Variant {
  name: 'fp32' | 'fp16' | 'q8';
  file: string;
  size_bytes: number;
  sha256: string;
  /**
   * The narrowest onnxruntime-web entry with all operators this file needs; the webgpu backend always loads the webgpu entry.
   */
  entry: 'wasm' | 'webgpu';
  backends: {
    [k: string]: BackendResult;
  };
}
/**
 * What verify measured for one variant on one backend.
 */
export interface BackendResult {
  status: 'passed' | 'failed' | 'unverified';
  /**
   * Largest allowed difference of a probability to the framework.
   */
  tolerance?: number | null;
  /**
   * On how many inputs at most this was measured.
   */
  inputs?: number | null;
  max_difference?: number | null;
  label_agreement?: number | null;
  time_vs_fp32?: number | null;
}
/**
 * A golden example: an encoded input, its decoded tensor, the framework's probabilities.
 *
 * `tensor` holds the raw bytes of the input tensor of one example (batch 1), `outputs` the raw
 * little-endian float32 probabilities of the judge.
 */
export interface Example {
  id: string;
  title: string;
  media_type: 'image/png' | 'image/jpeg' | 'image/webp';
  input: FileRef;
  tensor: FileRef;
  outputs: FileRef;
  label?: number | null;
  /**
   * Offered as a sample in the page, and kept for use offline.
   */
  shown: boolean;
}
/**
 * A file of the version, with what it must hash to.
 */
export interface FileRef {
  file: string;
  size_bytes: number;
  sha256: string;
}
/**
 * Where the version comes from.
 */
export interface Provenance {
  source_kind: string;
  /**
   * What the answers were compared with.
   */
  judge: string;
  tools: {
    [k: string]: string;
  };
  data: string;
  /**
   * UTC date, ISO 8601.
   */
  built: string;
  build_key: string;
}
