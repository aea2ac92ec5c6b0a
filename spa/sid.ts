// The web session of this tab (D3): sessionStorage, so that a reload keeps it and another tab has its own.
import type { Proven } from './trust.ts';

export interface Session {
  sid: string;
  /** What makes the sid this browser's where root's cookie cannot (root/session.ts). */
  browser?: string | undefined;
  owner_id?: string;
  subnet_id?: string;
  hub_id?: string;
  browser_key_id?: string;
  session_jwt?: string;
  /** The code permits a further passkey: one is made without asking for those there are. */
  new_passkey?: boolean | undefined;
  /** Id and COSE key (base64url) of the passkey that signed in: the hub pins it if it has none (D4). */
  passkey?: { id: string; public_key: string };
  /** Of a pairing not yet finished: second group or link secret, then what the hub proved by it. */
  access?:
    | { mode: 'link'; hubStatic: string; psk: string }
    | { mode: 'typed'; secret: string }
    /** INSECURE: the hub sends it through root. */
    | { mode: 'sealed' }
    /** The hub proved itself by one of these; it has yet to let this browser in. */
    | ({ mode: 'proven' } & Proven);
}

const key = 'ingle.session';
const counter = (sid: string) => `ingle.ctr.${sid}`;
let now: Session | null = null;

export function session(): Session | null {
  if (now) return now;
  try {
    const text = sessionStorage.getItem(key);
    now = text ? (JSON.parse(text) as Session) : null;
  } catch {
    now = null;
  }
  return now;
}

export function keepSession(s: Session): Session {
  now = s;
  try {
    sessionStorage.setItem(key, JSON.stringify(s));
  } catch {}
  return s;
}

export function changeSession(patch: Partial<Session>): Session {
  const s = session();
  if (!s) throw new TypeError('no session');
  return keepSession({ ...s, ...patch });
}

export function dropSession(): void {
  const sid = now?.sid;
  now = null;
  try {
    sessionStorage.removeItem(key);
    if (sid) sessionStorage.removeItem(counter(sid));
  } catch {}
}

/** Where the browser keeps nothing for a tab, the numbers live as long as the page; the next begins at its clock. */
const counters = new Map<string, number>();
function counted(sid: string): number {
  let kept = 0;
  try {
    kept = Number(sessionStorage.getItem(counter(sid)));
  } catch {}
  return Math.max(1, kept, counters.get(sid) ?? 0);
}
function count(sid: string, n: number): void {
  counters.set(sid, n);
  try {
    sessionStorage.setItem(counter(sid), String(n));
  } catch {}
}

/**
 * Begins a run of frame numbers in this sid (D6). A duplicated tab has an old copy of the counter, so a run begins
 * no lower than the clock, which is ahead of any tab that sent fewer than 100 frames a millisecond.
 */
export function startCounter(sid: string): void {
  count(sid, Math.max(counted(sid), Date.now() * 100));
}

/** Takes so many numbers, kept before use; gives the first. */
export function reserveCounter(sid: string, numbers: number): number {
  const first = counted(sid);
  count(sid, first + numbers);
  return first;
}
