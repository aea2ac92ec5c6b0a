// Root's records in a database that speaks SQL.
import type { Records } from './records.ts';
import { sqlAudit, sweepAudit } from './sql/audit.ts';
import { sqlCodes } from './sql/codes.ts';
import { sqlCommandLines } from './sql/command-lines.ts';
import { sqlEstate } from './sql/estate.ts';
import { sqlHubs, sweepHubs } from './sql/hubs.ts';
import { sqlMembers } from './sql/members.ts';
import { sqlPages } from './sql/pages.ts';
import { sqlPasskeys } from './sql/passkeys.ts';
import { sqlRoutes } from './sql/routes.ts';
import { sqlSecrets } from './sql/secrets.ts';
import { sqlSessions, sweepSessions } from './sql/sessions.ts';
import type { Store } from './sql/store.ts';

/** The records in a store that has the schema. */
export function sqlRecords(store: Store): Records {
  return {
    ...sqlSecrets(store),
    sessions: sqlSessions(store),
    hubs: sqlHubs(store),
    codes: sqlCodes(store),
    members: sqlMembers(store),
    passkeys: sqlPasskeys(store),
    routes: sqlRoutes(store),
    pages: sqlPages(store),
    commandLines: sqlCommandLines(store),
    estate: sqlEstate(store),
    audit: sqlAudit(store),
    sweep: (s) =>
      store.transaction(async (db) => {
        for (const table of [
          'device_code',
          'pairing_challenge',
          'e2e_browser_pub',
          'spent_proof',
          'ended_sid',
          'skill_page',
          'handover',
          'command_line',
        ])
          await db.run(`DELETE FROM ${table} WHERE exp <= ?`, s.now);
        await db.run('DELETE FROM member WHERE exp > 0 AND exp <= ?', s.now);
        await sweepAudit(db, s.now);
        const ended = await sweepHubs(db, s);
        return [...ended, ...(await sweepSessions(db, s))];
      }),
    ready: async () => void (await store.get('SELECT 1 AS one FROM secret LIMIT 1')),
    close: store.close,
  };
}
