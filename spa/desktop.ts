// The desktop: status bar, grid of icons, the open window.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { wanting } from './attention.ts';
import { failed } from './entrance.ts';
import { Insecure, LanguageSwitch } from './frame.ts';
import { glyph } from './glyphs.ts';
import { Grid } from './grid.ts';
import { leave } from './leave.ts';
import { Menu } from './menu.ts';
import { openManager, openSkill } from './open.ts';
import { wide } from './place.ts';
import { Stale } from './stale.ts';
import { type Look, set, useApp } from './store.ts';
import { shown, t, titleOf } from './text.ts';
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

function MainMenu() {
  const { brand, language, before } = useApp();
  const undo = () => import('./rearrange.ts').then((m) => m.undo()).catch(failed);
  return html`<${Menu} label=${t('menu')} icon="menu">
    <div class="line"><${LanguageSwitch} /></div>
    <hr />
    ${before && html`<button type="button" class="item" onClick=${undo}>${glyph('left')}${t('undo')}</button>`}
    <button type="button" class="item" onClick=${() => openManager('scenarios')}>${glyph('play')}${t('scenarios')}</button>
    <button type="button" class="item" onClick=${() => openManager('settings')}>${glyph('gear')}${t('settings')}</button>
    <button type="button" class="item" onClick=${() => leave()}>${glyph('out')}${t('sign_out')}</button>
    ${brand.texts[language]?.support && html`<hr /><p class="line soft small">${brand.texts[language].support}</p>`}
  <//>`;
}

/** Comes when it is first asked for. */
const find = () => void import('./palette.ts').then((m) => m.openPalette()).catch(failed);

/** Ctrl or Cmd and K wherever one is, and a slash where nothing is typed. */
function onFindKey(e: KeyboardEvent): void {
  const isTyping = (e.target as Element).closest('input, textarea, select, [contenteditable]') !== null;
  const isK = (e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey && e.code === 'KeyK';
  const isSlash = e.key === '/' && !isTyping && !e.ctrlKey && !e.metaKey && !e.altKey;
  if ((!isK && !isSlash) || document.querySelector('dialog[open]')) return;
  e.preventDefault();
  find();
}

/** Search, and what skills have told. */
function Tools() {
  const { said, readTo } = useApp();
  const unread = said.filter((l) => l.topic === 'ui.notify' && l.at > readTo).length;
  const news = `${t('notices')}${unread ? `, ${t('unread', { n: unread })}` : ''}`;
  return html`<button type="button" class="icon-button" aria-label=${t('search')} aria-keyshortcuts="Control+K" title="Ctrl K" onClick=${find}>${glyph('search')}</button>
    <button type="button" class="icon-button bell" aria-label=${news} onClick=${() => openManager('notices')}>${glyph('bell')}${
      unread > 0 && html`<span class="count" aria-hidden="true">${unread}</span>`
    }</button>`;
}

/** What needs somebody, with the way there; or that all is well. */
function Wants() {
  const { icons, glances, link } = useApp();
  const all = icons && link === 'up' ? wanting(icons, glances) : [];
  return html`<div class="wanting" role="group" aria-label=${t('wants')} data-wanting=${all.length}>
    ${
      all.length === 0 && icons && link === 'up' && Object.keys(glances).length > 0
        ? html`${glyph('check')}<span>${t('all_well')}</span>`
        : all.map(
            ({ icon, says }) =>
              html`<button type="button" class="chip" onClick=${() => openSkill(icon)}>${glyph('info')}<span><b>${titleOf(icon)}</b> ${says === null ? t('stopped') : shown(says)}</span></button>`,
          )
    }
  </div>`;
}

export function LinkPill() {
  const { link, lag, direct } = useApp();
  const isUp = link === 'up';
  const tone = isUp ? 'ok' : link === 'connecting' ? 'warn' : 'bad';
  // The milliseconds change with each beat: they are there to be read, and not announced.
  const ms = isUp && lag !== null && ` · ${t('lag', { ms: Math.round(lag) })}`;
  return html`<div class=${`pill ${tone}`} data-link=${link}><span><span role="status">${t(isUp && direct ? 'direct' : words[link])}</span>${ms}</span></div>`;
}

function StatusBar() {
  const { hubName, brand } = useApp();
  return html`<header class="bar">
    <div class="brand"><img src="/icon.svg" alt="" width="32" height="32" /><span>${hubName || brand.name}</span></div>
    <${LinkPill} />
    <${MainMenu} />
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

/** The layout as the style sheet reads it; the columns are the grid's. */
const styleOf = (look: Look | null) =>
  look ? { '--gap': `${look.grid.gap}px`, '--pad': `${look.grid.padding}px` } : undefined;

export function Desktop() {
  const { open, managing, icons, iconsAt, hubName, brand, look } = useApp();
  const [isWide, setWide] = useState(wide.matches);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const end = new AbortController();
    wide.addEventListener('change', () => setWide(wide.matches), end);
    addEventListener('popstate', () => set({ open: null, managing: null }), end);
    addEventListener('keydown', onFindKey, end);
    return () => end.abort();
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
      ${bar && html`<${StatusBar} />`}
      <main>
        <div class="head"><h1 tabindex="-1" ref=${heading}>${t('skills')}</h1><span class="tools"><${Tools} />${!bar && html`<${MainMenu} />`}</span></div>
        <${Insecure} />
        <${Wants} />
        <${Grid} />
        <${Stale} at=${iconsAt}><${Update} /><//>
      </main>
    </div>
    ${icon && !managing && html`<${Window} key=${icon.skill_id} icon=${icon} docked=${docked} />`}
    ${managing && html`<${Window} key=${managing} icon=${null} page=${managing} docked=${false} />`}
  </div>`;
}
