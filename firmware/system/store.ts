// The only door to SQLite (sqlite3, whose calls run off the event loop): one file an owner service.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import sqlite3 from 'sqlite3';
import { openQueue } from '../protocol/queue.ts';

export type Row = Record<string, unknown>;
export type Value = string | number | bigint | null | Uint8Array;

type Statements = Pick<Store, 'run' | 'all' | 'get'>;

export interface Store {
  /** Where it lies; undefined where it is in memory alone. */
  readonly file: string | undefined;
  /** Runs one statement; `changes` = rows it touched. Durable when it settles (synchronous=FULL). */
  run(sql: string, ...values: Value[]): Promise<{ changes: number }>;
  all<T extends Row = Row>(sql: string, ...values: Value[]): Promise<T[]>;
  get<T extends Row = Row>(sql: string, ...values: Value[]): Promise<T | undefined>;
  /** Runs `work` in one transaction, after those before it; a throw rolls it back. */
  transaction<T>(work: (s: Statements) => Promise<T>): Promise<T>;
  /**
   * Has `work` run before anything else that is asked of the store from now on, its closing included. It must not throw,
   * and a store has one.
   * @returns asks for `work` alone
   */
  before(work: (transaction: Store['transaction']) => Promise<void>): () => Promise<void>;
  close(): Promise<void>;
}

/** Versions with the WAL-reset bug (sqlite.org, fixed in 3.52.0) may corrupt a file; refuse them. */
const oldestVersion = [3, 52, 0];

/**
 * SQL statements that bring a schema one step further. `adds`: programs that do not know the step go on using the file,
 * as it makes tables of its own and touches no other; an update that is taken back finds its data so.
 */
export type Migration = string | { adds: string };

/**
 * Opens (and makes) a store in WAL mode with synchronous=FULL and brings it to the newest schema.
 * @param migrations the file's user_version counts how many have run, its application_id how many a program must know
 * @throws Error for a file whose newer schema this program cannot use
 */
export async function openStore(file: string, migrations: readonly Migration[]): Promise<Store> {
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
  for (const pragma of ['journal_mode=WAL', 'synchronous=FULL', 'foreign_keys=ON', 'busy_timeout=5000'])
    await raw.all(`PRAGMA ${pragma}`);

  // One connection, so transactions must not interleave: everything goes through one queue.
  const turns = openQueue();
  let first: (() => Promise<void>) | undefined;
  const queued = <T>(work: () => Promise<T>) => turns.add(() => (first ? first().then(work) : work()));
  const atomically: Store['transaction'] = async (work) => {
    await raw.run('BEGIN IMMEDIATE');
    try {
      const result = await work(raw);
      await raw.run('COMMIT');
      return result;
    } catch (e) {
      // SQLite may have done so by itself, as on a full disk.
      await raw.run('ROLLBACK').catch(() => {});
      throw e;
    }
  };
  const store: Store = {
    file: file === ':memory:' ? undefined : file,
    run: (sql, ...v) => queued(() => raw.run(sql, ...v)),
    all: (sql, ...v) => queued(() => raw.all(sql, ...v)) as never,
    get: (sql, ...v) => queued(() => raw.get(sql, ...v)) as never,
    transaction: (work) => queued(() => atomically(work)),
    before(work) {
      first = () => work(atomically);
      return () => queued(async () => {});
    },
    close: () => queued(() => new Promise<void>((ok, no) => db.close((e) => (e ? no(e) : ok())))),
  };
  await store.transaction(async (s) => {
    const ask = async (pragma: string) => Number(Object.values((await s.get(`PRAGMA ${pragma}`))!)[0]);
    const have = await ask('user_version');
    let needed = (await ask('application_id')) || have;
    if (needed > migrations.length)
      throw new Error(`${file} was written by a newer version (schema ${have}, known ${migrations.length})`);
    for (const [i, step] of migrations.entries()) {
      if (i < have) continue;
      const statements = typeof step === 'string' ? step : step.adds;
      for (const sql of statements.split(/;\s*(?:\n|$)/)) if (sql.trim()) await s.run(sql);
      if (typeof step === 'string') needed = i + 1;
      await s.run(`PRAGMA user_version = ${i + 1}`);
      await s.run(`PRAGMA application_id = ${needed}`);
    }
  });
  return store;
}

const bind = (values: Value[]) =>
  values.map((v) => (v instanceof Uint8Array ? Buffer.from(v.buffer, v.byteOffset, v.byteLength) : v));

type Done = (this: sqlite3.RunResult, e: Error | null) => void;

function ran(run: (done: Done) => void): Promise<{ changes: number }> {
  return new Promise((resolve, reject) => {
    run(function (e) {
      e ? reject(e) : resolve({ changes: this.changes });
    });
  });
}

function plain(db: sqlite3.Database): Statements {
  return {
    run: (sql, ...values) => ran((done) => db.run(sql, bind(values), done)),
    all: (sql, ...values) =>
      new Promise((resolve, reject) => {
        db.all(sql, bind(values), (e, rows) => (e ? reject(e) : resolve(rows as never)));
      }),
    get: (sql, ...values) =>
      new Promise((resolve, reject) => {
        db.get(sql, bind(values), (e, row) => (e ? reject(e) : resolve(row as never)));
      }),
  };
}

/**
 * Looks into a copy of another service's file by one statement, an integrity check unless told. The file itself is
 * never opened as a database: that would make files beside it, owned by whoever looked.
 * @throws the database's error (`SQLITE_NOTADB`), the file system's, or `SQLITE_BUSY` when it never stood still
 */
export async function peekStore<T extends Row = Row>(
  file: string,
  sql = 'PRAGMA quick_check(1)',
): Promise<T[]> {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-peek-'));
  try {
    const copy = join(dir, 'copy.db');
    await copySteady(file, copy);
    const db = await new Promise<sqlite3.Database>((resolve, reject) => {
      const d: sqlite3.Database = new sqlite3.Database(copy, sqlite3.OPEN_READWRITE, (e) =>
        e ? reject(e) : resolve(d),
      );
    });
    try {
      return await plain(db).all<T>(sql);
    } finally {
      await new Promise<void>((done) => db.close(() => done()));
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Copies a database and what its log holds, at a moment when neither changed meanwhile. */
async function copySteady(file: string, copy: string): Promise<void> {
  const parts = ['', '-wal'];
  const state = () =>
    parts
      .map((p) => statSync(file + p, { throwIfNoEntry: false }))
      .map((s) => (s ? `${s.size} ${s.mtimeMs}` : ''))
      .join();
  for (let tries = 0; tries < 20; tries++) {
    const before = state();
    copyFileSync(file, copy);
    rmSync(`${copy}-wal`, { force: true });
    try {
      copyFileSync(`${file}-wal`, `${copy}-wal`);
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
    }
    if (state() === before) return;
    await new Promise((resolve) => setTimeout(resolve, 50 * (tries + 1)));
  }
  throw Object.assign(new Error(`${file} is being written all the time`), { code: 'SQLITE_BUSY' });
}
