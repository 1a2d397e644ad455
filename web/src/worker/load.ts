// Opens a model: locate the contract, choose, get verified bytes, compile, and keep the whole for offline use.
import type { LoadOptions, LoadReport, Progress, Ran } from '../runtime/types';
import { parseAddress } from '../shared/address';
import type { Contract, FileRef, Variant } from '../shared/contract';
import { LikewiseError } from '../shared/errors';
import { readFile } from '../shared/stored';
import { type Choice, choose } from './choose';
import { inputShape } from './decode';
import { download } from './download';
import { type Located, locate, locateStored } from './locate';
import { loadRuntime, openSession, type Session } from './session';
import { type Kept, keep, type VerifiedFile } from './store';

export interface LoadedModel {
  readonly contract: Contract;
  readonly session: Session;
  readonly ran: Ran;
  readonly report: LoadReport;
}

type Wishes = Omit<LoadOptions, 'onProgress' | 'signal'>;
type OnProgress = (progress: Progress) => void;
type Got = VerifiedFile & { readonly fromStore: boolean };

/** `url` is absolute. When the server is away, the last stored version is opened and `ran.why` says so. */
export async function loadModel(url: string, wishes: Wishes, onProgress: OnProgress): Promise<LoadedModel> {
  const start = performance.now();
  const address = parseAddress(url);
  onProgress({ stage: 'contract' });
  try {
    return await open(await locate(address), wishes, onProgress, start);
  } catch (error) {
    const offline = error instanceof LikewiseError && error.code === 'offline';
    const stored = offline ? await locateStored(address) : null;
    if (stored === null) throw error;
    return open(stored, wishes, onProgress, start);
  }
}

async function open(
  located: Located,
  wishes: Wishes,
  onProgress: OnProgress,
  start: number,
): Promise<LoadedModel> {
  const { contract } = located;
  const device = { isolated: self.crossOriginIsolated, cores: navigator.hardwareConcurrency };
  const choice = choose(contract, wishes, device);
  const runtime = loadRuntime(choice.backend, choice.threads);
  runtime.catch(() => {}); // awaited below; must not count as unhandled while the model is on its way

  const downloadStart = performance.now();
  const weights = await getWeights(located, choice.variant, onProgress);
  const downloadMs = performance.now() - downloadStart;

  onProgress({ stage: 'compile' });
  const keeping = keepWhole(located, weights);
  const compileStart = performance.now();
  const session = await compile(await runtime, choice, contract, weights.data);
  const compileMs = performance.now() - compileStart;
  const kept = await keeping;
  const ran = whatRuns(choice, session, located.why);
  onProgress({ stage: 'ready' });
  return {
    contract,
    session,
    ran,
    report: {
      loadMs: performance.now() - start,
      downloadMs,
      compileMs,
      downloadedBytes: weights.fromStore ? 0 : weights.data.length,
      modelBytes: weights.data.length,
      fromStore: weights.fromStore,
      availableOffline: kept.kept,
      why: kept.kept ? '' : kept.why,
    },
  };
}

function getWeights(located: Located, variant: Variant, onProgress: OnProgress): Promise<Got> {
  const { file, size_bytes, sha256 } = variant;
  const report = (doneBytes: number, fromStore: boolean) =>
    onProgress({
      stage: 'download',
      doneBytes,
      totalBytes: size_bytes,
      fraction: doneBytes / size_bytes,
      fromStore,
    });
  return get(located.versionUrl, { file, size_bytes, sha256 }, report);
}

async function get(
  versionUrl: string,
  ref: FileRef,
  onBytes: (done: number, fromStore: boolean) => void = () => {},
): Promise<Got> {
  const stored = await readFile(ref).catch(() => null); // storage may be refused altogether
  if (stored !== null) {
    onBytes(stored.length, true);
    return { ref, data: stored, fromStore: true };
  }
  const url = new URL(ref.file, versionUrl).href;
  return { ref, data: await download(url, ref, done => onBytes(done, false)), fromStore: false };
}

/** Contract, weights, documents and the inputs of the examples shown: what the page shows of a model, also offline. */
async function keepWhole(located: Located, weights: VerifiedFile): Promise<Kept> {
  const { contract, versionUrl } = located;
  const others = [
    ...contract.documents,
    ...contract.examples.filter(({ shown }) => shown).map(({ input }) => input),
  ];
  try {
    const files = await Promise.all(others.map(ref => get(versionUrl, ref)));
    const version = { versionUrl, version: contract.version, contract: located.file.ref };
    return await keep(version, [located.file, weights, ...files]);
  } catch (error) {
    return { kept: false, why: `not stored: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function compile(
  runtime: Awaited<ReturnType<typeof loadRuntime>>,
  choice: Choice,
  contract: Contract,
  data: Uint8Array,
): Promise<Session> {
  const { tensor } = contract.input;
  const input = { name: tensor.name, shape: inputShape(tensor) };
  return openSession(runtime, choice.backend, data, input).catch((error: unknown) => {
    if (error instanceof LikewiseError) throw error;
    const what = `${contract.name}/${contract.version} ${choice.variant.name} on ${choice.backend}`;
    const code = choice.backend === 'webgpu' ? 'backend-unavailable' : 'failed';
    throw new LikewiseError(code, `${what}: ${error instanceof Error ? error.message : String(error)}`);
  });
}

function whatRuns(choice: Choice, session: Session, located: readonly string[]): Ran {
  const { variant, backend, threads, asked, why } = choice;
  const fewer =
    session.threads < threads ? [`${session.threads} of ${threads} threads: the browser gave no more`] : [];
  return {
    variant: variant.name,
    backend,
    threads: session.threads,
    asked,
    why: [...located, ...why, ...fewer].join('; '),
  };
}
