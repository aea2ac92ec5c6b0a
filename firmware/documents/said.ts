// What skills tell a person: the newest lines, in a document that every screen of theirs can join.
import type { Told } from '../ui/topic-names.ts';
import type { Json, JsonObject } from './content.ts';
import { formatKey } from './key.ts';
import type { Library } from './library.ts';

/** Lines of skills that are kept, and those of one skill, or of the hub itself, so that none crowds another out. */
const KEPT = 16;
const KEPT_OF_ONE = 4;

/** The document of a person's desktop, which the hub alone writes. */
export const desktopKey = (owner_id: string): string =>
  formatKey({ owner_id, skill_id: 'desktop', doc_type: 'state', branch: 'main' });

/** A line with `of_hub` the hub itself told, in the name of a skill. */
export interface Line extends JsonObject, Told<JsonObject> {}

/** Writes a line; a notice takes the place of the one with its tag. Settles when it is on the disk. */
export async function addLine(library: Pick<Library, 'open'>, owner_id: string, line: Line): Promise<void> {
  const room = await library.open(desktopKey(owner_id));
  await room.write((doc) => {
    const content = doc.getMap<Json>('content');
    const before = (content.get('said') ?? []) as Line[];
    const tag = line.payload['tag'];
    const isAlike = (l: Line) => l.skill_id === line.skill_id && l['of_hub'] === line['of_hub'];
    const all = [...before.filter((l) => tag === undefined || !isAlike(l) || l.payload['tag'] !== tag), line];
    const mine = all.filter(isAlike).slice(-KEPT_OF_ONE);
    const kept = all.filter((l) => !isAlike(l) || mine.includes(l));
    const ofSkills = kept.filter((l) => !l['of_hub']).slice(-KEPT);
    content.set(
      'said',
      kept.filter((l) => l['of_hub'] || ofSkills.includes(l)),
    );
  });
}
