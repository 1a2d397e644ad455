// The shell: all that the page needs, fetched at installation, each file with the hash that the build wrote down.
import { PrecacheController, type PrecacheEntry, PrecacheRoute } from 'workbox-precaching';
import { dropOldAssets, keepPrevious } from './assets';

declare const self: ServiceWorkerGlobalScope & { readonly __WB_MANIFEST: PrecacheEntry[] };

const CACHE = 'likewise-shell-1';

const controller = new PrecacheController({ cacheName: CACHE, fallbackToNetwork: true });
controller.addToCacheList(self.__WB_MANIFEST);

/** Answers for every file of the shell, headers included: so the page stays cross-origin isolated. */
export const shellRoute = new PrecacheRoute(controller, { directoryIndex: 'index.html' });

export async function installShell(event: ExtendableEvent): Promise<void> {
  await controller.install(event);
}

/** Other tabs may still run the version before and fetch a part of it late: its files stay for one more round. */
export async function activateShell(event: ExtendableEvent): Promise<void> {
  const current = new Set(controller.getCachedURLs().map(url => controller.getCacheKeyForURL(url)));
  await keepPrevious(CACHE, current);
  await dropOldAssets();
  await controller.activate(event);
}

/** A page of the site that is not in the shell; without a network the way leads to the start. */
export async function serveNavigation({ request }: { readonly request: Request }): Promise<Response> {
  return fetch(request).catch(() => Response.redirect(self.registration.scope));
}
