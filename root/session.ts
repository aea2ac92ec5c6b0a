// Web sessions: a cookie, or the secret in its place, is a browser, a sid is a tab (D3), a session token is a logged-in sid.
import { fromBase64url, random, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { SESSION_IDLE } from '../firmware/protocol/limits.ts';
import type { Opened } from '../firmware/protocol/sign-in.ts';
import { seconds } from './clock.ts';
import { isSplit } from './config.ts';
import { digest, sameText } from './digest.ts';
import type { By, Session } from './records/records.ts';
import { NEW_TTL } from './records/rules.ts';
import type { Root } from './root.ts';

/** The cookie outlives its sids, so that a browser stays the same one. */
const COOKIE_TTL = 365 * 86400;

const loggedIn = new Set(['AUTH', 'PAIRED', 'ONLINE']);

export function isLoggedIn(s: Session): boolean {
  return loggedIn.has(s.stage);
}

/** `__Host-` where the origin is https: no other host may then set it. */
export function cookieName(origin: string): string {
  return origin.startsWith('https:') ? '__Host-ingle' : 'ingle';
}

/**
 * What binds a sid to its browser, or ''. Where root serves the application that is root's cookie, which no script can
 * read. Where a host of its own serves it, root's cookie would be a third party's, which browsers block; so the same
 * secret travels in the open of the page: `said`, the header `x-ingle-browser` or the field of the socket's `auth`. The
 * application's script can read it, as it can read the session token it lies beside: the secret then keeps out whoever
 * learned a sid or a token elsewhere, and no longer a script in the page. Each way counts in its own arrangement only.
 */
export function browserOf(root: Root, cookies: string, said: string): string {
  if (isSplit(root.config)) return /^[\w-]{44}$/.test(said) ? said : '';
  const name = cookieName(root.config.origin);
  for (const part of cookies.split(';')) {
    const [k, v] = part.trim().split('=');
    // 22 characters: a cookie of a root that did not sign them yet; its sids go on, and it is not given out again.
    if (k === name && v && /^(?:[\w-]{22}){1,2}$/.test(v)) return v;
  }
  return '';
}

/** A new cookie: 128 random bits and root's signature over them, 22 characters each. */
function newCookie(root: Root, value = toBase64url(random(16))): string {
  return value + root.tokens.mac('cookie', value).slice(0, 22);
}

/** Whether root made a cookie: one that somebody chose for this browser would make them both one browser. */
function isOurs(root: Root, cookie: string): boolean {
  return sameText(cookie, newCookie(root, cookie.slice(0, 22)));
}

/**
 * A new sid: when it was made (4 bytes), 8 random bytes, and root's signature (12 bytes) over both and the browser's
 * cookie. So it is no record until it is used, and asking for many costs root nothing that stays.
 */
function newSid(root: Root, cookie: string): string {
  const head = new Uint8Array(12);
  new DataView(head.buffer).setUint32(0, seconds());
  head.set(random(8), 4);
  return toBase64url(head) + sidMac(root, toBase64url(head), cookie);
}
function sidMac(root: Root, head: string, cookie: string): string {
  return root.tokens.mac('sid', `${head}.${digest(cookie)}`).slice(0, 16);
}
/** Whether root made this sid for this browser, not too long ago; it may be over. */
function isFresh(root: Root, sid: string, cookie: string): boolean {
  if (!/^[\w-]{32}$/.test(sid) || !sameText(sid.slice(16), sidMac(root, sid.slice(0, 16), cookie)))
    return false;
  const made = new DataView(fromBase64url(sid.slice(0, 16)).buffer).getUint32(0);
  return made + NEW_TTL > seconds();
}

/** The stage a session is at now; the one on record where the process that has it cannot be asked. */
const stageOf = async (root: Root, s: Session) =>
  (await root.ways.live(s).catch(() => undefined))?.stage ?? s.stage;

/** Makes a sid for a browser; or says the stage of `resume` when that is a live sid of this browser. */
export async function openSession(
  root: Root,
  cookie: string,
  resume: string | undefined,
): Promise<{ body: Opened; cookie: string | undefined }> {
  if (resume !== undefined && cookie !== '') {
    const old = await root.records.sessions.find(resume, seconds());
    if (old && sameText(old.cookie, digest(cookie)))
      return { body: { sid: old.sid, stage: await stageOf(root, old) }, cookie: undefined };
    if (!old && isFresh(root, resume, cookie) && !(await root.records.sessions.isOver(resume)))
      return { body: { sid: resume, stage: 'NEW' }, cookie: undefined };
  }
  const mine = isOurs(root, cookie) ? cookie : newCookie(root);
  const sid = newSid(root, mine);
  if (isSplit(root.config)) return { body: { sid, stage: 'NEW', browser: mine }, cookie: undefined };
  const secure = root.config.origin.startsWith('https:') ? '; Secure' : '';
  const set = `${cookieName(root.config.origin)}=${mine}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${COOKIE_TTL}${secure}`;
  return { body: { sid, stage: 'NEW' }, cookie: set };
}

/**
 * The session of a sid, which only the browser that opened it may name. A new one becomes a record here.
 * @throws IngleError `unauthenticated`
 */
export async function sessionOf(root: Root, sid: string, cookie: string): Promise<Session> {
  const now = seconds();
  let s = sid.length <= 64 ? await root.records.sessions.find(sid, now) : undefined;
  if (!s && isFresh(root, sid, cookie))
    s = await root.records.sessions.begin({ sid, cookie: digest(cookie), now });
  if (!s || !sameText(s.cookie, digest(cookie)))
    throw new IngleError('unauthenticated', 'This session is over. Reload the page.');
  return s;
}

/**
 * The session behind a session token: signature, audience and age, then the record (same token, not idle too long),
 * and the browser's cookie.
 * @throws IngleError `unauthenticated`
 */
export async function authenticate(root: Root, token: unknown, cookie: string): Promise<Session> {
  if (typeof token !== 'string' || token.length > 4096)
    throw new IngleError('unauthenticated', 'Sign in first.');
  const claims = await root.tokens.verifySession(token);
  const s = await sessionOf(root, claims.sid, cookie);
  const now = seconds();
  const seen = root.relay.isConnected(s.sid) ? now : s.last_seen;
  if (!isLoggedIn(s) || s.jti !== claims.jti || seen + SESSION_IDLE <= now)
    throw new IngleError('unauthenticated', 'You were signed out. Sign in again.');
  if (s.last_seen + 60 <= now) await root.records.sessions.seen(s.sid, now);
  return s;
}

/** What a session has that is over: its link and its socket go, and what its hub has open for it past root. */
export function letGo(root: Root, { sid, hub_id }: Pick<Session, 'sid' | 'hub_id'>): void {
  root.ways.drop(sid);
  if (hub_id !== null) root.ways.tell(hub_id, 'session.over', { sid });
}

/** Ends a session: the record, its route and its socket go. */
export async function logout(root: Root, session: Session): Promise<void> {
  await root.records.sessions.end(session.sid, seconds());
  letGo(root, session);
}

/**
 * Ends every session of a passkey and forgets the passkey. With the last one every session of the owner ends and each
 * open code is void: whoever registers the next first passkey needs a code that the hub gave out after this.
 * @throws IngleError `not_found`
 */
export async function revoke(
  root: Root,
  owner: string,
  credId: string,
  by: By,
): Promise<{ sessions: number }> {
  const now = seconds();
  const all = new Map((await root.records.sessions.ofOwner(owner, now)).map((s) => [s.sid, s.hub_id]));
  const sids = await root.records.passkeys.remove({ cred_id: credId, owner_id: owner, by, now });
  if (!sids) throw new IngleError('not_found', 'There is no such passkey.');
  for (const sid of sids) letGo(root, { sid, hub_id: all.get(sid) ?? null });
  return { sessions: sids.length };
}
