// From the address after # to the view that it names, and back.

export type Route =
  | { readonly view: 'gallery' }
  | { readonly view: 'model'; readonly name: string }
  | { readonly view: 'evidence'; readonly name: string }
  | { readonly view: 'unknown'; readonly hash: string };

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function parseRoute(hash: string): Route {
  const [name, view, ...rest] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .filter(Boolean);
  if (name === undefined) return { view: 'gallery' };
  if (!NAME.test(name) || rest.length > 0) return { view: 'unknown', hash };
  if (view === undefined) return { view: 'model', name };
  return view === 'evidence' ? { view: 'evidence', name } : { view: 'unknown', hash };
}

export const galleryHref = '#/';
export const modelHref = (name: string): string => `#/${name}`;
export const evidenceHref = (name: string): string => `#/${name}/evidence`;
