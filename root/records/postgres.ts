// Root's records in PostgreSQL (pg), which several processes may share.
import pg from 'pg';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Records } from './records.ts';
import { migrations } from './sql/schema.ts';
import type { Db, Row, Store, Value } from './sql/store.ts';
import { sqlRecords } from './sql.ts';

/**
 * Opens the database at `url` (postgresql://user:password@host/name) and brings it to the newest schema; of several that
 * start at once, one does.
 * @throws IngleError `unavailable`
 */
export async function openPostgres(url: string): Promise<Records> {
  return sqlRecords(await openPostgresStore(url, migrations, { idleMs: IDLE_MS }));
}

/** Connections of one process; each has one transaction at a time. */
const CONNECTIONS = 10;
/** A database that does not answer within this is not there, milliseconds. */
const ANSWER_MS = 10_000;
/**
 * A process that does nothing in an open transaction for so long is frozen or cut off, milliseconds: the database ends its
 * connection, as others would wait for what it holds.
 */
const IDLE_MS = 3000;
/** A step that others keep coming between is given up after so many tries. */
const TRIES = 40;
/** Key of the lock under which the schema is changed: any number that nothing else of the database locks. */
const SCHEMA_LOCK = 0x1a9e;

/** All numbers of the schema are whole ones below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/** As PostgreSQL has it: no typing by STRICT, which is its nature, and its own names of types. */
const inPostgres = (statement: string): string =>
  statement
    .replace(/\) STRICT\b/g, ')')
    .replace(/\bINTEGER\b/g, 'BIGINT')
    .replace(/\bBLOB\b/g, 'BYTEA');

const numbered = (sql: string): string => {
  let n = 0;
  return sql.replace(/\?/g, () => `$${++n}`);
};

/** Another transaction came between: serialization failure, deadlock, a key that was free when it was looked at. */
const isRace = (e: unknown): boolean =>
  ['40001', '40P01', '23505'].includes((e as { code?: string }).code ?? '');

/** What the database refuses is a fault of ours; all else means that it is not there, and its words name addresses. */
function told(e: unknown): unknown {
  const { code = '' } = e as { code?: string };
  // 25P03: this process was frozen in the middle of a transaction.
  if (isRace(e) || /^(?!08|53|57|58|25P03)[0-9A-Z]{5}$/.test(code)) return e;
  return new IngleError('unavailable', 'The database does not answer. Try again in a moment.');
}
const saying = <T>(asked: Promise<T>): Promise<T> => asked.catch((e) => Promise.reject(told(e)));

interface Asked {
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

function plain(client: Asked): Db {
  const ask = (sql: string, values: Value[]) => saying(client.query(numbered(sql), values));
  return {
    run: async (sql, ...values) => ({ changes: (await ask(sql, values)).rowCount ?? 0 }),
    all: async <T extends Row>(sql: string, ...values: Value[]) => (await ask(sql, values)).rows as T[],
    get: async <T extends Row>(sql: string, ...values: Value[]) =>
      (await ask(sql, values)).rows[0] as T | undefined,
  };
}

/** One try of a transaction on a connection of its own. */
async function once<T>(pool: pg.Pool, work: (db: Db) => Promise<T>, begin = 'BEGIN'): Promise<T> {
  const client = await saying(pool.connect());
  let broken = false;
  // A connection that ends between two statements says so to a listener, or ends the process.
  const ended = () => {
    broken = true;
  };
  client.on('error', ended);
  try {
    await saying(client.query(begin));
    const result = await work(plain(client));
    await saying(client.query('COMMIT'));
    return result;
  } catch (e) {
    await client.query('ROLLBACK').catch(() => {
      broken = true;
    });
    throw e;
  } finally {
    client.off('error', ended);
    client.release(broken);
  }
}

/**
 * @param migrations each a list of SQL statements; the table `schema_version` says how many have run
 * @param o.asIs leaves the schema as it is: a root of an older version may use it
 * @param o.idleMs how long a transaction may wait for its next statement; for ever where it is left out
 */
export async function openPostgresStore(
  url: string,
  migrations: readonly string[],
  o: { asIs?: boolean; idleMs?: number } = {},
): Promise<Store> {
  const pool = new pg.Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    types: types as never,
    // As if transactions came one after another, whichever process they are of.
    options:
      '-c default_transaction_isolation=serializable -c synchronous_commit=on' +
      ` -c idle_in_transaction_session_timeout=${o.idleMs ?? 0}`,
  });
  // A connection that breaks while nobody uses it: the next one who asks gets another.
  pool.on('error', () => {});

  async function until<T>(step: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await step();
      } catch (e) {
        if (!isRace(e)) throw e;
        if (tries >= TRIES) throw new IngleError('unavailable', 'Too many at once. Try again in a moment.');
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 * tries));
      }
  }
  const transaction: Store['transaction'] = (work) => until(() => once(pool, work));
  const db = plain(pool);
  let schema = 0;
  const store: Store = {
    get schema() {
      return schema;
    },
    run: (sql, ...values) => until(() => db.run(sql, ...values)),
    all: <T extends Row>(sql: string, ...values: Value[]) => until(() => db.all<T>(sql, ...values)),
    get: <T extends Row>(sql: string, ...values: Value[]) => until(() => db.get<T>(sql, ...values)),
    transaction,
    snapshot: (work) => once(pool, work, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    close: () => pool.end(),
  };
  try {
    schema = await transaction((s) => migrate(s, migrations, o.asIs === true));
  } catch (e) {
    await pool.end();
    if (!(e instanceof IngleError && e.code === 'unavailable')) throw e;
    // The address holds a password, so it is not said.
    throw new IngleError(
      'unavailable',
      'The database does not answer. Does it run at the address that was given by --database or --to, and may this computer reach it?',
    );
  }
  return store;
}

/** @returns how many have run then */
async function migrate(s: Db, migrations: readonly string[], asIs: boolean): Promise<number> {
  await s.run(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
  await s.run('CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)');
  const have = (await s.get<{ version: number }>('SELECT version FROM schema_version'))?.version ?? 0;
  if (have > migrations.length)
    throw new IngleError(
      'conflict',
      `The database was written by a newer version (schema ${have}, known ${migrations.length})`,
    );
  if (asIs) return have;
  if (have === 0) await s.run('INSERT INTO schema_version VALUES (0)');
  for (const migration of migrations.slice(have))
    for (const sql of migration.split(/;\s*(?:\n|$)/)) if (sql.trim()) await s.run(inPostgres(sql));
  await s.run('UPDATE schema_version SET version = ?', migrations.length);
  return migrations.length;
}
