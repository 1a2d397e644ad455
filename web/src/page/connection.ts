// Is the server there? The browser knows only whether there is a network, so the server is asked:
// at start, when the network changes, when the page comes back into view.

export type Reach = 'unknown' | 'reached' | 'unreachable';

export class Connection extends EventTarget {
  reach: Reach = 'unknown';
  readonly #probe: URL;

  constructor(site: URL) {
    super();
    // Never stored by the service worker. A static host answers 404, which is an answer too.
    this.#probe = new URL('v2/health/live', site);
    addEventListener('online', () => void this.check());
    addEventListener('offline', () => void this.check());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') void this.check();
    });
  }

  async check(): Promise<void> {
    const reach = await fetch(this.#probe, { cache: 'no-store' }).then(
      () => 'reached' as const,
      () => 'unreachable' as const,
    );
    this.tell(reach);
  }

  /** What somebody else found out by asking the server. */
  tell(reach: Reach): void {
    if (reach === this.reach) return;
    this.reach = reach;
    this.dispatchEvent(new Event('change'));
  }
}
