// An owner's hubs: what they are called, how one goes, and how it changes hands; in SQL.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { By, Estate, OwnedHub } from '../records.ts';
import { bySession } from '../rules.ts';
import { note } from './audit.ts';
import { noteTaken } from './codes.ts';
import { COLUMNS, forgetHub, forgetOwnerless } from './hubs.ts';
import { endSessions } from './sessions.ts';
import type { Db, Store } from './store.ts';

type Mine = { name: string };

/** A hub of that owner. */
const mine = (db: Db, hubId: string, ownerId: string) =>
  db.get<Mine>('SELECT name FROM hub WHERE hub_id = ? AND owner_id = ?', hubId, ownerId);

/** @throws IngleError `conflict` for a hub that leads others, or is led */
async function alone(db: Db, hubId: string): Promise<void> {
  if (await db.get('SELECT 1 FROM member WHERE exp = 0 AND (hub_id = ? OR via = ?) LIMIT 1', hubId, hubId))
    throw new IngleError('conflict', 'This hub is in a subnet. Take the subnet apart first.', {
      subnet: true,
    });
}

/** Moves a hub to another owner, where it is alone. @returns sids of sessions that ended */
async function give(
  db: Db,
  hub: { hub_id: string; owner_id: string; subnet_id: string },
  to: { owner_id: string; subnet_id: string; home: string },
  now: number,
): Promise<string[]> {
  const { hub_id } = hub;
  // A passkey that says not by whose code it came is of the hub they had: the new one must not judge it (codes.ts).
  await db.run(
    "UPDATE webauthn_cred SET hub_id = ? WHERE owner_id = ? AND hub_id = ''",
    ...[to.home, to.owner_id],
  );
  await db.run('INSERT INTO subnet VALUES (?, ?, ?)', to.subnet_id, to.owner_id, now);
  await db.run(
    "UPDATE hub SET owner_id = ?, subnet_id = ?, name = '', kept = 1 WHERE hub_id = ?",
    ...[to.owner_id, to.subnet_id, hub_id],
  );
  for (const table of ['handover', 'device_code', 'member', 'parted'])
    await db.run(`DELETE FROM ${table} WHERE hub_id = ?`, hub_id);
  await db.run('DELETE FROM member WHERE via = ?', hub_id);
  const ended = await endSessions(db, 'hub_id = ?', hub_id, now);
  return [...ended, ...(await forgetOwnerless(db, hub, now))];
}

export function sqlEstate(store: Store): Estate {
  const noted = (db: Db, o: { owner_id: string; hub_id: string; by: By; now: number }, name: string) => ({
    did: (what: 'hub_renamed' | 'hub_removed' | 'hub_offered' | 'hub_kept') =>
      note(db, o.owner_id, { what, by: o.by, about: o.hub_id, name }, o.now),
  });
  return {
    hubs: (ownerId, now) =>
      store.all<OwnedHub & Record<string, unknown>>(
        `SELECT ${COLUMNS}, name, created, seen, cert_exp, rotated,
         (SELECT via FROM member m WHERE m.hub_id = hub.hub_id AND m.exp = 0) AS via,
         (SELECT exp FROM handover o WHERE o.hub_id = hub.hub_id AND o.exp > ?) AS offered_until
         FROM hub WHERE owner_id = ? ORDER BY created, hub_id`,
        ...[now, ownerId],
      ),
    rename: (r) =>
      store.transaction(async (db) => {
        if (!(await mine(db, r.hub_id, r.owner_id))) return false;
        await db.run('UPDATE hub SET name = ? WHERE hub_id = ?', r.name, r.hub_id);
        await noted(db, r, r.name).did('hub_renamed');
        return true;
      }),
    remove: (r) =>
      store.transaction(async (db) => {
        const hub = await mine(db, r.hub_id, r.owner_id);
        if (!hub) return undefined;
        await alone(db, r.hub_id);
        await noted(db, r, hub.name).did('hub_removed');
        return forgetHub(db, r.hub_id, r.now);
      }),
    offer: (o) =>
      store.transaction(async (db) => {
        const hub = await mine(db, o.hub_id, o.owner_id);
        if (!hub) return false;
        await alone(db, o.hub_id);
        const { changes } = await db.run('DELETE FROM handover WHERE hub_id = ?', o.hub_id);
        if (o.exp !== null) await db.run('INSERT INTO handover VALUES (?, ?)', o.hub_id, o.exp);
        else if (changes === 0) return true;
        await noted(db, o, hub.name).did(o.exp === null ? 'hub_kept' : 'hub_offered');
        return true;
      }),
    take: ({ code, ticket, network, owner_id, subnet_id, home, by, now }) =>
      store.transaction(async (db) => {
        const found = await db.get<{ hub_id: string }>(
          `DELETE FROM device_code WHERE code = ? AND bind_sid IS NULL AND exp > ? AND scope IN ('', 'new_passkey')
           AND (? = '' OR ticket = ?) AND (? = '' OR network = ?) AND owner_id != ?
           AND hub_id IN (SELECT hub_id FROM handover WHERE exp > ?)
           AND EXISTS (SELECT 1 FROM owner WHERE owner_id = ?) RETURNING hub_id`,
          ...[code, now, ticket, ticket, network, network, owner_id, now, owner_id],
        );
        if (!found) return undefined;
        const hub = (await db.get<{ hub_id: string; owner_id: string; subnet_id: string; name: string }>(
          'SELECT hub_id, owner_id, subnet_id, name FROM hub WHERE hub_id = ?',
          found.hub_id,
        ))!;
        const about = { about: hub.hub_id, name: hub.name };
        await alone(db, hub.hub_id);
        await noteTaken(db, hub.hub_id, now);
        // Whose browser took it is the new owner's business.
        const stranger = bySession({ browser_key_id: null, place: by.place });
        await note(db, hub.owner_id, { what: 'hub_given', by: stranger, ...about }, now);
        await note(db, owner_id, { what: 'hub_received', by, ...about }, now);
        return { hub_id: hub.hub_id, ended: await give(db, hub, { owner_id, subnet_id, home }, now) };
      }),
  };
}
