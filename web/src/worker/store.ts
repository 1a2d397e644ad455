// The verified store, write side: a version's files are stored whole and verified, or not at all; of each model
// the version stored last and the one before it stay.
import type { Kept } from '../runtime/types';
import type { FileRef } from '../shared/contract';
import {
  FILES_CACHE,
  fileKey,
  highest,
  modelOf,
  readVersion,
  type StoredVersion,
  storedVersions,
  VERSIONS_CACHE,
} from '../shared/stored';
import { throwIfAborted } from './job-queue';

export interface VerifiedFile {
  readonly ref: FileRef;
  /** Verified against `ref` by whoever read or fetched them. */
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Adds verified files to what is stored of a version. When storage refuses or `signal` stops it, what was written is taken back. */
export async function keep(
  version: Omit<StoredVersion, 'files'>,
  files: readonly VerifiedFile[],
  signal: AbortSignal,
): Promise<Kept> {
  if (!('caches' in self)) return { availableOffline: false, why: 'this browser offers no storage here' };
  try {
    // One writer at a time, over all tabs: the list is read, extended and written back.
    await navigator.locks.request('likewise-store', { signal }, async () => {
      await write(version, files, signal);
      await dropOutdated(version).catch(() => {}); // what stays too long is dropped after the next version
    });
    return { availableOffline: true, why: '' };
  } catch (error) {
    throwIfAborted(signal);
    return { availableOffline: false, why: await refusal(error) };
  }
}

/** Older versions than the one just stored, except the one before it: another tab may still run that. */
export function outdated(
  stored: readonly StoredVersion[],
  { versionUrl, version }: Pick<StoredVersion, 'versionUrl' | 'version'>,
): readonly StoredVersion[] {
  const older = stored.filter(
    other => modelOf(other.versionUrl) === modelOf(versionUrl) && other.version < version,
  );
  const previous = highest(older);
  return older.filter(other => other !== previous);
}

async function write(
  version: Omit<StoredVersion, 'files'>,
  files: readonly VerifiedFile[],
  signal: AbortSignal,
): Promise<void> {
  const cache = await caches.open(FILES_CACHE);
  const written: string[] = [];
  try {
    for (const { ref, data } of files) {
      throwIfAborted(signal);
      const key = fileKey(ref.sha256);
      if (await cache.match(key)) continue;
      written.push(key);
      await cache.put(key, new Response(data, { headers: { 'Content-Length': String(data.length) } }));
    }
    throwIfAborted(signal);
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

/** Lists first, then the content that no list names any more: also what a closed tab left half written. */
async function dropOutdated(version: Omit<StoredVersion, 'files'>): Promise<void> {
  const stored = await storedVersions();
  const dropped = new Set(outdated(stored, version));
  const lists = await caches.open(VERSIONS_CACHE);
  for (const { versionUrl } of dropped) await lists.delete(versionUrl);
  const left = stored.filter(other => !dropped.has(other));
  const named = new Set(left.flatMap(({ files }) => files.map(ref => fileKey(ref.sha256))));
  const cache = await caches.open(FILES_CACHE);
  for (const key of await cache.keys()) if (!named.has(key.url)) await cache.delete(key);
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
