// Light, dark, or as the device says; remembered.

import { recall, remember } from './remembered';

export type Theme = 'auto' | 'light' | 'dark';

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const satisfies Record<Theme, Theme>;

export function currentTheme(): Theme {
  const stored = recall('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

/** Put the remembered theme on the document. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = currentTheme();
}

/** Go to the next theme, remember it, show it. */
export function nextTheme(): Theme {
  const next = NEXT[currentTheme()];
  remember('theme', next);
  applyTheme();
  return next;
}
