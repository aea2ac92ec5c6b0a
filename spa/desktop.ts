// The desktop: status bar, grid of icons, the open window.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { failed } from './entrance.ts';
import { Insecure, LanguageSwitch } from './frame.ts';
import { glyph } from './glyphs.ts';
import { Grid } from './grid.ts';
import { Menu } from './menu.ts';
import { openManager } from './open.ts';
import { Stale } from './stale.ts';
import { type Look, set, useApp } from './store.ts';
import { t, titleOf } from './text.ts';
import { Window } from './window.ts';
import { useUpdate as takeUpdate } from './worker.ts';

const words = {
  up: 'online',
  connecting: 'connecting',
  cut: 'cut',
  down: 'down',
  offline: 'offline',
  silent: 'silent',
  unserved: 'silent',
} as const;

const ownerPages = [
  ['manage', 'app'],
  ['people', 'people'],
  ['hubs', 'hub'],
] as const;

type SignOut = (forget?: boolean) => Promise<void>;

function MainMenu({ signOut }: { signOut: SignOut }) {
  const { hubName, brand, language, before, role } = useApp();
  // Who was invited is offered nothing that the hub would refuse.
  const isOwner = role === null || role === 'owner';
  const forget = () => {
    if (confirm(t('forget_sure', { hub: hubName || t('hub_yours') }))) void signOut(true);
  };
  const undo = () => import('./rearrange.ts').then((m) => m.undo()).catch(failed);
  return html`<${Menu} label=${t('menu')} icon="menu">
    <div class="line"><${LanguageSwitch} /></div>
    <hr />
    ${before && html`<button type="button" class="item" onClick=${undo}>${glyph('left')}${t('undo')}</button>`}
    ${
      isOwner &&
      ownerPages.map(
        ([page, icon]) =>
          html`<button type="button" class="item" onClick=${() => openManager(page)}>${glyph(icon)}${t(page)}</button>`,
      )
    }
    <button type="button" class="item" onClick=${() => signOut()}>${glyph('out')}${t('sign_out')}</button>
    <button type="button" class="item" onClick=${forget}>${glyph('trash')}${t('forget')}</button>
    ${brand.texts[language]?.support && html`<hr /><p class="line soft small">${brand.texts[language].support}</p>`}
  <//>`;
}

export function LinkPill() {
  const { link, lag } = useApp();
  const tone = link === 'up' ? 'ok' : link === 'connecting' ? 'warn' : 'bad';
  // The milliseconds change with each beat: they are there to be read, and not announced.
  const ms = link === 'up' && lag !== null && ` · ${t('lag', { ms: Math.round(lag) })}`;
  return html`<div class=${`pill ${tone}`} data-link=${link}><span><span role="status">${t(words[link])}</span>${ms}</span></div>`;
}

function StatusBar({ signOut }: { signOut: SignOut }) {
  const { hubName, brand } = useApp();
  return html`<header class="bar">
    <div class="brand"><img src="/icon.svg" alt="" width="32" height="32" /><span>${hubName || brand.name}</span></div>
    <${LinkPill} />
    <${MainMenu} signOut=${signOut} />
  </header>`;
}

/** A newer build waits: the person says when, as a reload takes away what is being looked at. */
export function Update() {
  return (
    useApp().update &&
    html`<div class="note banner update" role="status">${glyph('refresh')}<span>${t('refresh_page')}</span>
      <button type="button" class="button second" onClick=${takeUpdate}>${t('refresh_do')}</button></div>`
  );
}

/** The layout as the style sheet reads it. */
const styleOf = (look: Look | null) =>
  look
    ? { '--cols': look.grid.cols, '--gap': `${look.grid.gap}px`, '--pad': `${look.grid.padding}px` }
    : undefined;

const wide = matchMedia('(min-width: 64rem)');

export function Desktop({ signOut }: { signOut: SignOut }) {
  const { open, managing, icons, iconsAt, link, hubName, brand, look } = useApp();
  const [isWide, setWide] = useState(wide.matches);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const change = () => setWide(wide.matches);
    wide.addEventListener('change', change);
    const back = () => set({ open: null, managing: null });
    window.addEventListener('popstate', back);
    return () => {
      wide.removeEventListener('change', change);
      window.removeEventListener('popstate', back);
    };
  }, []);
  useLayoutEffect(() => heading.current?.focus(), []);
  const icon = open && icons?.find((i) => i.skill_id === open.skill_id);
  useEffect(() => {
    const at = icon ? titleOf(icon) : managing && t(managing);
    document.title = at ? `${at} · ${brand.name}` : hubName || brand.name;
  }, [icon, managing, hubName, brand]);
  const docked = open?.mode === 'panel' && isWide;
  const bar = look?.statusBar !== false;
  return html`<div data-page="desktop" class=${bar ? '' : 'barless'} style=${styleOf(look)}>
    <div class=${`desk${docked ? ' docked' : ''}`} inert=${Boolean(managing) || (Boolean(icon) && !docked)}>
      ${bar && html`<${StatusBar} signOut=${signOut} />`}
      <main>
        <div class="head"><h1 tabindex="-1" ref=${heading}>${t('skills')}</h1>${!bar && html`<${MainMenu} signOut=${signOut} />`}</div>
        <${Insecure} />
        ${link !== 'connecting' && html`<${Stale} at=${iconsAt} />`}
        <${Update} />
        <${Grid} />
      </main>
    </div>
    ${icon && !managing && html`<${Window} key=${icon.skill_id} icon=${icon} docked=${docked} />`}
    ${managing && html`<${Window} key=${managing} icon=${null} page=${managing} docked=${false} />`}
  </div>`;
}
