// Which page stands before the desktop.
import { html } from 'htm/preact';
import { signOut } from './flow.ts';
import { Frame } from './frame.ts';
import { glyph } from './glyphs.ts';
import { later } from './later.ts';
import { Entry } from './pages-code.ts';
import { Approve, Login, Register } from './pages-passkey.ts';
import { Alarm, TroublePage } from './pages-stop.ts';
import { app, type Page } from './store.ts';
import { t } from './text.ts';

const steps = ['passkey', 'hub', 'prove', 'open'] as const;
function Connecting({ page }: { page: Extract<Page, { at: 'connecting' }> }) {
  const now = steps.indexOf(page.step);
  const { link } = app();
  const waits =
    link === 'offline'
      ? 'connect_wait'
      : link === 'up' || link === 'connecting'
        ? null
        : (`${link}_banner` as const);
  return html`<${Frame} id="connecting" icon="hub" title=${t('connect_title')}>
    <ol class="steps">
      ${steps.map(
        (
          s,
          i,
        ) => html`<li data-is=${i < now ? 'done' : i === now ? 'now' : 'next'} aria-current=${i === now ? 'step' : undefined}>
          <span class="dot">${i < now && glyph('check')}</span>${t(`step_${s}`)}</li>`,
      )}
    </ol>
    <div class="slot" aria-live="polite">
      ${waits && html`<div class="note warn">${glyph('offline')}<span>${t(waits)}</span></div>`}
    </div>
    <div class="actions"><button class="button second wide" type="button" onClick=${() => signOut()}>${t('cancel')}</button></div>
  <//>`;
}

export function Boot() {
  return html`<div class="page" data-page="boot" aria-busy="true">
    <header><div class="brand"><img src="/icon.svg" alt="" width="32" height="32" />${app().brand.name}</div></header>
    <main><p class="soft" role="status"><span class="sr">${t('loading')}</span></p></main>
  </div>`;
}

const Aside = later(() => import('./pages-aside.ts').then((m) => m.Aside), Boot);

/** The page the state asks for, but the desktop, which comes when it is needed. */
export function PageOf({ page }: { page: Page }) {
  switch (page.at) {
    case 'entry':
      return html`<${Entry} page=${page} />`;
    case 'register':
      return html`<${Register} page=${page} />`;
    case 'login':
      return html`<${Login} page=${page} />`;
    case 'connecting':
      return html`<${Connecting} page=${page} />`;
    case 'approve':
      return html`<${Approve} page=${page} />`;
    case 'alarm':
      return html`<${Alarm} page=${page} />`;
    case 'trouble':
      return html`<${TroublePage} page=${page} />`;
    case 'boot':
    case 'desktop':
      return html`<${Boot} />`;
    default:
      return html`<${Aside} page=${page} />`;
  }
}
