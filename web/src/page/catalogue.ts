// What is published here: index.json, the contracts and the evidence, each checked before it is shown.

import type { Contract, FileRef } from '../shared/contract';
import { verify } from '../shared/digest';
import { ERROR_CODES, type ErrorShape, LikewiseError } from '../shared/errors';
import type { Evidence } from '../shared/evidence';
import type { Index, IndexEntry } from '../shared/index-file';
import { parseContract, parseEvidence, parseIndex } from '../shared/parse';

export interface Published {
  readonly entry: IndexEntry;
  readonly contract: Contract;
  readonly versionUrl: URL;
}

export class Catalogue {
  readonly models: URL;

  /** `site` is the address of the page itself; the models lie beside it. */
  constructor(site: URL) {
    this.models = new URL('models/', site);
  }

  modelUrl(name: string): URL {
    return new URL(`${name}/`, this.models);
  }

  versionUrl(name: string, version: number): URL {
    return new URL(`${version}/`, this.modelUrl(name));
  }

  /** The index as the server has it now, or as it was last seen when the server is away. */
  async index(signal: AbortSignal): Promise<Index> {
    return parseIndex(await fetchBytes(new URL('index.json', this.models), signal, 'no-cache'), 'index.json');
  }

  async entry(name: string, signal: AbortSignal): Promise<IndexEntry> {
    const entry = (await this.index(signal)).models[name];
    if (entry === undefined) {
      throw new LikewiseError('not-found', `No model named ${name} is published here.`);
    }
    return entry;
  }

  /** The current version's contract, the very bytes that the index names. */
  async published(name: string, entry: IndexEntry, signal: AbortSignal): Promise<Published> {
    const bytes = await fetchVerified(this.models, entry.contract, signal);
    const contract = parseContract(bytes, entry.contract.file);
    return { entry, contract, versionUrl: this.versionUrl(name, entry.version) };
  }

  async evidence({ contract, versionUrl }: Published, signal: AbortSignal): Promise<Evidence> {
    const ref = contract.documents.find(({ file }) => file === 'evidence.json');
    if (ref === undefined) {
      throw new LikewiseError('unverified', `${contract.name}/${contract.version} names no evidence.json.`);
    }
    return parseEvidence(await fetchVerified(versionUrl, ref, signal), ref.file);
  }
}

/** The bytes of a file beside `base`, or wrong-bytes. */
export async function fetchVerified(
  base: URL,
  ref: FileRef,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await fetchBytes(new URL(ref.file, base), signal, 'default');
  await verify(bytes, ref);
  return bytes;
}

async function fetchBytes(
  url: URL,
  signal: AbortSignal,
  cache: RequestCache,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url, { signal, cache }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new LikewiseError('offline', `${url.pathname}: the server cannot be reached.`);
  });
  if (!response.ok) throw await refusedBy(response, url);
  return new Uint8Array(await response.arrayBuffer());
}

/** Answers of a proxy whose server is away. */
const UNREACHABLE = [502, 503, 504];

/** What our server says is wrong; of any other answer what its status means. */
async function refusedBy(response: Response, url: URL): Promise<LikewiseError> {
  const said = saidError(await response.json().catch(() => null));
  const where = `${url.pathname}: the server answered ${response.status}`;
  if (response.status === 404) return new LikewiseError('not-found', where);
  if (said !== null) return new LikewiseError(said.code, `${where}: ${said.message}`);
  return new LikewiseError(UNREACHABLE.includes(response.status) ? 'offline' : 'failed', where);
}

function saidError(body: unknown): ErrorShape | null {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  if (typeof error !== 'object' || error === null || !('code' in error) || !('message' in error)) return null;
  const code = ERROR_CODES.find(known => known === error.code) ?? 'failed';
  return { code, message: String(error.message) };
}
