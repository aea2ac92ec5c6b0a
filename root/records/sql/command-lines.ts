// Command lines that ask to be let in, in SQL.
import type { Asking, CommandLines } from '../records.ts';
import { bySession } from '../rules.ts';
import { note } from './audit.ts';
import { findPasskey, noteUse } from './passkeys.ts';
import type { Row, Store } from './store.ts';

type State = 'asking' | 'allowed' | 'denied' | 'spent';
type Line = Row & Asking & { state: State; owner_id: string; browser_key_id: string; polled: number };

export function sqlCommandLines(store: Store): CommandLines {
  return {
    async ask({ id, name, network, place, asked, exp, most }, draw) {
      // Beside the step: it is a bound, which may be passed by a few, and counting would make all who ask wait for each other.
      const open = await store.get<{ n: number }>(
        'SELECT COUNT(*) AS n FROM command_line WHERE exp > ?',
        asked,
      );
      if (Number(open!.n) >= most) return false;
      return store.transaction(async (db) => {
        await db.run('DELETE FROM command_line WHERE exp <= ?', asked);
        for (;;) {
          const { changes } = await db.run(
            `INSERT INTO command_line VALUES (?, ?, ?, ?, ?, 'asking', NULL, NULL, ?, 0, ?) ON CONFLICT DO NOTHING`,
            ...[id, draw(), name, network, place, asked, exp],
          );
          if (changes === 1) return true;
        }
      });
    },
    find: ({ code, network, owner_id, now }) =>
      store.get<Row & Asking>(
        `UPDATE command_line SET owner_id = ? WHERE code = ? AND state = 'asking' AND exp > ?
         AND (owner_id IS NULL OR owner_id = ?) AND (CAST(? AS TEXT) = '' OR network = ?)
         RETURNING id, name, place, asked, exp`,
        ...[owner_id, code, now, owner_id, network, network],
      ),
    allow: ({ id, owner_id, cred_id, sign_count, by, now }) =>
      store.transaction(async (db) => {
        const passkey = await findPasskey(db, cred_id);
        if (passkey?.owner_id !== owner_id || passkey.guest) return false;
        const line = await db.get<{ name: string }>(
          `UPDATE command_line SET state = 'allowed', browser_key_id = ? WHERE id = ? AND owner_id = ?
           AND state = 'asking' AND exp > ? RETURNING name`,
          ...[passkey.browser_key_id, id, owner_id, now],
        );
        if (!line) return false;
        await noteUse(db, passkey, sign_count, now);
        await note(db, owner_id, { what: 'command_allowed', by, name: line.name }, now);
        return true;
      }),
    deny: ({ id, owner_id, by, now }) =>
      store.transaction(async (db) => {
        const line = await db.get<{ name: string }>(
          `UPDATE command_line SET state = 'denied' WHERE id = ? AND owner_id = ? AND state = 'asking' AND exp > ?
           RETURNING name`,
          ...[id, owner_id, now],
        );
        if (line) await note(db, owner_id, { what: 'command_denied', by, name: line.name }, now);
        return line !== undefined;
      }),
    poll: ({ id, sid, interval, place, now, exp }) =>
      store.transaction(async (db) => {
        const line = await db.get<Line>('SELECT * FROM command_line WHERE id = ? AND exp > ?', id, now);
        if (!line) return 'over';
        if (line.polled + interval > now) return 'early';
        const { owner_id, browser_key_id, name } = line;
        // Whoever let it in may be gone since.
        const isHeld = await db.get(
          'SELECT 1 AS one FROM webauthn_cred WHERE owner_id = ? AND browser_key_id = ? AND guest = 0',
          ...[owner_id, browser_key_id],
        );
        const state = line.state !== 'allowed' ? line.state : isHeld ? 'spent' : 'denied';
        await db.run('UPDATE command_line SET polled = ?, state = ? WHERE id = ?', now, state, id);
        if (line.state !== 'allowed' || state !== 'spent') return state;
        // No browser's cookie has this digest.
        await db.run(
          `INSERT INTO session_web (sid, cookie, stage, owner_id, browser_key_id, jti, command, place, last_seen, exp)
           VALUES (?, '', 'AUTH', ?, ?, '', ?, ?, ?, ?)`,
          ...[sid, owner_id, browser_key_id, name, place, now, exp],
        );
        const by = bySession({ browser_key_id, place, command: name });
        await note(db, owner_id, { what: 'signed_in', by }, now);
        return { owner_id };
      }),
  };
}
