// The desktop of a person, as its four documents tell it, and how icons and groups follow one another. Pure.
import type { Glance } from './glance.ts';

/** How the desktop looks. */
export interface Layout {
  grid: { cols: number; gap: number; padding: number };
  statusBar: boolean;
}

/** `desktop/view:main`: the desktop scenario document as it is for this person. */
export interface DesktopView {
  schema: 'desktop/v0';
  id: string;
  version: string;
  layout: Layout;
  behavior: { sourceOfApps: string; onIconClick: string };
}

/** `desktop/state:main`: the skills that answer now, and what their tiles tell. */
export interface DesktopState {
  available: string[];
  /** By skill. */
  glances: Record<string, Glance>;
}

/** What an icon shows, as its skill's manifest says. */
export interface IconFace {
  skill_id: string;
  title: string;
  titles?: Record<string, string>;
  icon: string;
  entrypoint: string;
  modes: ('modal' | 'panel')[];
  sizeHints: { w: number; h: number };
  schema: string | null;
  ownerOnly: boolean;
  /** Pages of its own come through root. */
  pages?: 'root';
}

/** `icon_manager/view:main`: the icons there are. */
export interface ManagerView {
  schema: 'desktop/v0';
  icons: IconFace[];
}

export interface Group {
  name: string;
  skills: string[];
}

/** `icon_manager/state:main`: what the person made of them. */
export interface Arrangement {
  pins: string[];
  order: string[];
  groups: Group[];
}

export interface Placed extends IconFace {
  pinned: boolean;
  /** Place in the person's order from 0; null until it is placed. */
  order: number | null;
  group: string | null;
  /** False while the skill does not run. */
  available: boolean;
}

/** The icons with what their person made of them. */
export function placed(icons: readonly IconFace[], a: Arrangement, available: readonly string[]): Placed[] {
  const at = new Map(a.order.map((id, i) => [id, i]));
  const group = new Map(a.groups.flatMap((g) => g.skills.map((id) => [id, g.name])));
  return icons.map((i) => ({
    ...i,
    pinned: a.pins.includes(i.skill_id),
    order: at.get(i.skill_id) ?? null,
    group: group.get(i.skill_id) ?? null,
    available: available.includes(i.skill_id),
  }));
}

type Sortable = Pick<Placed, 'pinned' | 'order'>;
const place = (i: Sortable) => i.order ?? Number.MAX_SAFE_INTEGER;

/** Pinned first, then in the person's order, then by title. */
export function inOrder<I extends Sortable>(icons: readonly I[], titleOf: (icon: I) => string): I[] {
  return [...icons].sort(
    (a, b) =>
      Number(b.pinned) - Number(a.pinned) || place(a) - place(b) || titleOf(a).localeCompare(titleOf(b)),
  );
}

/** What stands at one place of the desktop: an icon, or a group of them. */
export interface Tile<I> {
  group: string | null;
  icons: I[];
}

/** The tiles of icons in order: a group stands where the first of its icons would. */
export function tilesOf<I extends { group?: string | null }>(icons: readonly I[]): Tile<I>[] {
  const tiles: Tile<I>[] = [];
  for (const icon of icons) {
    const group = icon.group ?? null;
    const there = group !== null && tiles.find((t) => t.group === group);
    if (there) there.icons.push(icon);
    else tiles.push({ group, icons: [icon] });
  }
  return tiles;
}
