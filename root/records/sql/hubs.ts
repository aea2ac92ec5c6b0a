// Hubs, in SQL.
import type { Hub, Hubs, Sweep } from '../records.ts';
import { byHub, SEEN_EVERY, UNUSED } from '../rules.ts';
import { note } from './audit.ts';
import { endSessions } from './sessions.ts';
import { type Db, parts, type Store } from './store.ts';

type HubRow = Hub & Record<string, unknown>;
export const COLUMNS = 'hub_id, owner_id, subnet_id, sign_pub, e2e_pub';

export function findHub(db: Db, hubId: string): Promise<Hub | undefined> {
  return db.get<HubRow>(`SELECT ${COLUMNS} FROM hub WHERE hub_id = ?`, hubId);
}
function findByKey(db: Db, signPub: string): Promise<Hub | undefined> {
  return db.get<HubRow>(`SELECT ${COLUMNS} FROM hub WHERE sign_pub = ?`, signPub);
}

/** Forgets the subnet a hub was in, and an owner who has no hub left, with everything of theirs. @returns sids that ended */
export async function forgetOwnerless(
  db: Db,
  { owner_id, subnet_id }: { owner_id: string; subnet_id: string },
  now: number,
): Promise<string[]> {
  await db.run(
    `DELETE FROM subnet WHERE subnet_id = ? AND subnet_id NOT IN (SELECT subnet_id FROM hub)
     AND subnet_id NOT IN (SELECT subnet_id FROM member)`,
    subnet_id,
  );
  // A member has its owner again once it leaves.
  const has =
    'SELECT 1 FROM hub WHERE owner_id = ? UNION ALL SELECT 1 FROM member WHERE owner_id = ? LIMIT 1';
  if (await db.get(has, owner_id, owner_id)) return [];
  const ended = await endSessions(db, 'owner_id = ?', owner_id, now);
  for (const table of ['webauthn_cred', 'audit', 'subnet', 'owner'])
    await db.run(`DELETE FROM ${table} WHERE owner_id = ?`, owner_id);
  return ended;
}

/** Forgets a hub and all that hangs on it, with an owner who has no other. @returns sids that ended */
export async function forgetHub(db: Db, hubId: string, now: number): Promise<string[]> {
  const hub = (await findHub(db, hubId))!;
  const ended = await endSessions(db, 'hub_id = ?', hubId, now);
  await db.run('DELETE FROM member WHERE via = ?', hubId);
  for (const table of ['device_code', 'code_taken', 'parted', 'handover', 'member', 'hub'])
    await db.run(`DELETE FROM ${table} WHERE hub_id = ?`, hubId);
  return [...ended, ...(await forgetOwnerless(db, hub, now))];
}

/** Notes which hubs are there, and forgets some of those that nobody uses. @returns sids that ended */
export async function sweepHubs(db: Db, { now, online }: Pick<Sweep, 'now' | 'online'>): Promise<string[]> {
  for (const some of parts(online)) {
    const marks = some.map(() => '?').join(',');
    await db.run(
      `UPDATE hub SET seen = ? WHERE seen <= ? AND hub_id IN (${marks})`,
      ...[now, now - SEEN_EVERY, ...some],
    );
  }
  const unused = await db.all<{ hub_id: string }>(
    `SELECT hub_id FROM hub WHERE kept = 0 AND seen <= ? AND created <= ?
     AND CASE WHEN seen = 0 THEN created <= ? ELSE seen <= ? END LIMIT 500`,
    ...[now - UNUSED.never, now - UNUSED.never, now - UNUSED.never, now - UNUSED.offline],
  );
  // A code of it was taken once, perhaps by whoever enrolled it, and nothing came of it.
  const expired = await db.all<{ hub_id: string }>(
    `SELECT hub_id FROM hub WHERE cert_exp > 0 AND cert_exp <= ? AND seen <= ?
     AND owner_id NOT IN (SELECT owner_id FROM webauthn_cred)
     AND hub_id NOT IN (SELECT hub_id FROM member UNION SELECT via FROM member) LIMIT 500`,
    ...[now - UNUSED.expired, now - UNUSED.expired],
  );
  const ended: string[] = [];
  const over = new Set([...unused, ...expired].map((h) => h.hub_id));
  for (const hubId of over) ended.push(...(await forgetHub(db, hubId, now)));
  return ended;
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
        // The names may also be of an account that this key left, or was removed from: it does not come back by itself.
        const taken =
          (await findHub(db, derived.hub_id)) !== undefined ||
          (await db.get('SELECT 1 FROM owner WHERE owner_id = ?', derived.owner_id)) !== undefined;
        const { hub_id, owner_id, subnet_id } = taken ? random : derived;
        await db.run('INSERT INTO owner VALUES (?, ?)', owner_id, now);
        await db.run('INSERT INTO subnet VALUES (?, ?, ?)', subnet_id, owner_id, now);
        await db.run(
          `INSERT INTO hub (${COLUMNS}, created, kept) VALUES (?, ?, ?, ?, ?, ?, ?)`,
          ...[hub_id, owner_id, subnet_id, sign_pub, e2e_pub, now, taken ? 1 : 0],
        );
        return { hub_id, owner_id, subnet_id, sign_pub, e2e_pub };
      }),
    rotate: ({ hub_id, from, to, e2e_pub, now }) =>
      store.transaction(async (db) => {
        const rotated = await db.get<{ owner_id: string; name: string }>(
          `UPDATE hub SET e2e_pub = ?, kept = CASE WHEN sign_pub = ? THEN kept ELSE 1 END, sign_pub = ?, rotated = ?
           WHERE hub_id = ? AND sign_pub = ?
           AND NOT EXISTS (SELECT 1 FROM hub AS other WHERE other.sign_pub = ? AND other.hub_id != ?)
           RETURNING owner_id, name`,
          ...[e2e_pub, to, to, now, hub_id, from, to, hub_id],
        );
        if (!rotated) return false;
        const { owner_id, name } = rotated;
        await note(db, owner_id, { what: 'hub_keys_changed', by: byHub(hub_id), about: hub_id, name }, now);
        return true;
      }),
    seen: async (hubId, now) =>
      void (await store.run(
        'UPDATE hub SET seen = ? WHERE hub_id = ? AND seen <= ?',
        ...[now, hubId, now - SEEN_EVERY],
      )),
    certified: async (hubId, exp) =>
      void (await store.run('UPDATE hub SET cert_exp = ? WHERE hub_id = ?', exp, hubId)),
    spendProof: async (id, exp) =>
      (await store.run('INSERT INTO spent_proof VALUES (?, ?) ON CONFLICT DO NOTHING', id, exp)).changes ===
      1,
  };
}
