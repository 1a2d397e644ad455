// The frame around every view: name, where to go, whether the server is there, theme, update notice.

import { css, html, LitElement, nothing } from 'lit';
import { offline } from '../runtime';
import { Catalogue } from './catalogue';
import { Connection } from './connection';
import './evidence-page';
import './gallery';
import { auto, away, dark, ditto, light } from './icons';
import './model-page';
import { galleryHref, parseRoute, type Route } from './route';
import type { Shell } from './shell';
import { buttons, shared } from './styles';
import { currentTheme, nextTheme, type Theme } from './theme';

const THEMES: Readonly<Record<Theme, { name: string; icon: unknown }>> = {
  auto: { name: 'as the device', icon: auto },
  light: { name: 'light', icon: light },
  dark: { name: 'dark', icon: dark },
};

export class App extends LitElement {
  static override properties = {
    route: { state: true },
    theme: { state: true },
    applyUpdate: { state: true },
    unreachable: { state: true },
    shell: { state: true },
  };
  declare route: Route;
  declare theme: Theme;
  /** Puts the newer page that waits in this one's place. */
  declare applyUpdate: (() => void) | null;
  declare unreachable: boolean;
  declare shell: Shell;

  readonly #site = new URL('./', document.baseURI);
  readonly #catalogue = new Catalogue(this.#site);
  readonly #connection = new Connection(this.#site);

  constructor() {
    super();
    this.route = parseRoute(location.hash);
    this.theme = currentTheme();
    this.applyUpdate = null;
    this.unreachable = false;
    this.shell = 'storing';
    addEventListener('hashchange', () => this.#go());
    this.#connection.addEventListener('change', () => {
      this.unreachable = this.#connection.reach === 'unreachable';
    });
    void this.#storeShell();
  }

  protected override firstUpdated(): void {
    this.#title();
    void this.#connection.check();
  }

  override render() {
    return html`
      <button class="skip" @click=${this.#skip}>Skip to the content</button>
      <header>
        <a class="home" href=${galleryHref} aria-label="Likewise, all models">${ditto}<span>Likewise</span></a>
        <div class="row">
          <p class="reach small" role="status">${this.unreachable ? html`${away}Server out of reach` : nothing}</p>
          <button class="theme" @click=${this.#nextTheme} aria-label="Theme: ${THEMES[this.theme].name}" title="Theme: ${THEMES[this.theme].name}">
            ${THEMES[this.theme].icon}
          </button>
        </div>
      </header>
      <main tabindex="-1">${this.#view()}</main>
      <footer class="small soft"><p>What you draw, choose or type stays on this device unless you ask for the server's opinion. This page calls no other site.</p></footer>
      ${
        this.applyUpdate
          ? html`<aside class="notice" role="status">
            <p>A new version of this page is ready.</p>
            <div class="row">
              <button class="primary" @click=${this.#useUpdate}>Use it now</button>
              <button @click=${this.#later}>Later</button>
            </div>
          </aside>`
          : nothing
      }
    `;
  }

  #view() {
    const { route } = this;
    switch (route.view) {
      case 'gallery':
        return html`<lw-gallery .catalogue=${this.#catalogue} .shell=${this.shell}></lw-gallery>`;
      case 'model':
        return html`<lw-model-page .shell=${this.shell} .catalogue=${this.#catalogue} .site=${this.#site} .name=${route.name}></lw-model-page>`;
      case 'evidence':
        return html`<lw-evidence-page .catalogue=${this.#catalogue} .name=${route.name}></lw-evidence-page>`;
      case 'unknown':
        return html`<h1>There is no such page</h1><p>The address names <code>${route.hash}</code>. <a href=${galleryHref}>All models</a></p>`;
      default:
        return route satisfies never;
    }
  }

  async #storeShell(): Promise<void> {
    const offered = await offline({
      onReady: () => {
        this.shell = 'stored';
      },
      onUpdate: apply => {
        this.applyUpdate = apply;
      },
    });
    if (!offered) this.shell = 'none';
  }

  #go(): void {
    this.route = parseRoute(location.hash);
    this.#title();
    scrollTo(0, 0);
    // So that a keyboard or a screen reader goes on from the new view, not from where the old one was left.
    this.renderRoot.querySelector('main')?.focus({ preventScroll: true });
  }

  #title(): void {
    document.title = titleOf(this.route);
  }

  #skip(): void {
    this.renderRoot.querySelector('main')?.focus();
  }

  #nextTheme(): void {
    this.theme = nextTheme();
  }

  #useUpdate(): void {
    this.applyUpdate?.();
  }

  #later(): void {
    this.applyUpdate = null;
  }

  static override styles = [
    shared,
    buttons,
    css`
      :host {
        display: grid;
        grid-template-rows: auto 1fr auto;
        min-height: 100dvh;
        max-width: 1120px;
        margin: 0 auto;
        padding: 0 16px;
      }
      header {
        display: flex;
        align-items: center;
        justify-content: space-between;
        gap: 16px;
        padding: 8px 0;
      }
      .home {
        display: inline-flex;
        align-items: center;
        gap: 8px;
        min-height: 48px;
        color: inherit;
        font-weight: 600;
        text-decoration: none;
      }
      .reach,
      .reach svg {
        display: inline-flex;
        align-items: center;
        gap: 4px;
        color: var(--soft);
      }
      .theme {
        margin-right: -14px;
        padding: 0;
        border-color: transparent;
      }
      main {
        min-width: 0;
        padding: 0 0 48px;
      }
      main:focus-visible {
        outline: none;
      }
      footer {
        padding: 24px 0 32px;
        border-top: 1px solid var(--line);
      }
      .skip {
        position: absolute;
        top: 8px;
        left: 8px;
        z-index: 2;
      }
      .skip:not(:focus) {
        width: 1px;
        min-width: 0;
        height: 1px;
        min-height: 0;
        padding: 0;
        overflow: hidden;
        clip-path: inset(50%);
      }
      .notice {
        position: fixed;
        right: 16px;
        bottom: 16px;
        z-index: 1;
        display: grid;
        gap: 16px;
        max-width: calc(100vw - 32px);
        padding: 16px;
        border: 1px solid var(--edge);
        border-radius: var(--radius);
        background: var(--ground);
        box-shadow: 0 8px 32px rgb(0 0 0 / 24%);
      }
      @media (min-width: 640px) {
        :host {
          padding: 0 32px;
        }
        header {
          padding: 16px 0;
        }
        main {
          padding: 16px 0 64px;
        }
      }
    `,
  ];
}

/** Until the view knows better: a model's own title comes with the index. */
function titleOf(route: Route): string {
  switch (route.view) {
    case 'gallery':
      return 'Likewise: trained models on your own device';
    case 'model':
      return `${route.name} | Likewise`;
    case 'evidence':
      return `Evidence of ${route.name} | Likewise`;
    case 'unknown':
      return 'No such page | Likewise';
    default:
      return route satisfies never;
  }
}

customElements.define('lw-app', App);
