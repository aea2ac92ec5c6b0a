// Hubs, in SQL.
import type { Hub, HubIds, Hubs, Sweep } from '../records.ts';
import { UNUSED } from '../rules.ts';
import type { Db, Store } from './store.ts';

type HubRow = Hub & Record<string, unknown>;
const COLUMNS = 'hub_id, owner_id, subnet_id, sign_pub, e2e_pub';

export function findHub(db: Db, hubId: string): Promise<Hub | undefined> {
  return db.get<HubRow>(`SELECT ${COLUMNS} FROM hub WHERE hub_id = ?`, hubId);
}
function findByKey(db: Db, signPub: string): Promise<Hub | undefined> {
  return db.get<HubRow>(`SELECT ${COLUMNS} FROM hub WHERE sign_pub = ?`, signPub);
}

/** Forgets hubs that were enrolled and never used, with owner and subnet; some at a time. */
export async function sweepHubs(db: Db, { now, online }: Pick<Sweep, 'now' | 'online'>): Promise<void> {
  const unused = await db.all<HubIds & Record<string, unknown>>(
    `SELECT * FROM hub WHERE kept = 0 AND seen <= ? AND created <= ?
     AND CASE WHEN seen = 0 THEN created <= ? ELSE seen <= ? END LIMIT 500`,
    ...[now - UNUSED.never, now - UNUSED.never, now - UNUSED.never, now - UNUSED.offline],
  );
  for (const { hub_id, owner_id, subnet_id } of unused) {
    if (online(hub_id)) continue;
    await db.run('DELETE FROM device_code WHERE hub_id = ?', hub_id);
    await db.run('DELETE FROM hub WHERE hub_id = ?', hub_id);
    await db.run('DELETE FROM owner WHERE owner_id = ?', owner_id);
    await db.run('DELETE FROM subnet WHERE subnet_id = ?', subnet_id);
  }
}

export function sqlHubs(store: Store): Hubs {
  return {
    find: (hubId) => findHub(store, hubId),
    findByKey: (signPub) => findByKey(store, signPub),
    ofOwner: (ownerId, preferred) =>
      store.get<HubRow>(
        `SELECT ${COLUMNS} FROM hub WHERE owner_id = ? ORDER BY hub_id = ? DESC,
         hub_id IN (SELECT hub_id FROM member), created DESC`,
        ownerId,
        preferred,
      ),
    enrol: ({ sign_pub, e2e_pub, derived, random, now }) =>
      store.transaction(async (db) => {
        const old = await findByKey(db, sign_pub);
        if (old) {
          await db.run('UPDATE hub SET e2e_pub = ? WHERE hub_id = ?', e2e_pub, old.hub_id);
          return { ...old, e2e_pub };
        }
        const taken = (await findHub(db, derived.hub_id)) !== undefined;
        const { hub_id, owner_id, subnet_id } = taken ? random : derived;
        await db.run('INSERT INTO owner VALUES (?, ?)', owner_id, now);
        await db.run('INSERT INTO subnet VALUES (?, ?, ?)', subnet_id, owner_id, now);
        await db.run(
          `INSERT INTO hub (${COLUMNS}, created, kept) VALUES (?, ?, ?, ?, ?, ?, ?)`,
          ...[hub_id, owner_id, subnet_id, sign_pub, e2e_pub, now, taken ? 1 : 0],
        );
        return { hub_id, owner_id, subnet_id, sign_pub, e2e_pub };
      }),
    rotate: async ({ hub_id, from, to, e2e_pub }) => {
      const { changes } = await store.run(
        `UPDATE hub SET e2e_pub = ?, kept = CASE WHEN sign_pub = ? THEN kept ELSE 1 END, sign_pub = ?
         WHERE hub_id = ? AND sign_pub = ?
         AND NOT EXISTS (SELECT 1 FROM hub AS other WHERE other.sign_pub = ? AND other.hub_id != ?)`,
        ...[e2e_pub, to, to, hub_id, from, to, hub_id],
      );
      return changes === 1;
    },
    seen: async (hubId, now) =>
      void (await store.run('UPDATE hub SET seen = ? WHERE hub_id = ? AND kept = 0', now, hubId)),
    spendProof: async (id, exp) =>
      (await store.run('INSERT INTO spent_proof VALUES (?, ?) ON CONFLICT DO NOTHING', id, exp)).changes ===
      1,
  };
}
