// The tiles of the desktop and their ids. Pure.
import { inOrder, type Tile, tilesOf } from '../firmware/ui/arranged.ts';
import type { Icon } from './store.ts';
import { titleOf } from './text.ts';

export type Tiles = Tile<Icon>[];

export const tilesNow = (icons: readonly Icon[]): Tiles => tilesOf(inOrder(icons, titleOf));

/** Groups have an id beside those of skills. */
export const groupId = (name: string) => `@${name}`;
export const idOf = ({ group, icons }: Tile<Icon>) => (group === null ? icons[0]!.skill_id : groupId(group));
export const at = (tiles: Tiles, id: string) => tiles.findIndex((t) => idOf(t) === id);
