// Sessions, in SQL.
import type { Session, Sessions, Sweep } from '../records.ts';
import { bySession, calledOf, NEW_TTL } from '../rules.ts';
import { note } from './audit.ts';
import { type Db, parts, type Store } from './store.ts';

export function findSession(db: Db, sid: string, now: number): Promise<Session | undefined> {
  return db.get<Session & Record<string, unknown>>(
    'SELECT * FROM session_web WHERE sid = ? AND exp > ?',
    sid,
    now,
  );
}

/** Removes sessions and all that hangs on them; returns their sids. */
export async function endSessions(
  db: Db,
  where:
    | 'sid = ?'
    | 'browser_key_id = ?'
    | 'owner_id = ?'
    | 'exp <= ?'
    | 'hub_id = ?'
    | 'hub_id = ? AND browser_key_id IS NULL',
  value: string | number,
  now: number,
): Promise<string[]> {
  const rows = await db.all<{ sid: string }>(`SELECT sid FROM session_web WHERE ${where}`, value);
  for (const { sid } of rows) {
    await db.run(
      'INSERT INTO ended_sid VALUES (?, ?) ON CONFLICT (sid) DO UPDATE SET exp = excluded.exp',
      ...[sid, now + NEW_TTL],
    );
    for (const table of ['session_web', 'pairing_challenge', 'e2e_browser_pub', 'route', 'skill_page'])
      await db.run(`DELETE FROM ${table} WHERE sid = ?`, sid);
  }
  return rows.map((r) => r.sid);
}

/** Notes open tabs, and ends sessions that are over or idle; returns those with what is gone of `connected`. */
export async function sweepSessions(db: Db, s: Sweep): Promise<string[]> {
  const gone: string[] = [];
  // An open tab is in use; one whose session ended just as it connected must go.
  for (const some of parts(s.connected)) {
    const marks = some.map(() => '?').join(',');
    const sql = `UPDATE session_web SET last_seen = ? WHERE sid IN (${marks}) RETURNING sid`;
    const alive = new Set((await db.all<{ sid: string }>(sql, s.now, ...some)).map((r) => r.sid));
    gone.push(...some.filter((sid) => !alive.has(sid)));
  }
  await db.run(
    'UPDATE session_web SET exp = ? WHERE jti IS NOT NULL AND last_seen <= ?',
    s.now,
    s.idle_since,
  );
  return [...gone, ...(await endSessions(db, 'exp <= ?', s.now, s.now))];
}

export function sqlSessions(store: Store): Sessions {
  return {
    find: (sid, now) => findSession(store, sid, now),
    isOver: async (sid) => (await store.get('SELECT 1 FROM ended_sid WHERE sid = ?', sid)) !== undefined,
    begin: ({ sid, cookie, now }) =>
      store.transaction(async (db) => {
        await db.run(
          `INSERT INTO session_web (sid, cookie, stage, last_seen, exp)
           SELECT CAST(? AS TEXT), CAST(? AS TEXT), 'NEW', CAST(? AS BIGINT), CAST(? AS BIGINT)
           WHERE NOT EXISTS (SELECT 1 FROM ended_sid WHERE sid = ?) ON CONFLICT DO NOTHING`,
          ...[sid, cookie, now, now + NEW_TTL, sid],
        );
        return findSession(db, sid, now);
      }),
    seen: async (sid, now) =>
      void (await store.run('UPDATE session_web SET last_seen = ? WHERE sid = ?', now, sid)),
    end: (sid, now, by) =>
      store.transaction(async (db) => {
        const s = await findSession(db, sid, now);
        if (s && s.owner_id !== null && s.jti !== null) {
          const done = by
            ? ({ what: 'session_ended', by, about: s.browser_key_id ?? '', name: calledOf(s) } as const)
            : ({ what: 'signed_out', by: bySession(s) } as const);
          await note(db, s.owner_id, done, now);
        }
        await endSessions(db, 'sid = ?', sid, now);
      }),
    ofOwner: (ownerId, now) =>
      store.all<Session & Record<string, unknown>>(
        'SELECT * FROM session_web WHERE owner_id = ? AND exp > ? AND jti IS NOT NULL ORDER BY last_seen DESC, sid',
        ...[ownerId, now],
      ),
    rename: ({ sid, owner_id, name, by, now }) =>
      store.transaction(async (db) => {
        const renamed = await db.get<{ browser_key_id: string }>(
          `UPDATE session_web SET name = ? WHERE sid = ? AND owner_id = ? AND exp > ? AND jti IS NOT NULL
           RETURNING browser_key_id`,
          ...[name, sid, owner_id, now],
        );
        if (!renamed) return false;
        await note(db, owner_id, { what: 'session_renamed', by, about: renamed.browser_key_id, name }, now);
        return true;
      }),
    endUnpaired: (hubId, now) =>
      store.transaction((db) => endSessions(db, 'hub_id = ? AND browser_key_id IS NULL', hubId, now)),
    keepStages: (stages) =>
      store.transaction(async (db) => {
        for (const { sid, stage } of stages)
          await db.run(
            "UPDATE session_web SET stage = ? WHERE sid = ? AND stage IN ('AUTH', 'PAIRED', 'ONLINE')",
            stage,
            sid,
          );
      }),
  };
}
