// The journal: every id is done once, whatever is killed in between; a repeated id gets the first answer.
import { createHash } from 'node:crypto';
import { IngleError } from '../protocol/errors.ts';
import type { Principal } from './acl.ts';
import type { Transaction } from './archive.ts';
import type { Outcome } from './command.ts';
import { etagOf, type JsonObject } from './content.ts';

export interface JournalEntry {
  owner_id: string;
  /** `scopedId` of the id that came. */
  id: string;
  /** Key of the command document; empty for a request that came over HTTP. */
  document: string;
  principal: Principal | null;
  /** The command or request as JSON. */
  command: unknown;
  outcome: Outcome | undefined;
}

/** Answers older than this are forgotten, seconds. */
const KEPT = 30 * 86_400;
const MOST = 20_000;

/**
 * What an id of a browser is kept and passed on under: `k` and 132 bits. `scope` is the command document, or the
 * browser; the same id of another is another.
 */
export function scopedId(scope: string, id: string): string {
  const hash = createHash('sha256').update(JSON.stringify([scope, id]));
  return `k${hash.digest('base64url').slice(0, 22)}`;
}

/** @throws IngleError `conflict` when what came under an id before is not what comes now. */
export function sameRequest(before: unknown, now: unknown): void {
  const hash = (v: unknown) => etagOf({ v } as JsonObject);
  if (hash(before) === hash(now)) return;
  throw new IngleError(
    'conflict',
    'This id was used for another request. Ask again with a new one (Idempotency-Key).',
  );
}

/** Takes an id in. @returns false when it is known already. */
export async function acceptId(
  tx: Transaction,
  e: Omit<JournalEntry, 'outcome'>,
  now: number,
): Promise<boolean> {
  const { changes } = await tx.run(
    `INSERT OR IGNORE INTO command_journal (owner_id, id, document, principal, command, status, at)
     VALUES (?, ?, ?, ?, ?, 'pending', ?)`,
    e.owner_id,
    e.id,
    e.document,
    JSON.stringify(e.principal),
    JSON.stringify(e.command),
    now,
  );
  return changes === 1;
}

export async function finishId(
  tx: Transaction,
  owner_id: string,
  id: string,
  o: Outcome,
  now: number,
): Promise<void> {
  await tx.run(
    'UPDATE command_journal SET status = ?, result = ?, finished_at = ? WHERE owner_id = ? AND id = ?',
    o.status,
    JSON.stringify(o),
    now,
    owner_id,
    id,
  );
}

interface JournalRow extends Record<string, unknown> {
  owner_id: string;
  id: string;
  document: string;
  principal: string;
  command: string;
  result: string | null;
}

const read = (r: JournalRow): JournalEntry => ({
  owner_id: r.owner_id,
  id: r.id,
  document: r.document,
  principal: JSON.parse(r.principal) as Principal | null,
  command: JSON.parse(r.command),
  outcome: r.result === null ? undefined : (JSON.parse(r.result) as Outcome),
});

export async function findId(
  tx: Transaction,
  owner_id: string,
  id: string,
): Promise<JournalEntry | undefined> {
  const row = await tx.get<JournalRow>(
    'SELECT * FROM command_journal WHERE owner_id = ? AND id = ?',
    owner_id,
    id,
  );
  return row && read(row);
}

/** Notes that an id is being done now. */
export async function beginId(tx: Transaction, owner_id: string, id: string): Promise<void> {
  await tx.run(
    "UPDATE command_journal SET status = 'running' WHERE owner_id = ? AND id = ? AND finished_at IS NULL",
    owner_id,
    id,
  );
}

/** What was taken in and not finished, to be done after a restart: what was begun first, then the oldest. */
export async function openIds(tx: Transaction): Promise<JournalEntry[]> {
  const rows = await tx.all<JournalRow>(
    "SELECT * FROM command_journal WHERE status IN ('pending', 'running') ORDER BY status DESC, at",
  );
  return rows.map(read);
}

/** Forgets answers that are old, and the oldest where there are too many. */
export async function trimJournal(tx: Transaction, now: number): Promise<void> {
  await tx.run('DELETE FROM command_journal WHERE finished_at IS NOT NULL AND finished_at < ?', now - KEPT);
  await tx.run(
    `DELETE FROM command_journal WHERE finished_at IS NOT NULL AND finished_at <=
     (SELECT finished_at FROM command_journal WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT 1 OFFSET ?)`,
    MOST,
  );
}
