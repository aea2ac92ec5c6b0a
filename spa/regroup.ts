// Changes of the desktop as a person makes them: from tiles to tiles, and what the hub is told of it. Pure.
import { type Arrangement, tilesOf } from '../firmware/ui/arranged.ts';
import { at, idOf, type Tiles } from './arrange.ts';
import type { Icon } from './store.ts';

/** Puts an icon into a group at place `to`, last unless told; pinned as the group is. */
export function into(tiles: Tiles, id: string, name: string, to = Number.MAX_SAFE_INTEGER): Tiles {
  const icon = tiles.flatMap((t) => t.icons).find((i) => i.skill_id === id);
  if (!icon) return tiles;
  return without(tiles, id).map((t) =>
    t.group === name ? { ...t, icons: t.icons.toSpliced(to, 0, { ...icon, pinned: t.icons[0]!.pinned }) } : t,
  );
}

const without = (tiles: Tiles, id: string): Tiles =>
  tiles
    .map((t) => ({ ...t, icons: t.icons.filter((i) => i.skill_id !== id) }))
    .filter((t) => t.icons.length > 0);

/** Takes an icon out of its group, to place `to`: behind the group unless told. */
export function outOf(tiles: Tiles, id: string, to?: number): Tiles {
  const from = tiles.findIndex((t) => t.icons.some((i) => i.skill_id === id));
  const icon = tiles[from]?.icons.find((i) => i.skill_id === id);
  if (!icon) return tiles;
  const rest = without(tiles, id);
  return rest.toSpliced(to ?? from + 1 - (tiles.length - rest.length), 0, { group: null, icons: [icon] });
}

/** Makes a group of one icon where it stands. */
export const grouped = (tiles: Tiles, id: string, name: string): Tiles =>
  tiles.map((t) => (idOf(t) === id ? { ...t, group: name } : t));

export const renamed = (tiles: Tiles, from: string, to: string): Tiles =>
  tiles.map((t) => (t.group === from ? { ...t, group: to } : t));

export const dissolved = (tiles: Tiles, name: string): Tiles =>
  tiles.flatMap((t) => (t.group === name ? t.icons.map((i) => ({ group: null, icons: [i] })) : t));

/** The icons of tiles, each saying where it is. */
const iconsOf = (tiles: Tiles): Icon[] =>
  tiles.flatMap((t) => t.icons.map((i) => ({ ...i, group: t.group })));

export function arrangementOf(icons: readonly Icon[]): Arrangement {
  const groups = tilesOf(icons).filter((t) => t.group !== null);
  return {
    pins: icons.filter((i) => i.pinned).map((i) => i.skill_id),
    order: icons.filter((i) => i.order !== null).map((i) => i.skill_id),
    groups: groups.map((t) => ({ name: t.group!, skills: t.icons.map((i) => i.skill_id) })),
  };
}

/** The icons of tiles as they stand there: each has a place. */
export const standing = (tiles: Tiles): Icon[] => iconsOf(tiles).map((i, order) => ({ ...i, order }));

/** `list` with what is at `from` at place `to`. */
function moved<X>(list: readonly X[], from: number, to: number): X[] {
  const next = list.toSpliced(from, 1);
  return next.toSpliced(Math.max(0, Math.min(next.length, to)), 0, list[from]!);
}

/** Moves the tile of `id`, an icon's or a group's, to place `to`; an icon of a group within it. */
export function movedTo(tiles: Tiles, id: string, to: number): Tiles {
  const within = tiles.find((t) => t.group !== null && t.icons.some((i) => i.skill_id === id));
  if (!within) return moved(tiles, at(tiles, id), to);
  const from = within.icons.findIndex((i) => i.skill_id === id);
  return tiles.map((t) => (t === within ? { ...t, icons: moved(t.icons, from, to) } : t));
}

/** Pins all icons of a tile, or none. */
export const pinned = (tiles: Tiles, id: string, on: boolean): Tiles =>
  tiles.map((t) => (idOf(t) === id ? { ...t, icons: t.icons.map((i) => ({ ...i, pinned: on })) } : t));
