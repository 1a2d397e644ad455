// Load a model and predict with it. All work is done in a worker of the model's own.
import { parseAddress } from '../shared/address';
import { toShape } from '../shared/errors';
import { hasFiles, offlineVersion, readVersion } from '../shared/stored';
import { Connection } from './connection';
import type { Kept, LoadOptions, Model, PredictOptions } from './types';

export { type ErrorCode, LikewiseError } from '../shared/errors';
export { type OfflineOptions, offline } from './offline';
export type * from './types';

/**
 * Opens the model at `url`: `/models/<name>/` for its current version, `/models/<name>/<n>/` for that one.
 *
 * Every file is verified against the contract before use. Once the model is ready all is kept for use without
 * a network, in the background: `whenKept` says how that went.
 * Rejects with a LikewiseError whose `code` says why; nothing is run or stored then.
 */
export async function load(url: string, options: LoadOptions = {}): Promise<Model> {
  const { onProgress, signal, ...wishes } = options;
  const connection = new Connection();
  try {
    const args = { url: new URL(url, document.baseURI).href, options: wishes };
    const loaded = await connection.call('load', args, { onProgress, signal });
    return asModel(connection, loaded);
  } catch (error) {
    connection.end(); // also stops a download or a compilation that was called off
    throw error;
  }
}

/** Whether `load(url)` would work now without a network. */
export async function isAvailableOffline(url: string): Promise<boolean> {
  if (!('caches' in globalThis)) return false;
  const address = parseAddress(new URL(url, document.baseURI).href);
  const stored =
    address.kind === 'current'
      ? await offlineVersion(address.modelUrl)
      : await readVersion(address.versionUrl);
  return stored !== null && (await hasFiles(stored.files));
}

function asModel(connection: Connection, loaded: Pick<Model, 'contract' | 'ran' | 'report'>): Model {
  const notKept = (error: unknown): Kept => ({ availableOffline: false, why: toShape(error).message });
  return {
    ...loaded,
    whenKept: connection.call('whenKept', {}).catch(notKept),
    predict: (input, { signal }: PredictOptions = {}) => connection.call('predict', { input }, { signal }),
    predictTensors: (tensors, { signal }: PredictOptions = {}) =>
      connection.call('predictTensors', { tensors }, { signal }),
    decode: input => connection.call('decode', { input }),
    benchmark: async (tensors, runs) => (await connection.call('benchmark', { tensors, runs })).runMs,
    close: () => connection.close(),
  };
}
