// Models: the list of them from the server when it answers, files of stored versions from the verified store.
import { parseIndex } from '../shared/parse';
import { INDEX_CACHE, readFile, readVersion } from '../shared/stored';

declare const self: ServiceWorkerGlobalScope;

const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
};
const OTHER = 'application/octet-stream';

/** Answers of a proxy whose server is away. */
const UNREACHABLE = [502, 503, 504];

function modelsUrl(): string {
  return new URL('models/', self.registration.scope).href;
}

export function isIndex(url: URL): boolean {
  return url.href === `${modelsUrl()}index.json`;
}

export function isVersionFile(url: URL): boolean {
  return versionAndFile(url) !== null;
}

/** Keeps the server's list for when it is away; throws when it is not what its schema says. */
export async function keepIndex(): Promise<void> {
  const url = `${modelsUrl()}index.json`;
  const response = await fetch(url, { cache: 'no-cache' });
  if (response.ok) await keep(url, response);
}

/** From the server; when it is away, as it was last. */
export async function serveIndex({ request }: { readonly request: Request }): Promise<Response> {
  const response = await fetch(request, { cache: 'no-cache' }).catch(() => null);
  if (response === null || UNREACHABLE.includes(response.status)) {
    const kept = await (await caches.open(INDEX_CACHE)).match(request.url);
    return kept ?? response ?? Response.error();
  }
  if (response.ok) await keep(request.url, response.clone()).catch(() => {});
  return response;
}

/** Stored bytes, hashed once more on the way out; versions never change, so they are as good as the server's. */
export async function serveVersionFile({
  request,
  url,
}: {
  readonly request: Request;
  readonly url: URL;
}): Promise<Response> {
  const data = await stored(url).catch(() => null);
  if (data === null) return fetch(request);
  const type = TYPES[url.pathname.split('.').at(-1) ?? ''] ?? OTHER;
  return new Response(data, {
    headers: {
      'Content-Type': type,
      'Content-Length': String(data.length),
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
    },
  });
}

async function stored(url: URL): Promise<Uint8Array<ArrayBuffer> | null> {
  const place = versionAndFile(url);
  const version = place && (await readVersion(place.versionUrl));
  const ref = version?.files.find(file => file.file === place?.file);
  return ref === undefined ? null : readFile(ref);
}

function versionAndFile(url: URL): { readonly versionUrl: string; readonly file: string } | null {
  const base = modelsUrl();
  const place = `${url.origin}${url.pathname}`;
  if (!place.startsWith(base)) return null;
  const match = /^([^/]+\/[1-9][0-9]*\/)(.+)$/.exec(place.slice(base.length));
  const [, folder, file] = match ?? [];
  return folder === undefined || file === undefined ? null : { versionUrl: base + folder, file };
}

async function keep(url: string, response: Response): Promise<void> {
  const text = await response.text();
  parseIndex(text, url);
  const headers = { 'Content-Type': 'application/json' };
  await (await caches.open(INDEX_CACHE)).put(url, new Response(text, { headers }));
}
