// The owners' trails, in SQL.
import type { Audit, AuditEntry, By, Deed } from '../records.ts';
import { AUDIT } from '../rules.ts';
import type { Db, Store } from './store.ts';

/** What is written of a deed; `about` and `name` where it was done to something other than the doer. */
export interface Note {
  what: Deed;
  by: By;
  about?: string | undefined;
  name?: string | undefined;
}

/** Adds to an owner's trail, within the transaction of what is noted; the oldest entry gives way. */
export async function note(
  db: Db,
  ownerId: string,
  { what, by, about = '', name = '' }: Note,
  now: number,
): Promise<void> {
  const { last } = (await db.get<{ last: number }>(
    'SELECT COALESCE(MAX(n), 0) AS last FROM audit WHERE owner_id = ?',
    ownerId,
  ))!;
  const n = Number(last) + 1;
  await db.run(
    'INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ...[`${ownerId}.${n}`, ownerId, n, now, what, by.browser_key_id, by.by_hub, by.place, about, name],
    by.by_command,
  );
  await db.run('DELETE FROM audit WHERE owner_id = ? AND n <= ?', ownerId, n - AUDIT.entries);
}

/** Lets go of entries that are too old. */
export async function sweepAudit(db: Db, now: number): Promise<void> {
  await db.run('DELETE FROM audit WHERE at <= ?', now - AUDIT.age);
}

export function sqlAudit(store: Store): Audit {
  return {
    read: ({ owner_id, before, most }) =>
      store.all<AuditEntry & Record<string, unknown>>(
        `SELECT n, at, what, browser_key_id, by_hub, by_command, place, about, name FROM audit
         WHERE owner_id = ? AND n < ? ORDER BY n DESC LIMIT ?`,
        ...[owner_id, before, most],
      ),
  };
}
