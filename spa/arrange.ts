// The tiles of the desktop and their ids. Pure.
import { inOrder, type Tile, tilesOf } from '../firmware/ui/arranged.ts';
import type { Icon } from './store.ts';
import { titleOf } from './text.ts';

export type Tiles = Tile<Icon>[];

export const tilesNow = (icons: readonly Icon[]): Tiles => tilesOf(inOrder(icons, titleOf));

/** Columns of a desk for so many tiles: at most `cols`, in rows of about the same length; few tiles stand large. */
export function columnsFor(tiles: number, cols: number): number {
  const row = Math.min(cols, tiles > 8 ? cols : 4);
  const rows = Math.max(1, Math.ceil(tiles / row));
  return Math.max(Math.min(cols, 3), Math.ceil(tiles / rows));
}

/** Groups have an id beside those of skills. */
export const groupId = (name: string) => `@${name}`;
export const idOf = ({ group, icons }: Tile<Icon>) => (group === null ? icons[0]!.skill_id : groupId(group));
export const at = (tiles: Tiles, id: string) => tiles.findIndex((t) => idOf(t) === id);
