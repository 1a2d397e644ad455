// What all components share: text, links, buttons, focus, lists without marks.
// Constructable style sheets only: the page's CSP allows no style attribute.

import { css } from 'lit';

export const shared = css`
  :host {
    display: block;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  h1,
  h2,
  h3,
  p,
  ol,
  ul,
  dl,
  dd,
  figure {
    margin: 0;
    padding: 0;
  }
  ol,
  ul {
    list-style: none;
  }
  h1 {
    font-size: var(--large);
    font-weight: 600;
    line-height: 1.25;
    letter-spacing: -0.02em;
    text-wrap: balance;
  }
  h2 {
    font-size: var(--normal);
    font-weight: 600;
    line-height: 1.5;
  }
  h3 {
    font-size: var(--small);
    font-weight: 600;
  }
  a {
    color: var(--accent);
    text-decoration-thickness: 1px;
    text-underline-offset: 3px;
  }
  a:hover {
    text-decoration-thickness: 2px;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
    border-radius: 2px;
  }
  .soft {
    color: var(--soft);
  }
  .small {
    font-size: var(--small);
  }
  .unseen {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  code {
    font-family: var(--mono);
    font-size: 0.9375em;
    overflow-wrap: anywhere;
  }
`;

export const buttons = css`
  button,
  .button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 8px;
    min-height: 48px;
    min-width: 48px;
    padding: 0 16px;
    border: 1px solid var(--edge);
    border-radius: var(--radius);
    background: var(--ground);
    color: var(--ink);
    font: inherit;
    text-decoration: none;
    cursor: pointer;
    transition:
      background-color var(--motion),
      border-color var(--motion);
  }
  button:hover,
  .button:hover {
    border-color: var(--accent);
    color: var(--accent);
  }
  button:active,
  .button:active {
    background: var(--accent-weak);
  }
  button.primary {
    border-color: var(--accent);
    background: var(--accent);
    color: var(--on-accent);
  }
  button.primary:hover {
    background: color-mix(in oklab, var(--accent) 88%, var(--ink));
  }
  button.plain {
    padding: 0;
    border-color: transparent;
    background: transparent;
    color: var(--accent);
  }
  button.plain:hover {
    text-decoration: underline;
    text-underline-offset: 3px;
  }
  button:disabled,
  button[aria-disabled='true'] {
    border-color: var(--line);
    background: transparent;
    color: var(--soft);
    cursor: default;
  }
  .row {
    display: flex;
    flex-wrap: wrap;
    gap: 8px;
    align-items: center;
  }
`;

/** Of what takes an input. On a phone the answer is to be seen meanwhile, so the heading that says the obvious goes. */
export const panel = css`
  :host {
    display: grid;
    gap: 16px;
    align-content: start;
  }
  @media (max-width: 831px) {
    h2 {
      position: absolute;
      clip-path: inset(50%);
    }
  }
`;
