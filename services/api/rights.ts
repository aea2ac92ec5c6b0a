// Who may be in a document's room: asked at each join, at each write, and again while a socket is open.
import { type Caller, type Rights, rightsOf } from '../../firmware/documents/acl.ts';
import type { IndexRow } from '../../firmware/documents/archive.ts';
import { type DocumentKey, desktopSkills, formatKey, houseSkills } from '../../firmware/documents/key.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { isOver, isPreview } from '../../firmware/documents/preview.ts';
import { isSkillDocument } from '../../firmware/documents/saving.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Store } from '../../firmware/system/store.ts';
import type { Desktop } from './desktop.ts';
import { usable } from './dispatch.ts';

/** Somebody in a room. */
export interface Joined {
  key: DocumentKey;
  text: string;
  caller: Caller;
  /** When the preview ends, Unix seconds; 0: never. */
  ends: number;
  until?: number | undefined;
}

/** Two sockets of one browser are alike. */
export const whose = (caller: Caller): string => (caller ? `${caller.owner_id}/${caller.browser}` : '');

export interface RightsParts {
  store: Store;
  library: Library;
  skills: Skills;
  desktop: Pick<Desktop, 'of' | 'serve' | 'roleOf'> & Partial<Pick<Desktop, 'looked'>>;
}

export type RoomRights = ReturnType<typeof roomRights>;

export function roomRights(o: RightsParts) {
  /** What may end while a document is open. @throws IngleError */
  function stays({ owner_id, skill_id }: DocumentKey, caller: Caller): void {
    if (!houseSkills.includes(skill_id)) usable(o, skill_id, caller);
    else if (caller && desktopSkills.includes(skill_id) && o.desktop.roleOf(owner_id) !== caller.role)
      throw new IngleError('forbidden', 'You may not open this document.');
  }

  /** What a caller may do with a document that is open. @throws IngleError where it is closed to the caller */
  function rightsNow({ key, text, caller, ends }: Joined): Rights {
    if (ends > 0 && ends <= Date.now() / 1000)
      throw new IngleError('not_found', 'The time of this preview is over.');
    // A skill that is away for a moment ends nothing; one that goes for good is expelled.
    if (houseSkills.includes(key.skill_id) || o.skills.known().has(key.skill_id)) stays(key, caller);
    return rightsOf(key, o.library.aclNow(text) ?? [], caller);
  }

  /** @throws IngleError where what was open to somebody is so no more */
  function holds(j: Joined): void {
    if ((j.until ?? Infinity) < Date.now())
      throw new IngleError('unauthenticated', 'The room token is over. Ask for another.');
    if (!rightsNow(j).read) throw new IngleError('forbidden', 'You may no longer open this document.');
  }

  /** Checks the right to join; at every join anew. */
  async function admit(key: DocumentKey, caller: Caller): Promise<Joined> {
    const text = formatKey(key);
    const indexed = () => o.store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', text);
    let index = await indexed();
    const rights = rightsOf(key, o.library.acl(key, index), caller);
    if (!rights.read) throw new IngleError('forbidden', 'You may not open this document.');
    const ofDesktop = desktopSkills.includes(key.skill_id);
    if (caller && caller.role !== 'member' && ofDesktop && caller.owner_id === key.owner_id) {
      await o.skills.addOwner(caller.owner_id);
      await o.desktop.serve({ owner_id: caller.owner_id, role: caller.role });
      index = await indexed();
    }
    stays(key, caller);
    if (isPreview(key.branch) && (!index || isOver(index, Date.now() / 1000)))
      throw new IngleError('not_found', 'There is no such preview, or its time is over.');
    if (isSkillDocument(key) && !index && houseSkills.includes(key.skill_id))
      throw new IngleError('not_found', 'There is no such document.');
    if (caller !== null) await o.skills.addOwner(caller.owner_id);
    // Who joins here looks at it: one that sleeps starts while the document is read.
    if (key.doc_type === 'state' && !houseSkills.includes(key.skill_id)) o.skills.rouse(key.skill_id);
    const ends = isPreview(key.branch) && index ? index.updated_at + index.ttl_sec : 0;
    return { key, text, caller, ends, until: undefined };
  }

  /** The right to write, at each write anew: what ended a moment ago is not written any more. */
  function mayWrite(j: Joined): boolean {
    try {
      return rightsNow(j).write;
    } catch {
      return false;
    }
  }

  return { admit, holds, mayWrite };
}
