// What a model's URL means: /models/<name>/ is its current version, /models/<name>/<n>/ that very version.
import { LikewiseError } from './errors';

export type Address =
  | { readonly kind: 'current'; readonly name: string; readonly modelUrl: string; readonly indexUrl: string }
  | {
      readonly kind: 'version';
      readonly name: string;
      readonly modelUrl: string;
      readonly versionUrl: string;
    };

/** `url` is absolute; query and fragment do not count, a missing slash at the end does not matter. */
export function parseAddress(url: string): Address {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/*$/, '/');
  const folder = `${origin}${path}`;
  const match = /\/([^/]+)\/(?:([1-9][0-9]*)\/)?$/.exec(path);
  const name = match?.[1];
  if (name === undefined) throw new LikewiseError('not-found', `${url}: not the address of a model`);
  if (match?.[2] === undefined) {
    return { kind: 'current', name, modelUrl: folder, indexUrl: new URL('../index.json', folder).href };
  }
  return { kind: 'version', name, modelUrl: new URL('../', folder).href, versionUrl: folder };
}

/** The folder of a version, from its model's. */
export function versionUrl(modelUrl: string, version: number): string {
  return new URL(`${version}/`, modelUrl).href;
}
