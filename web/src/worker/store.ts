// The verified store, write side: a version's files are stored whole and verified, or not at all.
import type { FileRef } from '../shared/contract';
import { FILES_CACHE, fileKey, readVersion, type StoredVersion, VERSIONS_CACHE } from '../shared/stored';

export interface VerifiedFile {
  readonly ref: FileRef;
  /** Verified against `ref` by whoever read or fetched them. */
  readonly data: Uint8Array<ArrayBuffer>;
}

export type Kept = { readonly kept: true } | { readonly kept: false; readonly why: string };

/** Adds verified files to what is stored of a version. When storage refuses, what was written is taken back. */
export async function keep(
  version: Omit<StoredVersion, 'files'>,
  files: readonly VerifiedFile[],
): Promise<Kept> {
  if (!('caches' in self)) return { kept: false, why: 'this browser offers no storage here' };
  try {
    // One writer at a time, over all tabs: the list is read, extended and written back.
    await navigator.locks.request('likewise-store', () => write(version, files));
    return { kept: true };
  } catch (error) {
    return { kept: false, why: await refusal(error) };
  }
}

async function write(version: Omit<StoredVersion, 'files'>, files: readonly VerifiedFile[]): Promise<void> {
  const cache = await caches.open(FILES_CACHE);
  const written: string[] = [];
  try {
    for (const { ref, data } of files) {
      const key = fileKey(ref.sha256);
      if (await cache.match(key)) continue;
      written.push(key);
      await cache.put(key, new Response(data, { headers: { 'Content-Length': String(data.length) } }));
    }
    await writeList(version, files);
  } catch (error) {
    await Promise.all(written.map(key => cache.delete(key)));
    throw error;
  }
}

async function writeList(
  version: Omit<StoredVersion, 'files'>,
  files: readonly VerifiedFile[],
): Promise<void> {
  const before = await readVersion(version.versionUrl);
  // Another contract under the same address is another version: nothing of the old list holds for it.
  const kept = before?.contract.sha256 === version.contract.sha256 ? before.files : [];
  const list = new Map([...kept, ...files.map(file => file.ref)].map(ref => [ref.file, ref]));
  const stored: StoredVersion = { ...version, files: [...list.values()] };
  await (await caches.open(VERSIONS_CACHE)).put(version.versionUrl, Response.json(stored));
}

async function refusal(error: unknown): Promise<string> {
  const { usage, quota } = await navigator.storage.estimate().catch((): StorageEstimate => ({}));
  const numbers =
    usage === undefined || quota === undefined ? '' : ` (${megabytes(usage)} of ${megabytes(quota)} MB used)`;
  return `storage refused: ${error instanceof Error ? error.message : String(error)}${numbers}`;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
