// Opens a model: locate the contract, choose, get verified bytes, compile; then keep the whole for offline use.
import type { Backend, LoadOptions, LoadReport, Progress, Ran } from '../runtime/types';
import { parseAddress } from '../shared/address';
import type { Contract, Variant } from '../shared/contract';
import { LikewiseError } from '../shared/errors';
import { type Choice, choose } from './choose';
import { loadTokenizer, type Tokenize } from './decode/text';
import { request } from './download';
import { isKept, type Keeping, startKeeping } from './keeping';
import { type Located, locate, locateStored } from './locate';
import { type Obtained, obtain } from './obtain';
import { binaryUrl, loadRuntime, openSession, type Session } from './session';

export interface LoadedModel {
  readonly contract: Contract;
  /** Of a contract of text, else null. */
  readonly tokenize: Tokenize | null;
  readonly session: Session;
  readonly ran: Ran;
  readonly report: LoadReport;
  readonly keeping: Keeping;
}

type Wishes = Omit<LoadOptions, 'onProgress' | 'signal'>;
type OnProgress = (progress: Progress) => void;

/** Nothing is left to do. */
const KEPT: Keeping = { done: Promise.resolve({ availableOffline: true, why: '' }), stop: () => {} };

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
  const tokenize = await getTokenizer(located);
  const downloadMs = performance.now() - downloadStart;

  onProgress({ stage: 'compile' });
  const compileStart = performance.now();
  const session = await compile(runtime, choice, contract, weights.data);
  const compileMs = performance.now() - compileStart;
  const ran = whatRuns(choice, session, located.why);
  const kept = await isKept(located, weights.ref);
  onProgress({ stage: 'ready' });
  return {
    contract,
    tokenize,
    session,
    ran,
    keeping: kept ? KEPT : startKeeping(located, weights),
    report: {
      loadMs: performance.now() - start,
      downloadMs,
      compileMs,
      downloadedBytes: weights.fromStore ? 0 : weights.data.length,
      modelBytes: weights.data.length,
      fromStore: weights.fromStore,
      availableOffline: kept,
      why: kept ? '' : 'being stored',
    },
  };
}

function getWeights(located: Located, variant: Variant, onProgress: OnProgress): Promise<Obtained> {
  const { file, size_bytes, sha256 } = variant;
  const onBytes = (doneBytes: number, fromStore: boolean) =>
    onProgress({
      stage: 'download',
      doneBytes,
      totalBytes: size_bytes,
      fraction: doneBytes / size_bytes,
      fromStore,
    });
  return obtain(located.versionUrl, { file, size_bytes, sha256 }, { onBytes });
}

async function getTokenizer({ contract: { input }, versionUrl }: Located): Promise<Tokenize | null> {
  if (input.kind !== 'text') return null;
  const { data } = await obtain(versionUrl, input.tokenizer);
  return loadTokenizer(data, input);
}

async function compile(
  runtime: ReturnType<typeof loadRuntime>,
  choice: Choice,
  contract: Contract,
  data: Uint8Array,
): Promise<Session> {
  try {
    return await openSession(await runtime, choice.backend, data, contract);
  } catch (error) {
    if (error instanceof LikewiseError) throw error;
    await throwIfOutOfReach(choice.backend);
    const what = `${contract.name}/${contract.version} ${choice.variant.name} on ${choice.backend}`;
    const code = choice.backend === 'webgpu' ? 'backend-unavailable' : 'failed';
    throw new LikewiseError(code, `${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The runtime does not tell a model that it cannot run from a server that went away before its wasm had come. */
async function throwIfOutOfReach(backend: Backend): Promise<void> {
  const response = await request(binaryUrl(backend), 'default').catch((error: unknown) => {
    if (error instanceof LikewiseError && error.code === 'offline') throw error;
  });
  await response?.body?.cancel().catch(() => {});
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
