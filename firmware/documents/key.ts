// Document keys: `{owner_id}/{skill_id}/{doc_type}:{branch}` (D9). Pure.
import { IngleError } from '../protocol/errors.ts';

export type DocType = 'view' | 'state';

export interface DocumentKey {
  owner_id: string;
  skill_id: string;
  doc_type: DocType;
  /** `main`, `owner/{id}`, `device/{id}`, `ab/A`, `ab/B`, `preview/{token}`. */
  branch: string;
}

const ownerId = /^[A-Za-z0-9][A-Za-z0-9_.~-]{0,95}$/;
export const skillIdForm = '^[a-z][a-z0-9_]{0,47}$';
const skillId = new RegExp(skillIdForm);
const branchName = /^(?:main|ab\/[AB]|(?:owner|device|preview)\/[A-Za-z0-9_-][A-Za-z0-9_.~-]{0,127})$/;
const longest = 400;

/** Whether a text may be an owner's id. `owner` itself is not: it starts the second spelling of a key. */
export function isOwnerId(text: string): boolean {
  return ownerId.test(text) && text !== 'owner';
}

/** Whether a text may be a skill's id; such an id is also one element of a D-Bus name. */
export function isSkillId(text: string): boolean {
  return skillId.test(text);
}

/**
 * Reads a key in either spelling: canonical, or with a leading `owner/`.
 * @throws IngleError `invalid_request` saying which part is wrong.
 */
export function parseKey(text: string): DocumentKey {
  const bad = (says: string) =>
    new IngleError('invalid_request', `The document key ${says}.`, { pointer: '' });
  if (text.length > longest) throw bad('is too long');
  const colon = text.indexOf(':');
  if (colon < 0) throw bad('has no ":" between document type and branch');
  const parts = text.slice(0, colon).split('/');
  if (parts.length === 4 && parts[0] === 'owner') parts.shift();
  const [owner_id = '', skill_id = '', doc_type = ''] = parts;
  if (parts.length !== 3) throw bad('is not owner/skill/type:branch');
  if (!isOwnerId(owner_id)) throw bad('does not begin with an owner id');
  if (!isSkillId(skill_id)) throw bad('names no skill');
  if (doc_type !== 'view' && doc_type !== 'state') throw bad('has a type that is neither view nor state');
  const branch = text.slice(colon + 1);
  if (!branchName.test(branch)) throw bad('has an unknown branch');
  return { owner_id, skill_id, doc_type, branch };
}

/** The canonical text of a key. */
export function formatKey(key: DocumentKey): string {
  return `${key.owner_id}/${key.skill_id}/${key.doc_type}:${key.branch}`;
}

/** The skill id under which browsers leave commands. */
export const commandsSkill = 'commands';
/** The ids under which the hub keeps a person's desktop (firmware/desktop). */
export const desktopSkills = ['desktop', 'icon_manager'];
/** Ids of documents that are the hub's, and so no skill's. */
export const houseSkills = [...desktopSkills, commandsSkill];

/** Where a browser's commands lie. */
export function commandsKey(owner_id: string, device_id: string): string {
  return formatKey({ owner_id, skill_id: commandsSkill, doc_type: 'state', branch: `device/${device_id}` });
}
