// Makes the page itself work without a network, and tells when a newer one waits.

export interface OfflineOptions {
  /** The page with all it needs is stored. */
  readonly onReady?: () => void;
  /** A newer page waits. Ask the user, then call `apply`: it takes effect in all tabs and reloads this one. */
  readonly onUpdate?: (apply: () => void) => void;
}

/** Registers the service worker beside the page. Resolves to false where the browser offers none. */
export async function offline(options: OfflineOptions = {}): Promise<boolean> {
  if (!('serviceWorker' in navigator)) return false;
  const script = new URL('sw.js', document.baseURI);
  const registration = await navigator.serviceWorker.register(script).catch(() => null);
  if (registration === null) return false;
  void navigator.serviceWorker.ready.then(() => options.onReady?.());
  const tell = (waiting: ServiceWorker) => options.onUpdate?.(() => apply(waiting));
  if (registration.waiting && registration.active) tell(registration.waiting);
  registration.addEventListener('updatefound', () => {
    const worker = registration.installing;
    worker?.addEventListener('statechange', () => {
      // The very first one has nobody to wait for and takes over by itself.
      if (worker.state === 'installed' && registration.active) tell(worker);
    });
  });
  return true;
}

function apply(waiting: ServiceWorker): void {
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
  waiting.postMessage({ kind: 'take-over' });
}
