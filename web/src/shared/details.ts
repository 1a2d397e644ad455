// Generated from details.schema.json by web/scripts/types.mjs: change the schema, then run `npm run types`.

/**
 * details.json: what the report draws, beside the measurements of evidence.json.
 */
export interface Details {
  schema_version: 2;
  name: string;
  details: Detail[];
}
/**
 * How one variant's answers are spread in one place on one set of data.
 */
export interface Detail {
  variant: 'fp32' | 'fp16' | 'q8' | 'q4';
  where:
    'publication' | 'python-cpu' | 'chromium-wasm-1-thread' | 'chromium-wasm-2-threads' | 'chromium-webgpu';
  data: 'golden examples' | 'labelled data';
  count: number;
  /**
   * Of the histogram; one more than counts.
   */
  difference_edges: number[];
  /**
   * Inputs by their largest difference.
   */
  difference_counts: number[];
  /**
   * Largest difference first.
   */
  worst: Worst[];
  /**
   * Right label x answered label; null without labels or with over 40 of them.
   */
  confusion: number[][] | null;
  /**
   * Null without labelled scores.
   */
  reliability: ReliabilityBin[] | null;
}
/**
 * One of the inputs on which a variant is furthest from the judge.
 */
export interface Worst {
  id: string;
  difference: number;
  /**
   * What the judge answers, in words.
   */
  judge: string;
  got: string;
}
/**
 * Of the answers whose confidence lies in low..high: how sure, and how often right.
 */
export interface ReliabilityBin {
  low: number;
  high: number;
  count: number;
  confidence: number;
  accuracy: number;
}
