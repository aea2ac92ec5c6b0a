// What skills tell a person: the newest lines, in a document that every screen of theirs can join.
import type { Told } from '../ui/topic-names.ts';
import type { Json, JsonObject } from './content.ts';
import { formatKey } from './key.ts';
import type { Library } from './library.ts';

/** Lines that are kept, and those of one skill, so that none crowds another out. */
const KEPT = 16;
const KEPT_OF_ONE = 4;

/** The document of a person's desktop, which the hub alone writes. */
export const desktopKey = (owner_id: string): string =>
  formatKey({ owner_id, skill_id: 'desktop', doc_type: 'state', branch: 'main' });

export interface Line extends JsonObject, Told<JsonObject> {}

/** Writes a line; a notice takes the place of the one with its tag. Settles when it is on the disk. */
export async function addLine(library: Pick<Library, 'open'>, owner_id: string, line: Line): Promise<void> {
  const room = await library.open(desktopKey(owner_id));
  await room.write((doc) => {
    const content = doc.getMap<Json>('content');
    const before = (content.get('said') ?? []) as Line[];
    const tag = line.payload['tag'];
    const stays = (l: Line) => tag === undefined || l.skill_id !== line.skill_id || l.payload['tag'] !== tag;
    const all = [...before.filter(stays), line];
    const mine = all.filter((l) => l.skill_id === line.skill_id).slice(-KEPT_OF_ONE);
    content.set('said', all.filter((l) => l.skill_id !== line.skill_id || mine.includes(l)).slice(-KEPT));
  });
}
