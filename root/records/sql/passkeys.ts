// Passkeys and the challenges of their ceremonies, in SQL.
import type { Ceremony, Challenge, Passkey, Passkeys } from '../records.ts';
import { alive, bySession, moved, wentBack } from '../rules.ts';
import { note } from './audit.ts';
import { endSessions, findSession } from './sessions.ts';
import type { Db, Store } from './store.ts';

type Row = Record<string, unknown> &
  Omit<Passkey, 'transports' | 'backed_up' | 'guest'> & {
    transports: string;
    backed_up: number;
    guest: number;
  };

function passkeyOf(row: Row): Passkey {
  const transports = JSON.parse(row.transports) as string[];
  return { ...row, transports, backed_up: row.backed_up === 1, guest: row.guest === 1 };
}
export async function findPasskey(db: Db, credId: string): Promise<Passkey | undefined> {
  const row = await db.get<Row>('SELECT * FROM webauthn_cred WHERE cred_id = ?', credId);
  return row && passkeyOf(row);
}
async function ofOwner(db: Db, ownerId: string): Promise<Passkey[]> {
  const sql = 'SELECT * FROM webauthn_cred WHERE owner_id = ? ORDER BY created, cred_id';
  return (await db.all<Row>(sql, ownerId)).map(passkeyOf);
}
/** Notes that a passkey was used. @returns whether its counter went back */
export async function noteUse(db: Db, p: Passkey, signCount: number, now: number): Promise<boolean> {
  const back = wentBack(p.sign_count, signCount);
  await db.run(
    'UPDATE webauthn_cred SET sign_count = ?, last_used = ?, went_back = ? WHERE cred_id = ?',
    ...[signCount, now, back ? now : p.went_back, p.cred_id],
  );
  return back;
}
async function keepChallenge(db: Db, kind: Ceremony, c: Challenge): Promise<void> {
  const sql = `INSERT INTO pairing_challenge VALUES (?, ?, ?, ?)
    ON CONFLICT (sid) DO UPDATE SET kind = excluded.kind, challenge = excluded.challenge, exp = excluded.exp`;
  await db.run(sql, c.sid, kind, c.challenge, c.exp);
}

export function sqlPasskeys(store: Store): Passkeys {
  return {
    find: (credId) => findPasskey(store, credId),
    ofOwner: (ownerId) => ofOwner(store, ownerId),
    beginRegistration: (c, now) =>
      store.transaction(async (db) => {
        const stage = moved(alive(await findSession(db, c.sid, now)), 'registration_challenge');
        await db.run('UPDATE session_web SET stage = ? WHERE sid = ?', stage, c.sid);
        await keepChallenge(db, 'registration', c);
      }),
    beginAssertion: (kind, c) => keepChallenge(store, kind, c),
    takeChallenge: async (sid, kind, now) =>
      (
        await store.get<{ challenge: string }>(
          'DELETE FROM pairing_challenge WHERE sid = ? AND kind = ? AND exp > ? RETURNING challenge',
          ...[sid, kind, now],
        )
      )?.challenge,
    register: ({ sid, passkey: p, now }, check) =>
      store.transaction(async (db) => {
        const present = await findSession(db, sid, now);
        check(present, await ofOwner(db, p.owner_id));
        const { stage: before, scope, place, browser_key_id } = alive(present);
        const stage = moved({ stage: before }, 'registered');
        const { changes } = await db.run(
          "INSERT INTO webauthn_cred VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, '') ON CONFLICT DO NOTHING",
          ...[p.cred_id, p.owner_id, p.browser_pubkey, p.sign_count, p.browser_key_id],
          ...[
            JSON.stringify(p.transports),
            p.backed_up ? 1 : 0,
            now,
            now,
            p.hub_id,
            scope === 'guest' ? 1 : 0,
          ],
        );
        if (changes !== 1) return false;
        // The approval was for one passkey.
        await db.run("UPDATE session_web SET scope = '', stage = ? WHERE sid = ?", stage, sid);
        const by = bySession({ browser_key_id, place });
        await note(db, p.owner_id, { what: 'passkey_added', by, about: p.browser_key_id }, now);
        return true;
      }),
    markGuest: async (credId) =>
      void (await store.run('UPDATE webauthn_cred SET guest = 1 WHERE cred_id = ?', credId)),
    login: ({ sid, owner_before, cred_id, sign_count, hub_id, subnet_id, jti, place, now, exp }) =>
      store.transaction(async (db) => {
        const present = await findSession(db, sid, now);
        const passkey = await findPasskey(db, cred_id);
        if (!present || present.owner_id !== owner_before || !passkey) return undefined;
        const stage = moved(present, 'login');
        const back = await noteUse(db, passkey, sign_count, now);
        await db.run(
          `UPDATE session_web SET stage = ?, owner_id = ?, subnet_id = ?, hub_id = ?, browser_key_id = ?, scope = '',
           jti = ?, last_seen = ?, exp = ?, place = ? WHERE sid = ?`,
          ...[stage, passkey.owner_id, subnet_id, hub_id, passkey.browser_key_id, jti, now, exp, place, sid],
        );
        const by = bySession({ browser_key_id: passkey.browser_key_id, place });
        await note(db, passkey.owner_id, { what: back ? 'counter_went_back' : 'signed_in', by }, now);
        return { went_back: back };
      }),
    rename: ({ cred_id, owner_id, name, by, now }) =>
      store.transaction(async (db) => {
        const renamed = await db.get<{ browser_key_id: string }>(
          'UPDATE webauthn_cred SET name = ? WHERE cred_id = ? AND owner_id = ? RETURNING browser_key_id',
          ...[name, cred_id, owner_id],
        );
        if (!renamed) return false;
        const about = renamed.browser_key_id;
        await note(db, owner_id, { what: 'passkey_renamed', by, about, name }, now);
        return true;
      }),
    remove: ({ cred_id, owner_id, by, now }) =>
      store.transaction(async (db) => {
        const gone = await db.get<{ browser_key_id: string; name: string }>(
          'DELETE FROM webauthn_cred WHERE cred_id = ? AND owner_id = ? RETURNING browser_key_id, name',
          ...[cred_id, owner_id],
        );
        if (!gone) return undefined;
        const removed = { what: 'passkey_removed', by, about: gone.browser_key_id, name: gone.name } as const;
        await note(db, owner_id, removed, now);
        if ((await ofOwner(db, owner_id)).length > 0)
          return endSessions(db, 'browser_key_id = ?', gone.browser_key_id, now);
        await db.run('DELETE FROM device_code WHERE owner_id = ? AND bind_sid IS NULL', owner_id);
        return endSessions(db, 'owner_id = ?', owner_id, now);
      }),
  };
}
