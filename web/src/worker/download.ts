// From the network to verified bytes: whatever comes is measured against the contract before anyone sees it.
import type { FileRef } from '../shared/contract';
import { verify, wrongSize } from '../shared/digest';
import { LikewiseError } from '../shared/errors';
import { throwIfAborted } from './job-queue';

const ATTEMPTS = 3;
/** Answers of a proxy whose server is away. */
const UNREACHABLE = [502, 503, 504];

/** A transfer that broke off: worth another try, unlike bytes that are wrong. */
class BrokenTransfer extends Error {
  constructor(readonly final: LikewiseError) {
    super(final.message);
  }
}

/**
 * The file's bytes, of the size and hash that `ref` promises; throws wrong-bytes, not-found or offline.
 * Throws aborted once `signal` says so. `onBytes` gets the bytes so far, which never pass the promised size.
 */
export async function download(
  url: string,
  ref: FileRef,
  onBytes: (done: number) => void = () => {},
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const data = await transfer(url, ref, onBytes, signal);
      await verify(data, ref);
      return data;
    } catch (error) {
      if (!(error instanceof BrokenTransfer)) throw error;
      if (attempt === ATTEMPTS) throw error.final;
    }
  }
}

/** A response that is ok, or an error that says what it was instead. */
export async function request(url: string, cache: RequestCache, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, { cache, signal: signal ?? null }).catch((error: unknown) => {
    if (signal !== undefined) throwIfAborted(signal);
    throw new LikewiseError('offline', `${url}: the server cannot be reached`, { cause: error });
  });
  if (response.ok) return response;
  if (UNREACHABLE.includes(response.status)) {
    throw new LikewiseError('offline', `${url}: the server cannot be reached (${response.status})`);
  }
  if (response.status === 404 || response.status === 410) {
    throw new LikewiseError('not-found', `${url}: ${response.status}`);
  }
  throw new LikewiseError('failed', `${url}: the server answers ${response.status}`);
}

async function transfer(
  url: string,
  ref: FileRef,
  onBytes: (done: number) => void,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  // Not through the HTTP cache: a wrong byte would stay there, and a right one be kept twice.
  const response = await request(url, 'no-store', signal).catch((error: unknown) => {
    throw error instanceof LikewiseError && error.code === 'offline' ? new BrokenTransfer(error) : error;
  });
  const type = response.headers.get('Content-Type') ?? 'no type';
  const data = new Uint8Array(ref.size_bytes);
  let done = 0;
  for await (const chunk of chunks(response, url)) {
    if (done + chunk.length > data.length) throw wrongSize(ref, `${type}: more`);
    data.set(chunk, done);
    done += chunk.length;
    onBytes(done);
  }
  if (done < data.length) throw new BrokenTransfer(wrongSize(ref, `${type}: ${done}`));
  return data;
}

async function* chunks(response: Response, url: string): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    while (true) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new BrokenTransfer(
          new LikewiseError('offline', `${url}: the transfer broke off`, { cause: error }),
        );
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
