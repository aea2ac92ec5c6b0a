// Root's records in one SQLite file (sqlite3, whose calls run off the event loop).
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import sqlite3 from 'sqlite3';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { Records } from './records.ts';
import { migrations } from './sql/schema.ts';
import type { Db, Store, Value } from './sql/store.ts';
import { sqlRecords } from './sql.ts';

/** Versions with the WAL-reset bug (sqlite.org, fixed in 3.52.0) may corrupt a file; refuse them. */
const oldestVersion = [3, 52, 0];

/** A write waits for its turn so long where another process writes, milliseconds. */
const TURN_MS = 5000;

/** Opens (and makes) the file, or a store in memory (`:memory:`), with the newest schema. */
export async function openSqlite(file: string): Promise<Records> {
  return sqlRecords(await openSqliteStore(file, migrations));
}

/**
 * Opens (and makes) a store in WAL mode with synchronous=FULL and brings it to the newest schema.
 * @param migrations each a list of SQL statements; the file's user_version counts how many have run.
 * @param o.asIs leaves the schema as it is: a root of an older version may use it
 */
export async function openSqliteStore(
  file: string,
  migrations: readonly string[],
  o: { asIs?: boolean } = {},
): Promise<Store> {
  if (file !== ':memory:') mkdirSync(dirname(file), { recursive: true, mode: 0o750 });
  const db = await new Promise<sqlite3.Database>((resolve, reject) => {
    const d: sqlite3.Database = new sqlite3.Database(file, (e) => (e ? reject(e) : resolve(d)));
  });
  const raw = plain(db);
  const version = (await raw.get<{ v: string }>('SELECT sqlite_version() AS v'))!.v;
  const parts = version.split('.').map(Number);
  const older = parts.findIndex((p, i) => p !== oldestVersion[i]);
  if (older >= 0 && parts[older]! < oldestVersion[older]!)
    throw new Error(`SQLite ${version} is too old; ${oldestVersion.join('.')} or newer is needed`);
  for (const pragma of ['journal_mode=WAL', 'synchronous=FULL', 'foreign_keys=ON', `busy_timeout=${TURN_MS}`])
    await raw.all(`PRAGMA ${pragma}`);

  // One connection, so transactions must not interleave: everything goes through one queue.
  const queued = openQueue().add;
  const between = <T>(begin: string, work: (db: Db) => Promise<T>): Promise<T> =>
    queued(async () => {
      await raw.run(begin);
      try {
        const result = await work(raw);
        await raw.run('COMMIT');
        return result;
      } catch (e) {
        await raw.run('ROLLBACK');
        throw e;
      }
    });
  let schema = 0;
  const store: Store = {
    get schema() {
      return schema;
    },
    run: (sql, ...v) => queued(() => raw.run(sql, ...v)),
    all: (sql, ...v) => queued(() => raw.all(sql, ...v)) as never,
    get: (sql, ...v) => queued(() => raw.get(sql, ...v)) as never,
    transaction: (work) => between('BEGIN IMMEDIATE', work),
    snapshot: (work) => between('BEGIN', work),
    close: () => queued(() => new Promise<void>((ok, no) => db.close((e) => (e ? no(e) : ok())))),
  };
  await store.transaction(async (s) => {
    if (await s.get("SELECT name FROM sqlite_master WHERE name = 'moved_secret'"))
      throw new IngleError('conflict', `The records of ${file} have moved. Name their database: --database`);
    const have = Number((await s.get<{ user_version: number }>('PRAGMA user_version'))!.user_version);
    if (have > migrations.length)
      throw new Error(`${file} was written by a newer version (schema ${have}, known ${migrations.length})`);
    schema = o.asIs ? have : migrations.length;
    for (let i = have; i < schema; i++) {
      for (const sql of migrations[i]!.split(/;\s*(?:\n|$)/)) if (sql.trim()) await s.run(sql);
      await s.run(`PRAGMA user_version = ${i + 1}`);
    }
  });
  return store;
}

/** What a process that still has a file open is told once its records have moved (copy.ts). */
export const HAVE_MOVED = 'The records have moved to another database. Try again in a moment.';

const isBusy = (e: Error | null) => /SQLITE_BUSY/.test(e?.message ?? '');

function told(e: Error): Error {
  if (isBusy(e))
    return new IngleError('unavailable', 'The records are being moved or copied. Try again in a moment.');
  return /no such table/.test(e.message) ? new IngleError('unavailable', HAVE_MOVED) : e;
}

function plain(db: sqlite3.Database): Db {
  const bind = (values: Value[]) =>
    values.map((v) => (v instanceof Uint8Array ? Buffer.from(v.buffer, v.byteOffset, v.byteLength) : v));
  let isHeld = false;
  /** Once a write has waited in vain, others wait no longer: what is read stands in line behind them. */
  const hold = (held: boolean) => {
    if (held === isHeld) return;
    isHeld = held;
    db.configure('busyTimeout', held ? 0 : TURN_MS);
  };
  return {
    run: (sql, ...values) =>
      new Promise((resolve, reject) => {
        db.run(sql, bind(values), function (e) {
          hold(isBusy(e));
          e ? reject(told(e)) : resolve({ changes: this.changes });
        });
      }),
    all: (sql, ...values) =>
      new Promise((resolve, reject) => {
        db.all(sql, bind(values), (e, rows) => (e ? reject(told(e)) : resolve(rows as never)));
      }),
    get: (sql, ...values) =>
      new Promise((resolve, reject) => {
        db.get(sql, bind(values), (e, row) => (e ? reject(told(e)) : resolve(row as never)));
      }),
  };
}
