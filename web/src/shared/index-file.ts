// Generated from index.schema.json by web/scripts/types.mjs: change the schema, then run `npm run types`.

/**
 * models/index.json: the only file that a publication changes.
 */
export interface Index {
  schema_version: 2;
  models: {
    [k: string]: IndexEntry;
  };
}
/**
 * One model in index.json: what the gallery shows, and which version is current.
 */
export interface IndexEntry {
  title: string;
  description: string;
  task: string;
  kind: 'image' | 'drawing' | 'text' | 'sound' | 'table' | 'bytes' | 'tensor';
  /**
   * The current one.
   */
  version: number;
  /**
   * Every version ever published here, the current too.
   */
  versions: number[];
  contract: FileRef;
  published: string;
  /**
   * Path in the version of a picture for the gallery.
   */
  sample: string | null;
  /**
   * Every publication and rollback, oldest first.
   */
  history: Event[];
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
 * A publication or a rollback: the moment from which `version` was the current one.
 */
export interface Event {
  action: 'publish' | 'rollback';
  version: number;
  /**
   * UTC, ISO 8601, to the second.
   */
  at: string;
  /**
   * Who, as they named themselves; empty: not said.
   */
  by: string;
  why: string;
}
