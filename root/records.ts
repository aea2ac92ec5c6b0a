// Reading and writing root's records. Every function takes the store, or the transaction it is part of.
import { createHash } from 'node:crypto';
import { IngleError } from '../firmware/protocol/errors.ts';
import { next, type StageEvent, stageTable } from '../firmware/protocol/stage.ts';
import type { Stage } from '../firmware/protocol/wire.ts';
import type { Store } from './store.ts';

export type Db = Pick<Store, 'run' | 'all' | 'get'>;

export type Session = {
  sid: string;
  cookie: string;
  stage: Stage;
  owner_id: string | null;
  subnet_id: string | null;
  hub_id: string | null;
  browser_key_id: string | null;
  /** `new_passkey` when the hub approved a further passkey with its code. */
  scope: string;
  jti: string | null;
  tries: number;
  tries_until: number;
  last_seen: number;
  exp: number;
};

export type Hub = { hub_id: string; owner_id: string; subnet_id: string; sign_pub: string; e2e_pub: string };

export type Credential = {
  cred_id: string;
  owner_id: string;
  browser_pubkey: Uint8Array;
  sign_count: number;
  browser_key_id: string;
  transports: string;
  backed_up: number;
  created: number;
  last_used: number;
  went_back: number;
};

export type RouteRow = { sid: string; hub_id: string; e2e: string; generation: number; last_seen: number };

/** Lifetime of a sid nobody has used yet, seconds. */
export const NEW_TTL = 3600;

/** Unix seconds. */
export function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** SHA-256 of a high-entropy secret, base64url: enough to recognise it, nothing to use. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

export function findSession(db: Db, sid: string): Promise<Session | undefined> {
  return db.get<Session>('SELECT * FROM session_web WHERE sid = ? AND exp > ?', sid, seconds());
}

/**
 * The stage after `event`; writing it is the caller's, with what else changes.
 * @throws IngleError `conflict` when the stage does not take the event
 */
export function moved(s: Session, event: StageEvent): Stage {
  const stage = next(stageTable, s.stage, event);
  if (stage === null)
    throw new IngleError('conflict', `This cannot be done now (stage ${s.stage}). Reload the page.`, {
      stage: s.stage,
    });
  return stage;
}

/** Removes sessions and all that hangs on them; returns their sids. */
export async function endSessions(
  db: Db,
  where:
    | 'sid = ?'
    | 'browser_key_id = ?'
    | 'owner_id = ?'
    | 'exp <= ?'
    | 'hub_id = ? AND browser_key_id IS NULL',
  value: string | number,
) {
  const rows = await db.all<{ sid: string }>(`SELECT sid FROM session_web WHERE ${where}`, value);
  for (const { sid } of rows) {
    await db.run('INSERT OR REPLACE INTO ended_sid VALUES (?, ?)', sid, seconds() + NEW_TTL);
    for (const table of ['session_web', 'pairing_challenge', 'e2e_browser_pub', 'route'])
      await db.run(`DELETE FROM ${table} WHERE sid = ?`, sid);
  }
  return rows.map((r) => r.sid);
}

/** Takes the challenge of a sid, once. */
export async function takeChallenge(db: Db, sid: string, kind: string): Promise<string | undefined> {
  const row = await db.get<{ challenge: string }>(
    'DELETE FROM pairing_challenge WHERE sid = ? AND kind = ? AND exp > ? RETURNING challenge',
    sid,
    kind,
    seconds(),
  );
  return row?.challenge;
}

export function credentialsOf(db: Db, owner: string): Promise<Credential[]> {
  return db.all<Credential>(
    'SELECT * FROM webauthn_cred WHERE owner_id = ? ORDER BY created, cred_id',
    owner,
  );
}

/** Removes what is over, but sessions, whose sockets must go with them. */
export async function sweepRecords(db: Db): Promise<void> {
  for (const table of ['device_code', 'pairing_challenge', 'e2e_browser_pub', 'spent_proof', 'ended_sid'])
    await db.run(`DELETE FROM ${table} WHERE exp <= ?`, seconds());
}

/** A hub that never came online is forgotten after a day, one nobody ever paired with a month after it was last there. */
const UNUSED = { never: 86_400, offline: 30 * 86_400 };

/**
 * Forgets hubs that were enrolled and never used, with owner and subnet. Their ids follow from their key, so one that
 * comes back after all enrols as who it was.
 * @param present whether a hub is online
 */
export async function sweepHubs(db: Db, present: (hubId: string) => boolean): Promise<void> {
  const now = seconds();
  const unused = await db.all<Hub>(
    `SELECT * FROM hub WHERE kept = 0 AND seen <= ? AND max(created, seen) <= ? - CASE seen WHEN 0 THEN ? ELSE ? END
     LIMIT 500`,
    ...[now - UNUSED.never, now, UNUSED.never, UNUSED.offline],
  );
  for (const { hub_id, owner_id, subnet_id } of unused) {
    if (present(hub_id)) continue;
    await db.run('DELETE FROM device_code WHERE hub_id = ?', hub_id);
    await db.run('DELETE FROM hub WHERE hub_id = ?', hub_id);
    await db.run('DELETE FROM owner WHERE owner_id = ?', owner_id);
    await db.run('DELETE FROM subnet WHERE subnet_id = ?', subnet_id);
  }
}
