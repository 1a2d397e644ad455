// From an address to a contract: the current one when the server answers, else a stored one.
import type { Address } from '../shared/address';
import { versionUrl } from '../shared/address';
import type { Contract } from '../shared/contract';
import { sha256 } from '../shared/digest';
import { LikewiseError } from '../shared/errors';
import type { Index } from '../shared/index-file';
import { parseContract, parseIndex } from '../shared/parse';
import { INDEX_CACHE, offlineVersion, readFile, readVersion, type StoredVersion } from '../shared/stored';
import { download, request } from './download';
import type { VerifiedFile } from './store';

export interface Located {
  readonly contract: Contract;
  readonly file: VerifiedFile;
  readonly versionUrl: string;
  /** What to tell the user about the choice of version; empty when there was none. */
  readonly why: readonly string[];
}

export async function locate(address: Address): Promise<Located> {
  return address.kind === 'current' ? locateCurrent(address) : locateVersion(address);
}

/** What the store has of the model, for when the server is away. */
export async function locateStored(address: Address): Promise<Located | null> {
  const stored =
    address.kind === 'current'
      ? await offlineVersion(address.modelUrl)
      : await readVersion(address.versionUrl);
  return stored && openStored(stored, ['the server cannot be reached: the stored version runs']);
}

async function locateCurrent(address: Extract<Address, { kind: 'current' }>): Promise<Located> {
  const index = await fetchIndex(address.indexUrl);
  const entry = index.models[address.name];
  if (entry === undefined) {
    const names = Object.keys(index.models).join(', ');
    throw new LikewiseError('not-found', `${address.name}: not among the models (${names})`);
  }
  const url = versionUrl(address.modelUrl, entry.version);
  const ref = { ...entry.contract, file: 'contract.json' };
  const data = (await readFile(ref)) ?? (await download(new URL(ref.file, url).href, ref));
  return { ...open(data, url, address.name, entry.version), file: { ref, data } };
}

async function locateVersion(address: Extract<Address, { kind: 'version' }>): Promise<Located> {
  const response = await request(new URL('contract.json', address.versionUrl).href, 'no-cache');
  const data = new Uint8Array(await response.arrayBuffer());
  const ref = { file: 'contract.json', size_bytes: data.length, sha256: await sha256(data) };
  const version = Number(new URL(address.versionUrl).pathname.split('/').at(-2));
  return { ...open(data, address.versionUrl, address.name, version), file: { ref, data } };
}

async function openStored(stored: StoredVersion, why: readonly string[]): Promise<Located | null> {
  const data = await readFile(stored.contract);
  if (data === null) return null;
  const contract = parseContract(data, `${stored.versionUrl}contract.json`);
  return { contract, versionUrl: stored.versionUrl, file: { ref: stored.contract, data }, why };
}

function open(data: Uint8Array, url: string, name: string, version: number): Omit<Located, 'file'> {
  const file = `${url}contract.json`;
  const contract = parseContract(data, file);
  if (contract.name !== name || contract.version !== version) {
    const actual = `${contract.name}/${contract.version}`;
    throw new LikewiseError('bad-contract', `${file}: is of ${actual}, not of ${name}/${version}`);
  }
  return { contract, versionUrl: url, why: [] };
}

/** The server's index, kept for when it is away; then the kept one. */
async function fetchIndex(url: string): Promise<Index> {
  try {
    const response = await request(url, 'no-cache');
    const text = await response.text();
    const index = parseIndex(text, url);
    await keepIndex(url, text);
    return index;
  } catch (error) {
    const kept =
      error instanceof LikewiseError && error.code === 'offline' ? await keptIndex(url) : undefined;
    if (kept === undefined) throw error;
    return parseIndex(await kept.text(), url);
  }
}

async function keepIndex(url: string, text: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  // Only a convenience for later: without storage the model runs all the same.
  await caches
    .open(INDEX_CACHE)
    .then(cache => cache.put(url, new Response(text, { headers })))
    .catch(() => {});
}

async function keptIndex(url: string): Promise<Response | undefined> {
  return (await caches.open(INDEX_CACHE)).match(url);
}
