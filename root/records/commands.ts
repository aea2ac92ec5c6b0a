// What an operator does with root's records: `backup`, `restore`, `migrate` and `rotate-keys`.
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { pipeline as whole } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { RootConfig } from '../config.ts';
import { rotateKeys } from '../keyring.ts';
import { archived, move, type Progress, restore, schemaOf } from './copy.ts';
import { openPostgresStore } from './postgres.ts';
import { migrations } from './sql/schema.ts';
import type { Store } from './sql/store.ts';
import { sqlRecords } from './sql.ts';
import { openSqliteStore } from './sqlite.ts';

type Where = Pick<RootConfig, 'data' | 'database'>;
type Say = (line: string) => void;

export const sqliteFile = (data: string) => join(data, 'root.sqlite');

/** @param schema the store is brought to; left as it is when left out, as a root of an older version may run on it */
const openStore = ({ data, database }: Where, schema?: number): Promise<Store> => {
  const steps = migrations.slice(0, schema);
  const o = { asIs: schema === undefined };
  return database === ''
    ? openSqliteStore(sqliteFile(data), steps, o)
    : openPostgresStore(database, steps, o);
};
const stepsOf = ({ schema }: Store) => migrations.slice(0, schema);

/** @throws IngleError `not_found` where the records are in a file, and there is none */
function mustBeHere({ data, database }: Where): void {
  if (database === '' && !existsSync(sqliteFile(data)))
    throw new IngleError('not_found', `There is no ${sqliteFile(data)}. Name its folder: --data`);
}

/** A line for each hundred thousand rows. */
function telling(say: Say): Progress {
  let next = 100_000;
  return (rows) => {
    if (rows < next) return;
    say(`${rows} records so far`);
    next = rows + 100_000;
  };
}

/**
 * Writes all records to a new file; root goes on meanwhile. The file holds root's secrets: only its owner may read it.
 * @throws IngleError `conflict` when the file is there already
 */
export async function backup(where: Where, file: string, say: Say): Promise<void> {
  if (existsSync(file)) throw new IngleError('conflict', `${file} is there already.`);
  mustBeHere(where);
  const store = await openStore(where);
  const fresh = `${file}.${process.pid}.new`;
  try {
    await store.snapshot(async (db) => {
      const lines = Readable.from(archived(db, stepsOf(store), new Date(), telling(say)));
      await whole(lines, createGzip(), createWriteStream(fresh, { mode: 0o600, flags: 'wx' }));
    });
    flush(fresh);
    renameSync(fresh, file);
    flush(dirname(file));
    say(`All records are in ${basename(file)}. It holds root's secrets: keep it as you keep its keys.`);
  } finally {
    rmSync(fresh, { force: true });
    await store.close();
  }
}

function flush(path: string): void {
  const fd = openSync(path, 'r');
  fsyncSync(fd);
  closeSync(fd);
}

/** No row of root is longer, characters. */
const LINE = 1 << 20;

async function* linesOf(file: string): AsyncGenerator<string> {
  const damaged = () => new IngleError('invalid_request', `${file} is no archive of root, or it is damaged.`);
  const plain = createGunzip();
  // What goes wrong with the file is said by what is read of it.
  pipeline(createReadStream(file), plain, () => {});
  let rest = '';
  try {
    for await (const piece of plain.setEncoding('utf8')) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop()!;
      if (rest.length > LINE) throw damaged();
      yield* lines;
    }
  } catch (e) {
    if (e instanceof IngleError) throw e;
    const { code = '', message } = e as NodeJS.ErrnoException;
    throw /^E[A-Z]+$/.test(code) ? new IngleError('not_found', message) : damaged();
  }
  if (rest !== '') throw damaged();
}

/** Fills an empty database from a file; everybody signs in anew. @throws IngleError */
export async function restoreFrom(where: Where, file: string, say: Say): Promise<void> {
  const lines = linesOf(file);
  const { value: first } = await lines.next();
  await lines.return(undefined);
  const schema = schemaOf(first ?? '', migrations.length);
  const store = await openStore(where, schema);
  let rows: number;
  try {
    rows = await restore(store, () => linesOf(file), stepsOf(store), telling(say));
  } finally {
    await store.close();
  }
  // The rest of the schema, where the archive is of an older version.
  await (await openStore(where, migrations.length)).close();
  say(
    `${rows} records are back. Everybody signs in again; what was revoked since the backup is valid again.`,
  );
}

/** Moves the records of the file in `data` to PostgreSQL; root may run, and ends by itself. @throws IngleError */
export async function migrate({ data }: Where, to: string, say: Say): Promise<void> {
  mustBeHere({ data, database: '' });
  const from = await openStore({ data, database: '' });
  try {
    const target = await openStore({ data, database: to }, from.schema);
    try {
      const rows = await move(from, target, stepsOf(from), telling(say));
      say(`${rows} records have moved. Start root with --database from now on.`);
    } finally {
      await target.close();
    }
  } finally {
    await from.close();
  }
}

/** Has root sign with new keys; it may run, as one of several processes too. @param revoke those before count no more */
export async function rotate(where: Where, revoke: boolean, say: Say): Promise<void> {
  mustBeHere(where);
  const store = await openStore(where);
  try {
    await rotateKeys(sqlRecords(store), revoke);
  } finally {
    await store.close();
  }
  say(
    revoke
      ? 'Root signs with new keys within a minute, and takes nothing signed before. Everybody signs in again; hubs come back by themselves. Restart root to end connections that are open.'
      : 'Root signs with new keys within a minute. What was signed before counts until it is over.',
  );
}
