// Routes in SQLite.
import type { Route, Routes } from '../records.ts';
import type { Store } from './store.ts';

export function sqliteRoutes(store: Store): Routes {
  return {
    restore: (now) =>
      store.transaction(async (db) => {
        await db.run("UPDATE session_web SET stage = 'AUTH' WHERE stage IN ('PAIRED', 'ONLINE')");
        return db.all<Route & Record<string, unknown>>(
          `SELECT s.sid, s.owner_id, s.subnet_id, s.stage, r.hub_id, r.generation, p.pubkey FROM route r
           JOIN session_web s ON s.sid = r.sid LEFT JOIN e2e_browser_pub p ON p.sid = r.sid WHERE s.exp > ?`,
          now,
        );
      }),
    offer: ({ sid, hub_id, pubkey, now, exp }) =>
      store.transaction(async (db) => {
        const { changes } = await db.run(
          `INSERT INTO route SELECT sid, ?, 'on', 0, ? FROM session_web WHERE sid = ? ON CONFLICT (sid) DO UPDATE SET
           generation = CASE WHEN hub_id = excluded.hub_id THEN generation ELSE generation + 1 END,
           hub_id = excluded.hub_id, last_seen = excluded.last_seen`,
          ...[hub_id, now, sid],
        );
        if (changes === 1 && pubkey !== undefined)
          await db.run(
            'INSERT OR REPLACE INTO e2e_browser_pub VALUES (?, ?, ?, ?)',
            ...[sid, pubkey, 'X25519', exp],
          );
        return changes === 1;
      }),
    bind: async (sid, generation, now) =>
      void (await store.run(
        'UPDATE route SET generation = max(generation, ?), last_seen = ? WHERE sid = ?',
        ...[generation, now, sid],
      )),
  };
}
