// Generated from contract.schema.json by web/scripts/types.mjs: change the schema, then run `npm run types`.

/**
 * Everything a runtime needs to give the framework's answers, and to prove that it does.
 */
export interface Contract {
  schema_version: 2;
  name: string;
  version: number;
  title: string;
  description: string;
  task: string;
  licence: string;
  /**
   * Empty where the answer is no choice among labels.
   */
  labels: string[];
  input: ImageInput | DrawingInput | TextInput | SoundInput | TableInput | BytesInput | TensorInput;
  /**
   * The graph's inputs: what the decoder gives, and a stream's states.
   *
   * @minItems 1
   */
  inputs: [Tensor, ...Tensor[]];
  /**
   * @minItems 1
   */
  outputs: [Tensor, ...Tensor[]];
  decision: ScoresDecision | EmbeddingDecision | FramesDecision | BoxesDecision | ValuesDecision;
  variants: Variant[];
  /**
   * Per backend the variant that the recipe's rule picks among those that passed.
   */
  best: {
    [k: string]: 'fp32' | 'fp16' | 'q8' | 'q4';
  };
  examples: Example[];
  /**
   * evidence.json, details.json, decision.md and README.md.
   */
  documents: FileRef[];
  provenance: Provenance;
}
/**
 * A picture, decoded to uint8 RGB [batch, height, width, 3].
 */
export interface ImageInput {
  kind: 'image';
  /**
   * Which of the contract's inputs the decoder fills.
   */
  tensor: string;
  resize: Resize;
  /**
   * letterbox: aspect kept, centred, the rest in `padding`; its longer side fills the tensor, the other is rounded half up.
   */
  fit: 'stretch' | 'centre-crop' | 'letterbox';
  /**
   * @minItems 3
   * @maxItems 3
   */
  padding: [number, number, number];
  orientation: 'exif';
  /**
   * @minItems 3
   * @maxItems 3
   */
  background: [number, number, number];
  colour_profile: 'ignore';
}
/**
 * How the decoded picture reaches the model's size, by Pillow's arithmetic.
 */
export interface Resize {
  filter: 'bilinear' | 'bicubic' | 'lanczos' | 'box';
  /**
   * Shorter side after resizing, aspect kept, then cropped to the centre; null: as `fit` says.
   */
  short_side?: number | null;
}
/**
 * A drawing, decoded to uint8 grey [batch, height, width, 1], light ink on dark ground.
 */
export interface DrawingInput {
  kind: 'drawing';
  tensor: string;
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
 * UTF-8 text, to token ids by the version's own tokenizer.json. int64 [batch, tokens].
 */
export interface TextInput {
  kind: 'text';
  tokenizer: FileRef;
  /**
   * Longer texts are cut at their end, special tokens kept.
   */
  max_tokens: number;
  ids: string;
  /**
   * 1 for a token, 0 for padding; null: not an input.
   */
  mask: string | null;
  /**
   * Segment ids, all 0; null: not an input.
   */
  types: string | null;
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
 * Sound, decoded to PCM float32 [batch, samples] in -1..1 at `rate`.
 */
export interface SoundInput {
  kind: 'sound';
  tensor: string;
  rate: number;
  /**
   * How several channels become one.
   */
  mono: 'mean';
  /**
   * docs/decoders.md gives its filter.
   */
  resample: 'kaiser-polyphase';
  /**
   * Exactly so many samples, cut or filled with zeros at the end; null: any.
   */
  window_samples: number | null;
  stream: Stream | null;
}
/**
 * The samples go through the graph in steps of `step_samples`, the last one filled with zeros.
 *
 * Outputs that are no state are joined along axis 1.
 */
export interface Stream {
  step_samples: number;
  states: State[];
}
/**
 * A tensor that a stream carries from one step to the next; zeros at its beginning.
 */
export interface State {
  input: string;
  output: string;
}
/**
 * A row of named columns (JSON object or CSV with a header line).
 *
 * `matrix`: one float32 tensor [batch, columns] of that name, categories as their index.
 * Without it one tensor a column, [batch, 1], named as the column: float32, int64 (integer,
 * boolean) or string (category).
 */
export interface TableInput {
  kind: 'table';
  /**
   * @minItems 1
   */
  columns: [Column, ...Column[]];
  matrix: string | null;
}
/**
 * One named, typed column of a table.
 */
export interface Column {
  name: string;
  title: string;
  unit?: string;
  type: 'number' | 'integer' | 'boolean' | 'category';
  /**
   * Of a category: every value it may have.
   */
  categories?: string[];
  /**
   * nan: an empty cell becomes NaN (a category: the empty text).
   */
  missing: 'refuse' | 'nan';
  /**
   * In the training data; told, not judged.
   */
  lowest?: number | null;
  highest?: number | null;
}
/**
 * The first and the last bytes of a file as int32 [batch, first + last], then padded.
 *
 * Both parts are stripped of ASCII white space at the file's ends first, where `strip` says so;
 * the first part is padded at its end, the last part at its beginning.
 */
export interface BytesInput {
  kind: 'bytes';
  tensor: string;
  first: number;
  last: number;
  /**
   * From how many bytes at either end the parts are taken, before stripping.
   */
  block: number;
  strip: boolean;
  padding: number;
}
/**
 * The contract's inputs as they are: .npy for one tensor, v2 JSON (`{"inputs": [...]}`).
 */
export interface TensorInput {
  kind: 'tensor';
}
/**
 * Name, dtype and shape. A dimension is a number, a name (symbolic) or null (unknown);
 * `[]` is a scalar and a null shape an unknown rank.
 */
export interface Tensor {
  name: string;
  dtype: 'bool' | 'uint8' | 'int32' | 'int64' | 'float32' | 'string';
  shape: (number | string | null)[] | null;
}
/**
 * Probabilities over the contract's labels, the best k of them.
 */
export interface ScoresDecision {
  kind: 'scores';
  probabilities: string;
  top_probabilities: string;
  top_indices: string;
  top_k: number;
  ask_a_person_below?: number | null;
}
/**
 * A vector [batch, dimensions] of length 1; two inputs are alike as their dot product says.
 */
export interface EmbeddingDecision {
  kind: 'embedding';
  vector: string;
}
/**
 * One probability a frame, float32 [batch, frames]: active where it reaches the threshold.
 */
export interface FramesDecision {
  kind: 'frames';
  probabilities: string;
  frame_seconds: number;
  threshold: number;
}
/**
 * Boxes found: [batch, k, 4] as x1, y1, x2, y2 in pixels of the input tensor; scores and
 * classes [batch, k], best first. A score of 0 is no box.
 */
export interface BoxesDecision {
  kind: 'boxes';
  boxes: string;
  scores: string;
  classes: string;
  threshold: number;
}
/**
 * The outputs as they are.
 */
export interface ValuesDecision {
  kind: 'values';
  values: string[];
}
/**
 * One model file and where it holds.
 */
export interface Variant {
  name: 'fp32' | 'fp16' | 'q8' | 'q4';
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
  status: 'passed' | 'unverified' | 'not-offered';
  /**
   * Why it is unverified or not offered.
   */
  why?: string | null;
  /**
   * Largest allowed difference of an output to the framework's.
   */
  tolerance?: number | null;
  /**
   * On how many inputs at most this was measured.
   */
  inputs?: number | null;
  max_difference?: number | null;
  /**
   * Share of answers (labels, frames, boxes) as the framework's.
   */
  label_agreement?: number | null;
  /**
   * Smallest, to the framework's vector.
   */
  cosine?: number | null;
  time_vs_fp32?: number | null;
}
/**
 * A golden example: an encoded input, its decoded tensors, the framework's outputs.
 *
 * `tensors` holds what the decoder gives (no states); `outputs` what the framework answers.
 */
export interface Example {
  id: string;
  title: string;
  media_type:
    | 'image/png'
    | 'image/jpeg'
    | 'image/webp'
    | 'text/plain'
    | 'audio/wav'
    | 'application/json'
    | 'application/octet-stream';
  input: FileRef;
  /**
   * @minItems 1
   */
  tensors: [TensorFile, ...TensorFile[]];
  /**
   * @minItems 1
   */
  outputs: [TensorFile, ...TensorFile[]];
  label?: number | null;
  /**
   * Offered as a sample in the page, and kept for use offline.
   */
  shown: boolean;
}
/**
 * A tensor of one input (its batch is 1) with its raw little-endian values in a file.
 *
 * Strings are written as the v2 protocol does: each its length in 4 bytes, then its UTF-8.
 */
export interface TensorFile {
  file: string;
  size_bytes: number;
  sha256: string;
  name: string;
  dtype: 'bool' | 'uint8' | 'int32' | 'int64' | 'float32' | 'string';
  shape: (number | string | null)[] | null;
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
