// Root's records in one SQLite file.
import type { Records } from './records.ts';
import { sqliteCodes } from './sqlite/codes.ts';
import { sqliteHubs, sweepHubs } from './sqlite/hubs.ts';
import { sqliteMembers } from './sqlite/members.ts';
import { sqlitePages } from './sqlite/pages.ts';
import { sqlitePasskeys } from './sqlite/passkeys.ts';
import { sqliteRoutes } from './sqlite/routes.ts';
import { migrations } from './sqlite/schema.ts';
import { sqliteSessions, sweepSessions } from './sqlite/sessions.ts';
import { openStore, type Store } from './sqlite/store.ts';

/** Opens (and makes) the file, or a store in memory (`:memory:`), with the newest schema. */
export async function openSqlite(file: string): Promise<Records> {
  return sqliteRecords(await openStore(file, migrations));
}

/** The records in a store that has the schema. */
export function sqliteRecords(store: Store): Records {
  return {
    secret: (name, fresh) =>
      store.transaction(async (db) => {
        await db.run('INSERT OR IGNORE INTO secret VALUES (?, ?)', name, fresh);
        return (await db.get<{ value: string }>('SELECT value FROM secret WHERE name = ?', name))!.value;
      }),
    sessions: sqliteSessions(store),
    hubs: sqliteHubs(store),
    codes: sqliteCodes(store),
    members: sqliteMembers(store),
    passkeys: sqlitePasskeys(store),
    routes: sqliteRoutes(store),
    pages: sqlitePages(store),
    sweep: (s) =>
      store.transaction(async (db) => {
        for (const table of [
          'device_code',
          'pairing_challenge',
          'e2e_browser_pub',
          'spent_proof',
          'ended_sid',
          'skill_page',
        ])
          await db.run(`DELETE FROM ${table} WHERE exp <= ?`, s.now);
        await db.run('DELETE FROM member WHERE exp > 0 AND exp <= ?', s.now);
        await sweepHubs(db, s);
        return sweepSessions(db, s);
      }),
    ready: async () => void (await store.get('SELECT 1')),
    close: store.close,
  };
}
