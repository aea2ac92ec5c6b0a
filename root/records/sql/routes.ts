// Routes, in SQL.
import type { Route, Routes } from '../records.ts';
import type { Store } from './store.ts';

export function sqlRoutes(store: Store): Routes {
  return {
    restore: (now, hubId = '') =>
      store.transaction(async (db) => {
        await db.run(
          `UPDATE session_web SET stage = 'AUTH' WHERE stage IN ('PAIRED', 'ONLINE')
           AND (CAST(? AS TEXT) = '' OR hub_id = ?)`,
          ...[hubId, hubId],
        );
        return db.all<Route & Record<string, unknown>>(
          `SELECT s.sid, s.owner_id, s.subnet_id, s.stage, r.hub_id, r.generation, p.pubkey FROM route r
           JOIN session_web s ON s.sid = r.sid LEFT JOIN e2e_browser_pub p ON p.sid = r.sid WHERE s.exp > ?
           AND (CAST(? AS TEXT) = '' OR r.hub_id = ?)`,
          ...[now, hubId, hubId],
        );
      }),
    offer: ({ sid, hub_id, pubkey, now, exp }) =>
      store.transaction(async (db) => {
        await db.run(
          `UPDATE session_web SET hub_id = ?, subnet_id = (SELECT subnet_id FROM hub WHERE hub_id = ?) WHERE sid = ? AND hub_id != ?
           AND owner_id = (SELECT owner_id FROM hub WHERE hub_id = ?)`,
          ...[hub_id, hub_id, sid, hub_id, hub_id],
        );
        const { changes } = await db.run(
          `INSERT INTO route SELECT sid, CAST(? AS TEXT), 'on', 0, CAST(? AS BIGINT) FROM session_web WHERE sid = ? AND hub_id = ?
           ON CONFLICT (sid) DO UPDATE SET
           generation = route.generation + CASE WHEN route.hub_id = excluded.hub_id THEN 0 ELSE 1 END,
           hub_id = excluded.hub_id, last_seen = excluded.last_seen`,
          ...[hub_id, now, sid, hub_id],
        );
        if (changes === 1 && pubkey !== undefined)
          await db.run(
            `INSERT INTO e2e_browser_pub VALUES (?, ?, ?, ?)
             ON CONFLICT (sid) DO UPDATE SET pubkey = excluded.pubkey, alg = excluded.alg, exp = excluded.exp`,
            ...[sid, pubkey, 'X25519', exp],
          );
        return changes === 1;
      }),
    bind: async (sid, generation, now) =>
      void (await store.run(
        'UPDATE route SET generation = CASE WHEN generation > ? THEN generation ELSE ? END, last_seen = ? WHERE sid = ?',
        ...[generation, generation, now, sid],
      )),
  };
}
