// Members of subnets, in SQL.
import type { Members } from '../records.ts';
import { byHub } from '../rules.ts';
import { note as noted } from './audit.ts';
import { findHub } from './hubs.ts';
import { endSessions } from './sessions.ts';
import type { Db, Store } from './store.ts';

interface Row extends Record<string, unknown> {
  via: string;
  owner_id: string;
  subnet_id: string;
  exp: number;
}

const rowOf = (db: Db, hubId: string, now: number) =>
  db.get<Row>('SELECT * FROM member WHERE hub_id = ? AND (exp = 0 OR exp > ?)', hubId, now);

/** Gives a hub its place; what was begun in the one before is over. */
async function move(
  db: Db,
  hubId: string,
  to: { owner_id: string; subnet_id: string },
  now: number,
): Promise<string[]> {
  await db.run(
    'UPDATE hub SET owner_id = ?, subnet_id = ?, kept = 1 WHERE hub_id = ?',
    ...[to.owner_id, to.subnet_id, hubId],
  );
  await db.run('DELETE FROM device_code WHERE hub_id = ?', hubId);
  return endSessions(db, 'hub_id = ?', hubId, now);
}

export function sqlMembers(store: Store): Members {
  return {
    async find(hubId, now) {
      const row = await rowOf(store, hubId, now);
      const via = row && (await findHub(store, row.via));
      return via && { via, admitted: row.exp === 0 };
    },
    admit: ({ hub_id, sign_pub, via, most, now }) =>
      store.transaction(async (db) => {
        const row = await rowOf(db, hub_id, now);
        const [hub, into] = [await findHub(db, hub_id), await findHub(db, via)];
        if (!row || row.via !== via || hub?.sign_pub !== sign_pub || !into) return undefined;
        // Told twice: the answer to the first got lost.
        if (row.exp === 0) return [];
        const led = await db.get('SELECT 1 FROM member WHERE hub_id = ? AND exp = 0', via);
        if (led) return undefined;
        const { n } = (await db.get<{ n: number }>(
          'SELECT count(*) AS n FROM member WHERE via = ? AND exp = 0',
          via,
        ))!;
        if (n >= most) return undefined;
        await db.run('UPDATE member SET exp = 0 WHERE hub_id = ?', hub_id);
        await db.run('DELETE FROM parted WHERE hub_id = ?', hub_id);
        await db.run('DELETE FROM handover WHERE hub_id IN (?, ?)', hub_id, via);
        const joined = { what: 'member_joined', by: byHub(via), about: hub_id } as const;
        await noted(db, into.owner_id, joined, now);
        return move(db, hub_id, into, now);
      }),
    part: ({ hub_id, via, note, now }) =>
      store.transaction(async (db) => {
        const row = await rowOf(db, hub_id, now);
        if (!row || (via !== null && row.via !== via)) return undefined;
        await db.run('DELETE FROM member WHERE hub_id = ?', hub_id);
        if (row.exp !== 0) return [];
        const led = await findHub(db, row.via);
        const left = { what: 'member_left', by: byHub(via ?? hub_id), about: hub_id } as const;
        if (led) await noted(db, led.owner_id, left, now);
        if (via !== null)
          await db.run(
            'INSERT INTO parted VALUES (?, ?) ON CONFLICT (hub_id) DO UPDATE SET note = excluded.note',
            ...[hub_id, note],
          );
        return move(db, hub_id, row, now);
      }),
    note: async (hubId) =>
      (await store.get<{ note: string }>('SELECT note FROM parted WHERE hub_id = ?', hubId))?.note,
  };
}
