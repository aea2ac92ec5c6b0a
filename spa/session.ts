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

/**
 * Begins a run of frame numbers in this sid (D6). A duplicated tab has an old copy of the counter, so a run begins
 * no lower than the clock, which is ahead of any tab that sent fewer than 100 frames a millisecond.
 */
export function startCounter(sid: string): void {
  const kept = Number(sessionStorage.getItem(counter(sid)) ?? 1);
  sessionStorage.setItem(counter(sid), String(Math.max(kept, Date.now() * 100)));
}

/** Takes `count` numbers, kept before use; gives the first. */
export function reserveCounter(sid: string, count: number): number {
  const first = Number(sessionStorage.getItem(counter(sid)) ?? 1);
  sessionStorage.setItem(counter(sid), String(first + count));
  return first;
}
