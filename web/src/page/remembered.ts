// What the page remembers on this device: a few words in localStorage, or for this visit only
// where storage is denied.

const PREFIX = 'likewise.';
const visit = new Map<string, string>();

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return visit.get(key) ?? null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(PREFIX + key, value);
  } catch {
    visit.set(key, value);
  }
}

export function forget(key: string): void {
  visit.delete(key);
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Storage is denied: the visit's own memory was all there was.
  }
}
