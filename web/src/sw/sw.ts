// The service worker: page, runtime and opened models work with the server gone.
//
// It never takes over an open page by itself: a newer one waits until the page says `take-over`.
import { registerRoute } from 'workbox-routing';
import { isRuntimeAsset, serveAsset } from './assets';
import { isIndex, isVersionFile, keepIndex, serveIndex, serveVersionFile } from './models';
import { activateShell, installShell, serveNavigation, shellRoute } from './shell';

declare const self: ServiceWorkerGlobalScope;

self.addEventListener('install', event => {
  event.waitUntil(installShell(event));
  // For the gallery without a network; the page is worth keeping without it, too.
  event.waitUntil(keepIndex().catch(() => {}));
});

self.addEventListener('activate', event => {
  event.waitUntil(activateShell(event).then(() => self.clients.claim()));
});

self.addEventListener('message', event => {
  if ((event.data as { kind?: unknown } | null)?.kind === 'take-over') void self.skipWaiting();
});

registerRoute(shellRoute);
registerRoute(({ url }) => isIndex(url), serveIndex);
registerRoute(({ url }) => isVersionFile(url), serveVersionFile);
registerRoute(({ url }) => isRuntimeAsset(url), serveAsset);
registerRoute(({ request }) => request.mode === 'navigate', serveNavigation);
