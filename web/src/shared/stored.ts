// The verified store, read side: used by the worker, the page and the service worker alike.
//
// Two caches. `files` holds bytes under their SHA-256; `versions` holds, per version folder, the list of files
// that are there whole. A version's list is written after its last file, so what no list names does not count.
import { parseAddress } from './address';
import type { FileRef } from './contract';
import { sha256 } from './digest';
import { parseIndex } from './parse';

export const FILES_CACHE = 'likewise-files-1';
export const VERSIONS_CACHE = 'likewise-versions-1';
export const INDEX_CACHE = 'likewise-index-1';

export interface StoredVersion {
  readonly versionUrl: string;
  readonly version: number;
  readonly contract: FileRef;
  /** All files that are stored, the contract among them; names are relative to the version's folder. */
  readonly files: readonly FileRef[];
}

/** A key only: nothing is ever fetched from there. */
export function fileKey(sha: string): string {
  return new URL(`/.likewise/sha256/${sha}`, location.origin).href;
}

export async function readVersion(versionUrl: string): Promise<StoredVersion | null> {
  const response = await (await caches.open(VERSIONS_CACHE)).match(versionUrl);
  return response ? asStoredVersion(await response.json().catch(() => null)) : null;
}

/** What would open of a model without a network: the version that the kept index names, else the highest stored. */
export async function offlineVersion(modelUrl: string): Promise<StoredVersion | null> {
  const stored = (await storedVersions()).filter(({ versionUrl }) => modelOf(versionUrl) === modelUrl);
  const named = await namedVersion(modelUrl).catch(() => null); // what an older page kept may be no index today
  return stored.find(({ version }) => version === named) ?? highest(stored);
}

/** Every version of every model that is stored. */
export async function storedVersions(): Promise<readonly StoredVersion[]> {
  const keys = await (await caches.open(VERSIONS_CACHE)).keys();
  const found = await Promise.all(keys.map(key => readVersion(key.url)));
  return found.filter(version => version !== null);
}

export function highest(versions: readonly StoredVersion[]): StoredVersion | null {
  return versions.toSorted((a, b) => b.version - a.version)[0] ?? null;
}

/** The model's folder, from its version's. */
export function modelOf(versionUrl: string): string {
  return new URL('../', versionUrl).href;
}

/** The stored bytes, hashed again; a damaged entry is dropped and counts as absent. */
export async function readFile(ref: FileRef): Promise<Uint8Array<ArrayBuffer> | null> {
  const cache = await caches.open(FILES_CACHE);
  const response = await cache.match(fileKey(ref.sha256));
  if (!response) return null;
  const data = new Uint8Array(await response.arrayBuffer());
  if (data.length === ref.size_bytes && (await sha256(data)) === ref.sha256) return data;
  await cache.delete(fileKey(ref.sha256));
  return null;
}

/** Whether every one of these files is there; their bytes are checked when they are read. */
export async function hasFiles(files: readonly FileRef[]): Promise<boolean> {
  const cache = await caches.open(FILES_CACHE);
  const found = await Promise.all(files.map(ref => cache.match(fileKey(ref.sha256))));
  return found.every(response => response !== undefined);
}

async function namedVersion(modelUrl: string): Promise<number | null> {
  const { name } = parseAddress(modelUrl);
  const indexUrl = new URL('../index.json', modelUrl).href;
  const kept = await (await caches.open(INDEX_CACHE)).match(indexUrl);
  return kept ? (parseIndex(await kept.text(), indexUrl).models[name]?.version ?? null) : null;
}

function asStoredVersion(value: unknown): StoredVersion | null {
  if (typeof value !== 'object' || value === null) return null;
  const { versionUrl, version, contract, files } = value as Record<string, unknown>;
  if (typeof versionUrl !== 'string' || typeof version !== 'number' || !isRef(contract)) return null;
  return Array.isArray(files) && files.every(isRef) ? { versionUrl, version, contract, files } : null;
}

function isRef(value: unknown): value is FileRef {
  if (typeof value !== 'object' || value === null) return false;
  const { file, size_bytes, sha256 } = value as Record<string, unknown>;
  return typeof file === 'string' && typeof size_bytes === 'number' && typeof sha256 === 'string';
}
