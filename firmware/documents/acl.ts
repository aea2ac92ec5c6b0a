// Who may join a document, and how. Deny by default. Pure.
import { IngleError } from '../protocol/errors.ts';
import { type CallerRole, type Role, roles } from '../protocol/roles.ts';
import { commandsSkill, type DocumentKey, isOwnerId } from './key.ts';

/** Who asks, as ingle-uplink names them (D10). */
export interface Principal {
  owner_id: string;
  /** Id of the pinned browser: base64url of its static key; also the device id of its branches. */
  browser: string;
  role: CallerRole;
  /** Until when a checked passkey opens admin skills, Unix seconds; 0 = not. */
  elevated_until: number;
  /** For a person who was invited: the owner of the hub. Their own id is then that of their own documents. */
  household?: string;
  /** Id of the member that asks. */
  hub?: string;
}

/** `null` is local control: the holder of the service token who names nobody. */
export type Caller = Principal | null;

export interface Rights {
  read: boolean;
  write: boolean;
}

const entry = /^(?:OWNER:read|ROLE:[A-Z][A-Z0-9_]{0,31}:read|SKILL:[a-z][a-z0-9_]{0,47}:write)$/;

/** Whether a text is an ACL entry: `OWNER:read`, `ROLE:<ROLE>:read` or `SKILL:<id>:write`. */
export function isAclEntry(text: unknown): text is string {
  return typeof text === 'string' && entry.test(text);
}

/** What a skill's document is given: its owner reads, the skill alone writes. */
export function skillAcl(skill_id: string): string[] {
  return ['OWNER:read', `SKILL:${skill_id}:write`];
}

/** Whether a document is one that browsers write: a state, or a view that lies over the skill's. */
export function isPersonal(key: DocumentKey): boolean {
  return /^(device|owner)\//.test(key.branch) && (key.doc_type === 'state' || key.skill_id !== commandsSkill);
}

/**
 * What `caller` may do with a document over /sync. Skills do not come this way: they write over D-Bus, and only
 * under their own id. A browser writes its own device's branch and its owner's branch, nothing else. Of the
 * household's documents a person reads those an entry opens to their role, and writes none.
 */
export function rightsOf(key: DocumentKey, acl: readonly string[], caller: Caller): Rights {
  const personal = isPersonal(key);
  if (caller === null) return { read: true, write: personal };
  if (caller.role === 'member') return { read: false, write: false };
  const isMine = caller.owner_id === key.owner_id;
  if (!isMine && caller.household !== key.owner_id) return { read: false, write: false };
  const own = isMine && personal && ownBranch(key, caller);
  const read =
    own ||
    (isMine && isOwner(caller) && acl.includes('OWNER:read')) ||
    acl.includes(`ROLE:${caller.role.toUpperCase()}:read`);
  return { read, write: own };
}

/** Whether the caller's documents are the caller's: the owner's, and those of each person under an id of their own. */
const isOwner = (p: Principal): boolean => p.role === 'owner' || p.household !== undefined;

function ownBranch(key: DocumentKey, p: Principal): boolean {
  if (key.branch === `device/${p.browser}`) return true;
  return isOwner(p) && key.skill_id !== commandsSkill && key.branch === `owner/${p.owner_id}`;
}

/** Whether admin skills are open to `caller` at `now` (Unix seconds). */
export function isElevated(caller: Caller, now: number): boolean {
  return caller === null || (caller.role === 'owner' && caller.elevated_until > now);
}

/**
 * Reads the JSON of X-Ingle-Principal.
 * @throws IngleError `invalid_request` for anything that is not exactly a principal.
 */
export function checkPrincipal(value: unknown): Principal {
  const bad = (pointer: string) =>
    new IngleError('invalid_request', 'X-Ingle-Principal is not a principal.', { pointer });
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw bad('');
  const v = value as Record<string, unknown>;
  for (const name of Object.keys(v))
    if (!['owner_id', 'browser', 'role', 'elevated_until', 'household', 'hub'].includes(name))
      throw bad(`/${name.slice(0, 40)}`);
  const { owner_id, browser, role, elevated_until, household, hub } = v;
  if (typeof owner_id !== 'string' || !isOwnerId(owner_id)) throw bad('/owner_id');
  if (typeof browser !== 'string' || !/^[A-Za-z0-9_-]{1,128}$/.test(browser)) throw bad('/browser');
  const isHub = role === 'member';
  if (!isHub && !roles.includes(role as Role)) throw bad('/role');
  if (isHub !== (typeof hub === 'string' && isOwnerId(hub))) throw bad('/hub');
  if (typeof elevated_until !== 'number' || !Number.isFinite(elevated_until)) throw bad('/elevated_until');
  const p: Principal = { owner_id, browser, role: role as CallerRole, elevated_until };
  if (isHub) return { ...p, hub: hub as string };
  if (household === undefined) return p;
  if (typeof household !== 'string' || !isOwnerId(household) || household === owner_id || role === 'owner')
    throw bad('/household');
  return { ...p, household };
}
