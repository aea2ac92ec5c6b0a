// The desktop: status bar, grid of skills, the open window.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { failed } from './entrance.ts';
import { Insecure, LanguageSwitch } from './frame.ts';
import { face, glyph } from './glyphs.ts';
import { move, pin, sorted } from './icons.ts';
import { Menu } from './menu.ts';
import { openManager, openSkill } from './open.ts';
import { Stale } from './stale.ts';
import { type Icon, set, useApp } from './store.ts';
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

function StatusBar({ signOut }: { signOut(forget?: boolean): Promise<void> }) {
  const { link, lag, hubName, brand, language, role } = useApp();
  // Who was invited is offered nothing that the hub would refuse.
  const isOwner = role === null || role === 'owner';
  const forget = () => {
    if (confirm(t('forget_sure', { hub: hubName || t('hub_yours') }))) void signOut(true);
  };
  const tone = link === 'up' ? 'ok' : link === 'connecting' ? 'warn' : 'bad';
  // The milliseconds change with each beat: they are there to be read, and not announced.
  const ms = link === 'up' && lag !== null && ` · ${t('lag', { ms: Math.round(lag) })}`;
  return html`<header class="bar">
    <div class="brand"><img src="/icon.svg" alt="" width="32" height="32" /><span>${hubName || brand.name}</span></div>
    <div class=${`pill ${tone}`} data-link=${link}><span><span role="status">${t(words[link])}</span>${ms}</span></div>
    <${Menu} label=${t('menu')} icon="menu">
      <div class="line"><${LanguageSwitch} /></div>
      <hr />
      ${
        isOwner &&
        html`<button type="button" class="item" onClick=${() => openManager('manage')}>${glyph('app')}${t('manage')}</button>
          <button type="button" class="item" onClick=${() => openManager('people')}>${glyph('people')}${t('people')}</button>`
      }
      <button type="button" class="item" onClick=${() => signOut()}>${glyph('out')}${t('sign_out')}</button>
      <button type="button" class="item" onClick=${forget}>${glyph('trash')}${t('forget')}</button>
      ${brand.texts[language]?.support && html`<hr /><p class="line soft small">${brand.texts[language].support}</p>`}
    <//>
  </header>`;
}

/** A newer build waits: the person says when, as a reload takes away what is being looked at. */
function Update() {
  return (
    useApp().update &&
    html`<div class="note banner update" role="status">${glyph('refresh')}<span>${t('refresh_page')}</span>
      <button type="button" class="button second" onClick=${takeUpdate}>${t('refresh_do')}</button></div>`
  );
}

function Tile(o: { icon: Icon; at: number; count: number; online: boolean; drag: Drag }) {
  const { icon, at, drag } = o;
  return html`<li
    class=${`tile${drag.from === icon.skill_id ? ' dragged' : ''}${drag.over === icon.skill_id ? ' target' : ''}`}
    data-skill=${icon.skill_id}
    draggable="true"
    onDragStart=${(e: DragEvent) => {
      e.dataTransfer?.setData('text/plain', titleOf(icon));
      drag.set({ from: icon.skill_id, over: null });
    }}
    onDragOver=${(e: DragEvent) => {
      if (!drag.from) return;
      e.preventDefault();
      if (drag.over !== icon.skill_id) drag.set({ from: drag.from, over: icon.skill_id });
    }}
    onDrop=${(e: DragEvent) => {
      e.preventDefault();
      if (drag.from) void move(drag.from, at).catch(failed);
      drag.set({ from: null, over: null });
    }}
    onDragEnd=${() => drag.set({ from: null, over: null })}
  >
    <button type="button" class="open" aria-disabled=${o.online ? undefined : 'true'}
      onClick=${() => openSkill(icon, undefined, o.online)}>
      <span class="face">${face(icon.icon)}</span>
      <span class="title">${titleOf(icon)}</span>
    </button>
    ${icon.pinned && html`<span class="pin">${glyph('pin')}<span class="sr">${t('pinned')}</span></span>`}
    <div class="more">
      <${Menu} label=${t('tile_menu', { title: titleOf(icon) })} icon="dots">
        <button type="button" class="item" onClick=${() => pin(icon, !icon.pinned).catch(failed)}>${glyph('pin')}${t(icon.pinned ? 'unpin' : 'pin')}</button>
        <button type="button" class="item" disabled=${at === 0} onClick=${() => move(icon.skill_id, at - 1).catch(failed)}>${glyph('left')}${t('move_before')}</button>
        <button type="button" class="item" disabled=${at === o.count - 1} onClick=${() => move(icon.skill_id, at + 1).catch(failed)}>${glyph('right')}${t('move_after')}</button>
        ${
          icon.modes.includes('panel') &&
          html`<button type="button" class="item" onClick=${() => openSkill(icon, 'panel', o.online)}>${glyph('panel')}${t('open_panel')}</button>`
        }
      <//>
    </div>
  </li>`;
}

interface Drag {
  from: string | null;
  over: string | null;
  set(d: { from: string | null; over: string | null }): void;
}

/** The focus stays with an element that is moved, in browsers without moveBefore() too. */
function useFocusKept(): void {
  const held = document.activeElement;
  useLayoutEffect(() => {
    if (document.activeElement === document.body && held instanceof HTMLElement && held.isConnected)
      held.focus({ preventScroll: true });
  });
}

function Grid() {
  const { icons, link } = useApp();
  const [drag, setDrag] = useState<{ from: string | null; over: string | null }>({ from: null, over: null });
  useFocusKept();
  if (!icons)
    return html`<ul class="grid" aria-busy="true">${[0, 1, 2].map(() => html`<li class="bone"></li>`)}</ul>`;
  if (icons.length === 0)
    return html`<div class="v-empty"><h2>${t('no_skills')}</h2><p>${t('no_skills_lead')}</p></div>`;
  const list = sorted(icons);
  return html`<ul class="grid">${list.map(
    (icon, at) =>
      html`<${Tile} key=${icon.skill_id} icon=${icon} at=${at} count=${list.length} online=${link === 'up'}
        drag=${{ ...drag, set: setDrag }} />`,
  )}</ul>`;
}

const wide = matchMedia('(min-width: 64rem)');

export function Desktop({ signOut }: { signOut(forget?: boolean): Promise<void> }) {
  const { open, managing, icons, iconsAt, link, hubName, brand } = useApp();
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
  return html`<div data-page="desktop">
    <div class=${`desk${docked ? ' docked' : ''}`} inert=${Boolean(managing) || (Boolean(icon) && !docked)}>
      <${StatusBar} signOut=${signOut} />
      <main>
        <h1 tabindex="-1" ref=${heading}>${t('skills')}</h1>
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
