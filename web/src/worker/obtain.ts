// A verified file of a version: from the store when it is there, else from the network.
import type { FileRef } from '../shared/contract';
import { readFile } from '../shared/stored';
import { download } from './download';
import type { VerifiedFile } from './store';

export type Obtained = VerifiedFile & { readonly fromStore: boolean };

interface ObtainOptions {
  readonly onBytes?: (done: number, fromStore: boolean) => void;
  readonly signal?: AbortSignal;
}

/** Throws what `download` throws. */
export async function obtain(
  versionUrl: string,
  ref: FileRef,
  { onBytes, signal }: ObtainOptions = {},
): Promise<Obtained> {
  const stored = await readFile(ref).catch(() => null); // storage may be refused altogether
  if (stored !== null) {
    onBytes?.(stored.length, true);
    return { ref, data: stored, fromStore: true };
  }
  const url = new URL(ref.file, versionUrl).href;
  const data = await download(url, ref, done => onBytes?.(done, false), signal);
  return { ref, data, fromStore: false };
}
