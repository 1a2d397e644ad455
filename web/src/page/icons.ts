// The few signs of the page, drawn on a 24 px grid in the colour of their text.

import { html, type SVGTemplateResult, svg, type TemplateResult } from 'lit';

function icon(paths: SVGTemplateResult): TemplateResult {
  return html`<svg width="20" height="20" viewBox="0 0 24 24" fill="none" stroke="currentColor"
    stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;
}

/** Two like strokes, the ditto mark: "the same again". */
export const ditto = html`<svg width="32" height="32" viewBox="0 0 32 32" aria-hidden="true">
  <rect width="32" height="32" rx="7" fill="var(--accent)"></rect>
  <path d="M14.5 10.5 11.5 21.5M21.5 10.5 18.5 21.5" fill="none" stroke="var(--on-accent)" stroke-width="4" stroke-linecap="round"></path>
</svg>`;

export const checked = icon(svg`<path d="M5 12.5 10 17.5 19 7"></path>`);
export const missed = icon(svg`<path d="M6 6 18 18M18 6 6 18"></path>`);
export const stored = icon(svg`<path d="M12 4v10M8 10.5l4 4 4-4M5 19.5h14"></path>`);
export const away = icon(
  svg`<path d="M4 4 20 20M7 16.5h9M5.2 12.2a4 4 0 0 0 1.8 4.3M9.5 8.3A5 5 0 0 1 16.8 11a3.5 3.5 0 0 1 3 4"></path>`,
);
export const clear = icon(svg`<path d="M6 6 18 18M18 6 6 18"></path>`);
export const undo = icon(svg`<path d="M8 5 4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11H9"></path>`);
export const picture = icon(
  svg`<rect x="3.5" y="4.5" width="17" height="15" rx="1.5"></rect><path d="M4 16.5 9 11l4.5 5 2.5-2.5 4 4"></path><circle cx="15.5" cy="9" r="1.2"></circle>`,
);
export const document = icon(svg`<path d="M6 3.5h8.5L19 8v12.5H6ZM14 3.5V8.5h5"></path>`);
export const pencil = icon(svg`<path d="M4 20l1-4.5L16 4.5l3.5 3.5L8.5 19ZM13.5 7l3.5 3.5"></path>`);
export const table = icon(
  svg`<rect x="3.5" y="4.5" width="17" height="15" rx="1.5"></rect><path d="M3.5 9.5h17M3.5 14.5h17M9.5 9.5v10M15 9.5v10"></path>`,
);
export const text = icon(svg`<path d="M4 6h16M4 10.5h16M4 15h16M4 19.5h9"></path>`);
export const sound = icon(svg`<path d="M4 10v4M8 7v10M12 4v16M16 8v8M20 10.5v3"></path>`);
export const tensor = icon(svg`<path d="M12 3 20 7.5v9L12 21l-8-4.5v-9ZM4 7.5 12 12l8-4.5M12 12v9"></path>`);
export const stop = icon(svg`<circle cx="12" cy="12" r="9"></circle><path d="M5.7 5.7 18.3 18.3"></path>`);
export const light = icon(
  svg`<circle cx="12" cy="12" r="4"></circle><path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4"></path>`,
);
export const dark = icon(svg`<path d="M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z"></path>`);
export const auto = icon(
  svg`<circle cx="12" cy="12" r="8.5"></circle><path d="M12 3.5v17a8.5 8.5 0 0 0 0-17Z" fill="currentColor"></path>`,
);
