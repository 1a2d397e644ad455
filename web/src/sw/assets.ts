// Build output that not every visitor needs (the WebGPU runtime, the verify page): kept when first used.
// Names carry the content's hash, so what is kept is never out of date.

declare const self: ServiceWorkerGlobalScope;
/** Paths, relative to the scope; put in by the build. */
declare const __RUNTIME_ASSETS__: readonly string[];

const USED = 'likewise-assets-1';
const PREVIOUS = 'likewise-previous-1';

export function isRuntimeAsset(url: URL): boolean {
  return url.href.startsWith(new URL('assets/', self.registration.scope).href);
}

export async function serveAsset({
  request,
  url,
}: {
  readonly request: Request;
  readonly url: URL;
}): Promise<Response> {
  const kept = (await match(USED, request)) ?? (await match(PREVIOUS, request));
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.status === 200 && ours().has(url.href)) {
    const copy = response.clone();
    // Storage may be full: the page works all the same.
    await caches
      .open(USED)
      .then(cache => cache.put(request, copy))
      .catch(() => {});
  }
  return response;
}

/** Moves what is not in `current` from the shell's cache to a cache of its own, instead of what lay there. */
export async function keepPrevious(
  shellCache: string,
  current: ReadonlySet<string | undefined>,
): Promise<void> {
  const shell = await caches.open(shellCache);
  const outdated = (await shell.keys()).filter(request => !current.has(request.url));
  if (outdated.length === 0) return;
  await caches.delete(PREVIOUS);
  const previous = await caches.open(PREVIOUS);
  for (const request of outdated) {
    const response = await shell.match(request);
    if (response !== undefined) await previous.put(request, response).catch(() => {});
  }
}

export async function dropOldAssets(): Promise<void> {
  const cache = await caches.open(USED);
  const kept = ours();
  const outdated = (await cache.keys()).filter(request => !kept.has(request.url));
  await Promise.all(outdated.map(request => cache.delete(request)));
}

function ours(): ReadonlySet<string> {
  return new Set(__RUNTIME_ASSETS__.map(path => new URL(path, self.registration.scope).href));
}

async function match(cache: string, request: Request): Promise<Response | undefined> {
  return caches.match(request, { cacheName: cache });
}
