// The grid of the desktop: icons, groups that open in place, and how both are moved by hand, key and touch.
import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import * as to from './arrange.ts';
import { failed } from './entrance.ts';
import { Told } from './glance.ts';
import { face, glyph } from './glyphs.ts';
import { Menu } from './menu.ts';
import { isApp, openSkill } from './open.ts';
import { type App, app, type Icon, type Look, set, useApp } from './store.ts';
import { t, titleOf } from './text.ts';

/** What is dragged and where it would go: ids of tiles, and of the icons of an open group. */
interface Drag {
  from: string | null;
  over: string | null;
}

/** What the tiles share. */
interface Desk {
  tiles: to.Tiles;
  online: boolean;
  look: Look | null;
  glances: App['glances'];
  drag: Drag;
  setDrag(d: Drag): void;
}

/** What changes the desktop comes with the first change. */
const rearrange = (work: (m: typeof import('./rearrange.ts')) => void) =>
  void import('./rearrange.ts').then(work).catch(failed);

const groups = () => import('./groups.ts');
let loaded: Awaited<ReturnType<typeof groups>> | undefined;

/** What changes groups comes when it is first needed; until then its part of a menu is not there. */
function useGroups(): typeof loaded {
  const [, draw] = useState(loaded);
  useEffect(() => {
    if (!loaded)
      void groups().then((m) => {
        loaded = m;
        draw(m);
      });
  }, []);
  return loaded;
}

/** The entries about groups, of an icon or of a group. */
function GroupItems(o: { tiles: to.Tiles; icon?: Icon; name?: string }) {
  const m = useGroups();
  return m && (o.icon ? html`<${m.IconItems} ...${o} />` : html`<${m.Ungroup} ...${o} />`);
}

function GroupName(o: { tiles: to.Tiles; name: string }) {
  const m = useGroups();
  return html`<div class="name">${m && html`<${m.Name} ...${o} />`}</div>`;
}

function dragging(desk: Desk, id: string, title: string) {
  const { drag, setDrag } = desk;
  const own = (f: (e: DragEvent) => void) => (e: DragEvent) => {
    // An icon of a group lies on the group's own tile.
    e.stopPropagation();
    f(e);
  };
  return {
    class: `tile${drag.from === id ? ' dragged' : ''}${drag.over === id ? ' target' : ''}`,
    draggable: true,
    onDragStart: own((e) => {
      e.dataTransfer?.setData('text/plain', title);
      setDrag({ from: id, over: null });
    }),
    onDragOver: own((e) => {
      if (!drag.from) return;
      e.preventDefault();
      if (drag.over !== id) setDrag({ from: drag.from, over: id });
    }),
    onDrop: own((e) => {
      e.preventDefault();
      const { from } = drag;
      void groups().then((m) => from && m.drop(desk.tiles, from, id), failed);
      setDrag({ from: null, over: null });
    }),
    onDragEnd: own(() => setDrag({ from: null, over: null })),
  };
}

/** The entries that move a tile, or an icon within its group. */
function Moves(o: { tiles: to.Tiles; id: string; title: string; place: number; count: number }) {
  const go = (by: number) => rearrange((m) => m.move(o.tiles, o.id, o.place + by, o.title));
  return html`<button type="button" class="item" disabled=${o.place === 0} onClick=${() => go(-1)}>${glyph('left')}${t('move_before')}</button>
    <button type="button" class="item" disabled=${o.place === o.count - 1} onClick=${() => go(1)}>${glyph('right')}${t('move_after')}</button>`;
}

function Pin({ tiles, id, pinned }: { tiles: to.Tiles; id: string; pinned: boolean }) {
  const pin = () => rearrange((m) => m.pin(tiles, id, !pinned));
  return html`<button type="button" class="item" onClick=${pin}>${glyph('pin')}${t(pinned ? 'unpin' : 'pin')}</button>`;
}

const pinMark = () => html`<span class="pin">${glyph('pin')}<span class="sr">${t('pinned')}</span></span>`;

function Tile({ icon, place, count, desk }: { icon: Icon; place: number; count: number; desk: Desk }) {
  const { tiles, online, look, glances } = desk;
  const { skill_id: id, group } = icon;
  const title = titleOf(icon);
  const tap = look && icon.modes.find((m) => m === (look.panel ? 'panel' : 'modal'));
  return html`<li data-skill=${id} ...${dragging(desk, id, title)}>
    <button type="button" class="open" aria-disabled=${online || isApp(icon) ? undefined : 'true'}
      onClick=${() => openSkill(icon, tap ?? undefined, online)}>
      <span class="face">${face(icon.icon)}</span>
      <span class="title">${title}</span>
      <${Told} of=${glances[id]} live=${online} />
    </button>
    ${icon.pinned && !group && pinMark()}
    <div class="more">
      <${Menu} label=${t('tile_menu', { title })} icon="dots">
        ${!group && html`<${Pin} tiles=${tiles} id=${id} pinned=${icon.pinned} />`}
        <${Moves} ...${{ tiles, id, title, place, count }} />
        ${
          icon.modes.includes('panel') &&
          html`<button type="button" class="item" onClick=${() => openSkill(icon, 'panel', online)}>${glyph('panel')}${t('open_panel')}</button>`
        }
        <${GroupItems} tiles=${tiles} icon=${icon} />
      <//>
    </div>
  </li>`;
}

function Group({ name, icons, desk }: { name: string; icons: Icon[]; desk: Desk }) {
  const { tiles } = desk;
  const id = to.groupId(name);
  const isOpen = useApp().group === name;
  const { class: tile, ...drags } = dragging(desk, id, name);
  const pinned = icons[0]!.pinned;
  return html`<li class=${`${tile} group${isOpen ? ' wide' : ''}`} data-group=${name} ...${drags}>
    <button type="button" class="open" aria-expanded=${isOpen ? 'true' : 'false'}
      onClick=${() => set({ group: isOpen ? null : name })}>
      <span class="face">${icons.slice(0, 4).map((i) => html`<span>${face(i.icon)}</span>`)}</span>
      <span class="title">${name}<span class="sr">, ${t('in_group', { n: icons.length })}</span></span>
      ${!isOpen && html`<span class="told" aria-hidden="true"><span class="line">${icons.map(titleOf).join(', ')}</span></span>`}
    </button>
    ${pinned && pinMark()}
    <div class="more">
      <${Menu} label=${t('tile_menu', { title: name })} icon="dots">
        <${Pin} tiles=${tiles} id=${id} pinned=${pinned} />
        <${Moves} ...${{ tiles, id, title: name, place: to.at(tiles, id), count: tiles.length }} />
        <${GroupItems} tiles=${tiles} name=${name} />
      <//>
    </div>
    ${
      isOpen &&
      html`<${GroupName} tiles=${tiles} name=${name} />
      <ul class="grid">${icons.map(
        (icon, place) =>
          html`<${Tile} key=${icon.skill_id} ...${{ icon, place, count: icons.length, desk }} />`,
      )}</ul>`
    }
  </li>`;
}

/** The focus stays with an element that is moved, in browsers without moveBefore() too. */
function useFocusKept(): void {
  const held = document.activeElement;
  useLayoutEffect(() => {
    if (document.activeElement !== document.body || !(held instanceof HTMLElement) || held === document.body)
      return;
    // What went into a group, or out of it, is drawn anew at its other place.
    const id = held.closest<HTMLElement>('[data-skill]')?.dataset['skill'];
    const group = app().icons?.find((i) => i.skill_id === id)?.group ?? '';
    const places = [`[data-skill="${id}"] .more button`, `[data-group=${JSON.stringify(group)}] .open`];
    const again = held.isConnected
      ? held
      : [...places, '.desk h1'].reduce<HTMLElement | null>((e, at) => e ?? document.querySelector(at), null);
    again?.focus({ preventScroll: true });
  });
}

export function Grid() {
  const { icons, link, look, glances } = useApp();
  const [drag, setDrag] = useState<Drag>({ from: null, over: null });
  useFocusKept();
  if (!icons)
    return html`<ul class="grid" aria-busy="true" style=${{ '--cols': 3 }}>${[0, 1, 2].map(() => html`<li class="bone"></li>`)}</ul>`;
  if (icons.length === 0)
    return html`<div class="v-empty"><h2>${t('no_skills')}</h2><p>${t('no_skills_lead')}</p></div>`;
  const tiles = to.tilesNow(icons);
  const desk: Desk = { tiles, online: link === 'up', look, glances, drag, setDrag };
  const cols = to.columnsFor(tiles.length, look?.grid.cols ?? 6);
  const onKeyDown = (e: KeyboardEvent) => {
    const group = (e.target as Element).closest<HTMLElement>('.group');
    if (e.key !== 'Escape' || !group) return;
    set({ group: null });
    group.querySelector<HTMLElement>('.open')?.focus();
  };
  return html`<ul class="grid" style=${{ '--cols': cols }} onKeyDown=${onKeyDown}>${tiles.map(
    ({ group, icons: some }, place) =>
      group === null
        ? html`<${Tile} key=${some[0]!.skill_id} ...${{ icon: some[0]!, place, count: tiles.length, desk }} />`
        : html`<${Group} key=${`@${some.map((i) => i.skill_id).sort()[0]}`} ...${{ name: group, icons: some, desk }} />`,
  )}</ul>`;
}
