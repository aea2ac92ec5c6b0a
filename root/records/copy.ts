// All records of a database as they are at one moment: into a file and out of it, and into another database.
import { createHash } from 'node:crypto';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Db, Row, Store, Value } from './sql/store.ts';

/** A table and the column that names its rows, which is its first. */
export interface Table {
  name: string;
  key: string;
}

/** Tables of a schema, in the order they were made. */
export const tablesOf = (migrations: readonly string[]): Table[] =>
  [...migrations.join('\n').matchAll(/CREATE TABLE (\w+) \((\w+) TEXT PRIMARY KEY/g)].map(
    ([, name, key]) => ({ name: name!, key: key! }),
  );

/** Rows that are in memory at a time. */
const PAGE = 500;
/** Values of one statement: SQLite takes 32,766, PostgreSQL 65,535. */
const VALUES = 5000;

/** A table's rows by its key, page by page. */
async function* pagesOf(db: Db, { name, key }: Table): AsyncGenerator<Row[]> {
  const page = (where: string, ...values: Value[]) =>
    db.all(`SELECT * FROM ${name} ${where} ORDER BY ${key} LIMIT ${PAGE}`, ...values);
  for (let rows = await page(''); rows.length > 0; ) {
    yield rows;
    if (rows.length < PAGE) return;
    rows = await page(`WHERE ${key} > ?`, String(rows.at(-1)![key]));
  }
}

async function insert(db: Db, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0]!);
  const places = `(${columns.map(() => '?').join(', ')})`;
  const most = Math.floor(VALUES / columns.length);
  for (let at = 0; at < rows.length; at += most) {
    const some = rows.slice(at, at + most);
    const values = some.flatMap((row) => columns.map((c) => row[c] as Value));
    await db.run(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => places).join(', ')}`,
      ...values,
    );
  }
}

async function mustBeEmpty(db: Db, tables: readonly Table[]): Promise<void> {
  for (const { name } of tables)
    if (await db.get(`SELECT 1 AS one FROM ${name} LIMIT 1`))
      throw new IngleError('conflict', 'The database holds records already. Name an empty one.');
}

/** How far a copy has come; called once a page. */
export type Progress = (rows: number) => void;

/**
 * Moves all records into an empty database of the same schema. Nobody writes to `from` meanwhile; once it is done `from`
 * has no records any more: its tables are called `moved_<name>`. Fails as a whole or not at all, but for a loss of power
 * between the two ends: then both have the records, and those of `from` count.
 * @returns how many rows
 * @throws IngleError `conflict` when `to` is not empty
 */
export function move(
  from: Store,
  to: Store,
  migrations: readonly string[],
  progress: Progress,
): Promise<number> {
  const tables = tablesOf(migrations);
  return from.transaction(async (source) => {
    const count = await to.transaction(async (target) => {
      await mustBeEmpty(target, tables);
      let rows = 0;
      for (const table of tables)
        for await (const page of pagesOf(source, table)) {
          await insert(target, table.name, page);
          rows += page.length;
          progress(rows);
        }
      return rows;
    });
    for (const { name } of tables) await source.run(`ALTER TABLE ${name} RENAME TO moved_${name}`);
    return count;
  });
}

// An archive is lines of JSON: what it is, then for each table its name and columns and a line for each row, then how
// many rows those were and a digest of all lines before.

interface Head {
  ingle: 'root records';
  /** Migrations that had run. */
  schema: number;
  made: string;
}

const encoded = (v: unknown) =>
  v instanceof Uint8Array ? { bytes: Buffer.from(v).toString('base64') } : (v as string | number | null);
const decoded = (v: unknown): Value => {
  if (v === null || typeof v === 'string' || typeof v === 'number') return v;
  const bytes = (v as { bytes?: unknown }).bytes;
  if (typeof bytes !== 'string') throw damaged();
  return Buffer.from(bytes, 'base64');
};
const damaged = () => new IngleError('invalid_request', 'This is no archive of root, or it is damaged.');

/** The lines of an archive, each with its end; others may write meanwhile. */
export async function* archived(
  db: Db,
  migrations: readonly string[],
  now: Date,
  progress: Progress,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const line = (data: unknown) => {
    const text = `${JSON.stringify(data)}\n`;
    hash.update(text);
    return text;
  };
  const head: Head = { ingle: 'root records', schema: migrations.length, made: now.toISOString() };
  yield line(head);
  let rows = 0;
  for (const table of tablesOf(migrations)) {
    let columns: string[] | undefined;
    for await (const page of pagesOf(db, table)) {
      if (!columns) {
        columns = Object.keys(page[0]!);
        yield line({ table: table.name, columns });
      }
      yield page.map((row) => line(columns!.map((c) => encoded(row[c])))).join('');
      rows += page.length;
      progress(rows);
    }
  }
  yield line({ rows, sha256: hash.copy().digest('hex') });
}

/** What lives no longer than a visit; after a restore everybody signs in anew, whoever was signed out since. */
const ofSessions = [
  'session_web',
  'route',
  'e2e_browser_pub',
  'pairing_challenge',
  'device_code',
  'skill_page',
  'handover',
  'command_line',
];

/** The archive's schema, by its first line. @throws IngleError `invalid_request`, `conflict` */
export function schemaOf(first: string, known: number): number {
  const { ingle, schema } = parsed(first) as Partial<Head>;
  if (ingle !== 'root records' || !Number.isInteger(schema) || schema! < 1) throw damaged();
  if (schema! > known)
    throw new IngleError(
      'conflict',
      `The archive is of a newer version (schema ${schema}, known ${known}). Update root first.`,
    );
  return schema!;
}

function parsed(line: string): object {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch {}
  throw damaged();
}

/**
 * Reads an archive into an empty database of its schema, but for sessions. All of it is there then, or nothing.
 * @param open the archive's lines without their ends, from the first on
 * @returns how many rows
 * @throws IngleError `invalid_request` for a damaged archive, `conflict` when the database is not empty
 */
export function restore(
  to: Store,
  open: () => AsyncIterable<string>,
  migrations: readonly string[],
  progress: Progress,
): Promise<number> {
  const tables = tablesOf(migrations);
  return to.transaction(async (db) => {
    await mustBeEmpty(db, tables);
    const hash = createHash('sha256');
    let at: { table: string; columns: string[] } | undefined;
    let page: Row[] = [];
    let [read, kept] = [0, 0];
    let whole = false;
    const flush = async () => {
      if (at && page.length > 0 && !ofSessions.includes(at.table)) {
        await insert(db, at.table, page);
        kept += page.length;
      }
      page = [];
      progress(read);
    };
    let first = true;
    for await (const line of open()) {
      if (whole) throw damaged();
      const data = parsed(line);
      if (Array.isArray(data)) {
        if (data.length !== at?.columns.length) throw damaged();
        page.push(Object.fromEntries(at.columns.map((c, i) => [c, decoded(data[i])])));
        read++;
        if (page.length === PAGE) await flush();
      } else if ('sha256' in data) {
        await flush();
        whole = data.sha256 === hash.digest('hex');
        if (!whole) throw damaged();
        continue;
      } else if (!first) {
        await flush();
        at = tableIn(data, tables);
      }
      first = false;
      hash.update(`${line}\n`);
    }
    if (!whole) throw damaged();
    return kept;
  });
}

/** Names go into statements, so only those of the schema and of columns count. */
function tableIn(data: object, tables: readonly Table[]): { table: string; columns: string[] } {
  const { table, columns } = data as { table?: unknown; columns?: unknown };
  if (!tables.some((t) => t.name === table) || !Array.isArray(columns) || columns.length === 0)
    throw damaged();
  if (!columns.every((c) => typeof c === 'string' && /^[a-z0-9_]{1,63}$/.test(c))) throw damaged();
  return { table: table as string, columns };
}
