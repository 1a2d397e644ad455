// Generated from evidence.schema.json by web/scripts/types.mjs: change the schema, then run `npm run types`.

/**
 * All measurements of one version, and what they were made with.
 */
export interface Evidence {
  schema_version: 2;
  name: string;
  judge: string;
  environment: {
    [k: string]: string;
  };
  measurements: Measurement[];
  notes: string[];
}
/**
 * One value, where and on how many inputs it was measured, and the limit it was held to.
 *
 * `limit` null means that the recipe sets none: the value is told, not judged.
 */
export interface Measurement {
  what:
    | 'accuracy'
    | 'accuracy_loss_points'
    | 'batch_difference'
    | 'cosine'
    | 'differing_input_bytes'
    | 'label_agreement'
    | 'max_difference'
    | 'paired_p_value'
    | 'p95_ms'
    | 'size_mb'
    | 'size_vs_fp32'
    | 'time_vs_fp32'
    | 'median_ms';
  /**
   * null: of the decoder, before any variant.
   */
  variant: ('fp32' | 'fp16' | 'q8' | 'q4') | null;
  where:
    'publication' | 'python-cpu' | 'chromium-wasm-1-thread' | 'chromium-wasm-2-threads' | 'chromium-webgpu';
  data: 'golden examples' | 'labelled data' | 'files';
  count: number;
  value: number;
  /**
   * Lower end of the 95 % interval.
   */
  low?: number | null;
  /**
   * Upper end of the 95 % interval.
   */
  high?: number | null;
  unit: string;
  limit?: number | null;
  rule?: ('at least' | 'at most') | null;
  passed?: boolean | null;
}
