// Device codes, in SQL.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Codes } from '../records.ts';
import { alive, bySession, mayTry, moved, oneMoreTry } from '../rules.ts';
import { note } from './audit.ts';
import { findHub } from './hubs.ts';
import { findSession } from './sessions.ts';
import type { Db, Store } from './store.ts';

/** A code of the hub was taken: from now on the hub is in use. */
export async function noteTaken(db: Db, hubId: string, now: number): Promise<void> {
  await db.run(
    'INSERT INTO code_taken VALUES (?, ?) ON CONFLICT (hub_id) DO UPDATE SET at = excluded.at',
    ...[hubId, now],
  );
  await db.run('UPDATE hub SET kept = 1 WHERE hub_id = ? AND kept = 0', hubId);
}

export function sqlCodes(store: Store): Codes {
  return {
    issue: (c, draw) =>
      store.transaction(async (db) => {
        await db.run('DELETE FROM device_code WHERE hub_id = ? AND bind_sid IS NULL', c.hub_id);
        await db.run('DELETE FROM device_code WHERE exp <= ?', c.now);
        const taken = await db.get<{ at: number }>(
          'DELETE FROM code_taken WHERE hub_id = ? RETURNING at',
          c.hub_id,
        );
        for (;;) {
          const { changes } = await db.run(
            'INSERT INTO device_code VALUES (?, ?, ?, ?, ?, NULL, ?, ?) ON CONFLICT DO NOTHING',
            ...[draw(), c.owner_id, c.hub_id, c.scope, c.exp, c.network, c.ticket],
          );
          if (changes === 1) return { taken_at: taken?.at ?? null };
        }
      }),
    join: ({ hub_id, code, ticket, network, now, exp }) =>
      store.transaction(async (db) => {
        const busy = await db.get(
          'SELECT 1 FROM member WHERE (via = ? OR hub_id = ?) AND (exp = 0 OR via = ?)',
          ...[hub_id, hub_id, hub_id],
        );
        if (busy)
          throw new IngleError('conflict', 'This hub is in a subnet already. Leave it first.', {
            subnet: true,
          });
        const found = await db.get<{ hub_id: string }>(
          `UPDATE device_code SET bind_sid = ? WHERE code = ? AND bind_sid IS NULL AND exp > ? AND scope = 'member'
           AND hub_id != ? AND (? = '' OR ticket = ?) AND (? = '' OR network = ?) RETURNING hub_id`,
          ...[hub_id, code, now, hub_id, ticket, ticket, network, network],
        );
        if (!found) return undefined;
        const alone = (await findHub(db, hub_id))!;
        await noteTaken(db, found.hub_id, now);
        await db.run(
          `INSERT INTO member VALUES (?, ?, ?, ?, ?) ON CONFLICT (hub_id) DO UPDATE SET via = excluded.via,
           owner_id = excluded.owner_id, subnet_id = excluded.subnet_id, exp = excluded.exp`,
          ...[hub_id, found.hub_id, alone.owner_id, alone.subnet_id, exp],
        );
        return findHub(db, found.hub_id);
      }),
    take: ({ sid, code, ticket, network, place, now, exp }) =>
      store.transaction(async (db) => {
        const session = alive(await findSession(db, sid, now));
        const stage = moved(session, 'verify');
        mayTry(session, now);
        const found = await db.get<{ hub_id: string; scope: string }>(
          `UPDATE device_code SET bind_sid = ? WHERE code = ? AND bind_sid IS NULL AND exp > ? AND scope != 'member'
           AND (? = '' OR ticket = ?) AND (? = '' OR network = ?) RETURNING hub_id, scope`,
          ...[sid, code, now, ticket, ticket, network, network],
        );
        if (!found) {
          // A wrong ticket is no guess; the digits are looked up next.
          const { tries, tries_until } = oneMoreTry(session, now);
          if (ticket === '')
            await db.run(
              'UPDATE session_web SET tries = ?, tries_until = ? WHERE sid = ?',
              ...[tries, tries_until, sid],
            );
          return undefined;
        }
        const { hub_id, scope } = found;
        await noteTaken(db, hub_id, now);
        const hub = (await findHub(db, hub_id))!;
        await db.run(
          `UPDATE session_web SET stage = ?, owner_id = ?, subnet_id = ?, hub_id = ?, scope = ?, browser_key_id = NULL,
           tries = 0, last_seen = ?, exp = ?, place = ? WHERE sid = ?`,
          ...[stage, hub.owner_id, hub.subnet_id, hub_id, scope, now, exp, place, sid],
        );
        const by = bySession({ browser_key_id: null, place });
        await note(db, hub.owner_id, { what: 'code_taken', by, about: hub_id }, now);
        return { hub, scope };
      }),
  };
}
