// Somebody the owner has invited: who they are, what they are here, and until when. Pure.
import { toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { type PersonRole, personRoles } from '../protocol/roles.ts';

/** Times are Unix seconds. */
export interface Person {
  /** Made here; also whose the person's documents are. */
  id: string;
  name: string;
  role: PersonRole;
  created_at: number;
  /** From then on nothing is open to them; 0 = no end. */
  until: number;
  /** When the hub saw that the end had come; 0 = not yet. A clock that is set back later changes nothing. */
  ended_at: number;
  /** The browser the owner invited from; '' = local control. */
  invited_by: string;
}

/** What the owner says of a person. */
export type Wished = Pick<Person, 'name' | 'role' | 'until'>;

/** People a hub knows at one time; those whose time is over count until they are removed. */
export const MOST_PEOPLE = 32;
const MOST_NAME = 64;
const prefix = 'person_';

/** Whether the hub is open to them now. */
export const isWelcome = (p: Person, now: number): boolean =>
  p.ended_at === 0 && (p.until === 0 || now < p.until);

/** Whether their end has come and nobody has noted it. */
export const hasLapsed = (p: Person, now: number): boolean => p.ended_at === 0 && !isWelcome(p, now);

/** An id like no other: of the form of an owner's, and never one that root gives. */
export const personId = (bytes: Uint8Array): string => `${prefix}${toBase64url(bytes)}`;

/** Whether documents are a person's and not the owner's. */
export const isPersonId = (owner_id: string): boolean => owner_id.startsWith(prefix);

/** A name as it may be shown: none of its characters invisible. */
const shown = (given: string): string => given.replace(/\p{C}/gu, '').replace(/\s+/g, ' ').trim();

/** @throws IngleError `invalid_request` with the member that is wrong */
export function checkWished({ name, role, until }: Wished): Wished {
  const bad = (says: string, pointer: string) => new IngleError('invalid_request', says, { pointer });
  const kept = shown(name);
  if (kept === '' || kept.length > MOST_NAME)
    throw bad(`A person has a name of 1 to ${MOST_NAME} characters.`, '/name');
  if (!personRoles.includes(role)) throw bad(`A role is one of ${personRoles.join(', ')}.`, '/role');
  if (!Number.isSafeInteger(until) || until < 0) throw bad('An end is in Unix seconds; 0 is none.', '/until');
  return { name: kept, role, until };
}
