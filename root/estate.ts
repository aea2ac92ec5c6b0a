// What an owner sees and does of their account: sessions, passkeys' names, hubs and the trail. For the owner alone.
import { IngleError } from '../firmware/protocol/errors.ts';
import { seconds } from './clock.ts';
import { digest } from './digest.ts';
import type { Reply } from './http.ts';
import type { AuditEntry, Session } from './records/records.ts';
import { AUDIT, bySession } from './records/rules.ts';
import type { Root } from './root.ts';
import { letGo } from './session.ts';
import { ownedBy } from './webauthn.ts';

/** How long a hub stays offered to another owner, seconds. */
const OFFER_TTL = 86_400;
/** Entries of the trail in one answer. */
const PAGE = 100;

const known = (time: number): number | null => time || null;
/** How a session is named to others than itself: its sid would let them guess at frames. */
const idOf = (s: Session): string => digest(s.sid).slice(0, 22);

/** The owner's passkeys by browser key. @throws IngleError `forbidden` for a guest */
async function keysOf(root: Root, session: Session) {
  return new Map((await ownedBy(root, session)).map((p) => [p.browser_key_id, p]));
}

/** Browsers and command lines that are signed in, of guests too. @throws IngleError `forbidden` */
export async function listSessions(root: Root, session: Session) {
  const keys = await keysOf(root, session);
  const all = await root.records.sessions.ofOwner(session.owner_id!, seconds());
  const shown = async (s: Session) => {
    // Where the process that has it cannot be asked, what is on record is shown.
    const live = await root.ways.live(s).catch(() => undefined);
    const key = keys.get(s.browser_key_id ?? '');
    return {
      id: idOf(s),
      current: s.sid === session.sid,
      browser_key_id: s.browser_key_id,
      passkey: key?.name ?? '',
      name: s.name,
      /** What a command line calls itself; '' for a browser. */
      command: s.command,
      guest: key?.guest ?? false,
      hub_id: s.hub_id,
      stage: live?.stage ?? s.stage,
      connected: live?.connected ?? false,
      place: s.place,
      last_seen_at: s.last_seen,
      expires_at: s.exp,
    };
  };
  return { sessions: await Promise.all(all.map(shown)) };
}

const notSignedIn = () => new IngleError('not_found', 'It is not signed in.');

/** Signs a browser or a command line out; its socket goes at once. @throws IngleError `forbidden`, `not_found` */
export async function endSession(root: Root, session: Session, id: string) {
  await ownedBy(root, session);
  const now = seconds();
  const all = await root.records.sessions.ofOwner(session.owner_id!, now);
  const found = all.find((s) => idOf(s) === id);
  if (!found) throw notSignedIn();
  await root.records.sessions.end(found.sid, now, bySession(session));
  letGo(root, found);
  return { ok: true as const };
}

/** @throws IngleError `forbidden`, `not_found` */
export async function renameSession(root: Root, session: Session, id: string, name: string) {
  await ownedBy(root, session);
  const now = seconds();
  const all = await root.records.sessions.ofOwner(session.owner_id!, now);
  const sid = all.find((s) => idOf(s) === id)?.sid ?? '';
  const change = { sid, owner_id: session.owner_id!, name, by: bySession(session), now };
  if (!(await root.records.sessions.rename(change))) throw notSignedIn();
  return { ok: true as const };
}

/** @throws IngleError `forbidden`, `not_found` */
export async function renamePasskey(root: Root, session: Session, credId: string, name: string) {
  await ownedBy(root, session);
  const change = {
    cred_id: credId,
    owner_id: session.owner_id!,
    name,
    by: bySession(session),
    now: seconds(),
  };
  if (!(await root.records.passkeys.rename(change)))
    throw new IngleError('not_found', 'There is no such passkey.');
  return { ok: true as const };
}

/** The owner's hubs, members with them. @throws IngleError `forbidden` */
export async function listHubs(root: Root, session: Session) {
  await ownedBy(root, session);
  const all = await root.records.estate.hubs(session.owner_id!, seconds());
  const shown = async (h: (typeof all)[number]) => ({
    hub_id: h.hub_id,
    name: h.name,
    current: h.hub_id === session.hub_id,
    online: await root.ways.isOnline(h.hub_id).catch(() => false),
    last_seen_at: known(h.seen),
    certificate_expires_at: known(h.cert_exp),
    keys_changed_at: known(h.rotated),
    enrolled_at: h.created,
    /** Who leads it in a subnet; and whom it leads. */
    via: h.via,
    members: all.filter((m) => m.via === h.hub_id).map((m) => m.hub_id),
    offered_until: h.offered_until,
  });
  return { hubs: await Promise.all(all.map(shown)) };
}

const noHub = () => new IngleError('not_found', 'There is no such hub.');
/** A step on one of the owner's hubs. */
const step = (session: Session, hubId: string) => ({
  ...{ hub_id: hubId, owner_id: session.owner_id!, by: bySession(session), now: seconds() },
});

/** @throws IngleError `forbidden`, `not_found` */
export async function renameHub(root: Root, session: Session, hubId: string, name: string) {
  await ownedBy(root, session);
  if (!(await root.records.estate.rename({ ...step(session, hubId), name }))) throw noHub();
  return { ok: true as const };
}

/**
 * Forgets a hub: its certificate counts no longer, routes and sockets go. It may enrol again, as a stranger.
 * @throws IngleError `forbidden`, `not_found`; `conflict` for a hub of a subnet
 */
export async function removeHub(root: Root, session: Session, hubId: string) {
  await ownedBy(root, session);
  const ended = await root.records.estate.remove(step(session, hubId));
  if (!ended) throw noHub();
  for (const sid of ended) letGo(root, { sid, hub_id: hubId });
  root.ways.rotated(hubId, true);
  return { ok: true as const, sessions: ended.length };
}

/**
 * Offers a hub to whoever takes a code of it (`takeHub` of root/codes.ts), or takes the offer back.
 * @throws IngleError `forbidden`, `not_found`; `conflict` for a hub of a subnet
 */
export async function offerHub(root: Root, session: Session, hubId: string, isOffered: boolean) {
  await ownedBy(root, session);
  const exp = isOffered ? seconds() + OFFER_TTL : null;
  if (!(await root.records.estate.offer({ ...step(session, hubId), exp }))) throw noHub();
  return { ok: true as const, offered_until: exp };
}

const shown = ({ n, at, what, browser_key_id, by_hub, by_command, place, about, name }: AuditEntry) => ({
  ...{ n, at, what, browser_key_id, by_hub, by_command, place, about, name },
});

/** The trail, newest first, from number `before` downwards. @throws IngleError `forbidden` */
export async function readAudit(root: Root, session: Session, before: string | undefined) {
  await ownedBy(root, session);
  const from = before === undefined ? Number.MAX_SAFE_INTEGER : Number(before);
  const found = await root.records.audit.read({ owner_id: session.owner_id!, before: from, most: PAGE + 1 });
  const entries = found.slice(0, PAGE).map(shown);
  return { entries, before: found.length > PAGE ? entries.at(-1)!.n : null };
}

/** The whole trail as JSON lines, oldest first. @throws IngleError `forbidden` */
export async function exportAudit(root: Root, session: Session): Promise<Reply> {
  await ownedBy(root, session);
  const asked = { owner_id: session.owner_id!, before: Number.MAX_SAFE_INTEGER, most: AUDIT.entries };
  const all = await root.records.audit.read(asked);
  return {
    status: 200,
    headers: {
      'content-type': 'application/x-ndjson',
      'content-disposition': 'attachment; filename="ingle-access.jsonl"',
      'cache-control': 'no-store',
    },
    body: all
      .reverse()
      .map((e) => `${JSON.stringify(shown(e))}\n`)
      .join(''),
  };
}
