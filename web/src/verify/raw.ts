// The raw page: what `likewise check` and the operator suite drive through Playwright. It opens a model's bytes,
// any bytes, in a worker of its own, which is replaced when it hangs or breaks: the page goes on.
//
// `window.raw` (bytes cross as base64; every call gives plain JSON, what goes wrong as { error: { code, message } }):
//
//   environment()                       -> { isolated, ort }
//   open(model, backend, timeoutMs)     -> { inputs, outputs }: each { name, type, shape }
//       model: base64, or null for the file chosen in the page's file input
//   run(feeds, timeoutMs)               -> { outputs: [{ name, type, shape, data }] }
//       data: base64 of little-endian values, or a list of strings
//   close()                             -> {}
// Codes: timed-out, crashed (the worker is a new one then), else what the runtime's error is.
import type { Backend } from '../runtime/types';
import { toShape } from '../shared/errors';
import type { RawCall, RawCalls, RawReply, RawTensor } from '../shared/raw-messages';
import { fromBase64, toBase64 } from './base64';

interface Feed extends Omit<RawTensor, 'data'> {
  readonly data: string | readonly string[];
}

class Failure extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const raw = {
  environment: () => ({ isolated: crossOriginIsolated, ort: __ORT_VERSION__ }),

  open: (model: string | null, backend: Backend, timeoutMs: number) =>
    told(async () => call('open', { model: await bytesOf(model), backend }, timeoutMs)),

  run: (feeds: readonly Feed[], timeoutMs: number) =>
    told(async () => {
      const outputs = await call('run', { feeds: feeds.map(unpacked) }, timeoutMs);
      return { outputs: outputs.map(packed) };
    }),

  close: () =>
    told(async () => {
      await call('close', {}, CLOSE_MS);
      return {};
    }),
};

declare global {
  interface Window {
    raw: typeof raw;
  }
}

const CLOSE_MS = 10_000;
let worker: Worker | null = null;

window.raw = raw;

/** One call at a time: who drives the page waits for each. */
function call<N extends RawCall>(
  kind: N,
  args: RawCalls[N]['args'],
  timeoutMs: number,
): Promise<RawCalls[N]['value']> {
  worker ??= new Worker(new URL('../worker/raw.ts', import.meta.url), { type: 'module' });
  const current = worker;
  return new Promise((resolve, reject) => {
    const giveUp = (code: string, message: string) => {
      current.terminate();
      worker = null;
      reject(new Failure(code, message));
    };
    const timer = setTimeout(() => giveUp('timed-out', `${kind}: not done after ${timeoutMs} ms`), timeoutMs);
    current.onmessage = ({ data }: MessageEvent<RawReply>) => {
      clearTimeout(timer);
      if ('error' in data) reject(new Failure(data.error.code, data.error.message));
      else resolve(data.value as RawCalls[N]['value']);
    };
    current.onerror = event => {
      clearTimeout(timer);
      giveUp('crashed', event.message || 'the worker could not be started');
    };
    current.postMessage({ kind, args });
  });
}

async function told<T>(act: () => Promise<T>) {
  return act().catch((error: unknown) => ({
    error: error instanceof Failure ? { code: error.code, message: error.message } : toShape(error),
  }));
}

async function bytesOf(model: string | null): Promise<Uint8Array<ArrayBuffer>> {
  if (model !== null) return fromBase64(model);
  const file = document.querySelector<HTMLInputElement>('#model')?.files?.[0];
  if (file === undefined) throw new Failure('not-found', 'no file is chosen');
  return new Uint8Array(await file.arrayBuffer());
}

function unpacked(feed: Feed): RawTensor {
  return { ...feed, data: typeof feed.data === 'string' ? fromBase64(feed.data) : feed.data };
}

function packed(tensor: RawTensor): Feed {
  return { ...tensor, data: tensor.data instanceof Uint8Array ? toBase64(tensor.data) : tensor.data };
}
