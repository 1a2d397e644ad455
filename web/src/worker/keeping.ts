// Keeps a running model for use without a network, beside its predictions and never before them.
import type { Kept } from '../runtime/types';
import type { Contract, FileRef } from '../shared/contract';
import { hasFiles, readVersion } from '../shared/stored';
import type { Located } from './locate';
import { obtain } from './obtain';
import { keep, type VerifiedFile } from './store';

export interface Keeping {
  /** Never rejects. */
  readonly done: Promise<Kept>;
  /** Ends it: what is not stored whole by then is not stored at all. */
  stop(): void;
}

/** Contract, weights, documents and the inputs of the examples shown: what the page shows of a model, also offline. */
export function startKeeping(located: Located, weights: VerifiedFile): Keeping {
  const controller = new AbortController();
  const done = keepWhole(located, weights, controller.signal).catch(
    (error: unknown): Kept => ({
      availableOffline: false,
      why: `not stored: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  return { done, stop: () => controller.abort() };
}

/** Whether all that `startKeeping` would store is there; storage that refuses to tell holds nothing. */
export async function isKept({ contract, versionUrl, file }: Located, weights: FileRef): Promise<boolean> {
  try {
    const stored = await readVersion(versionUrl);
    if (stored?.contract.sha256 !== file.ref.sha256) return false;
    const listed = new Set(stored.files.map(({ file: name, sha256 }) => `${name} ${sha256}`));
    const wanted = [file.ref, weights, ...othersOf(contract)];
    return wanted.every(ref => listed.has(`${ref.file} ${ref.sha256}`)) && (await hasFiles(wanted));
  } catch {
    return false;
  }
}

async function keepWhole(located: Located, weights: VerifiedFile, signal: AbortSignal): Promise<Kept> {
  const { contract, versionUrl, file } = located;
  const files = [file, weights];
  // One after another: a browser opens few connections to a server, and the page has better use for them.
  for (const ref of othersOf(contract)) files.push(await obtain(versionUrl, ref, { signal }));
  return keep({ versionUrl, version: contract.version, contract: file.ref }, files, signal);
}

function othersOf({ documents, examples, input }: Contract): readonly FileRef[] {
  const decoder = input.kind === 'text' ? [input.tokenizer] : [];
  return [...decoder, ...documents, ...examples.filter(({ shown }) => shown).map(example => example.input)];
}
