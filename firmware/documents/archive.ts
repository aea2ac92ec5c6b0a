// Documents on disk: one row per update, folded together now and then, and their index.
import * as Y from 'yjs';
import { durableSchema } from '../system/durable.ts';
import type { Migration, Store, Value } from '../system/store.ts';
import { etagOf, readContent } from './content.ts';
import { parseKey } from './key.ts';
import type { Signer } from './sign.ts';

export const archiveSchema: Migration[] = [
  `CREATE TABLE docs_index (
    key TEXT PRIMARY KEY, acl TEXT NOT NULL, schema TEXT NOT NULL, ttl_sec INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, etag TEXT NOT NULL, rev INTEGER NOT NULL, signature TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE doc_updates (key TEXT NOT NULL, n INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (key, n)) WITHOUT ROWID;
CREATE TABLE command_journal (
    owner_id TEXT NOT NULL, id TEXT NOT NULL, document TEXT NOT NULL, principal TEXT NOT NULL, command TEXT NOT NULL,
    status TEXT NOT NULL, result TEXT, at INTEGER NOT NULL, finished_at INTEGER, PRIMARY KEY (owner_id, id)) WITHOUT ROWID;
CREATE INDEX command_open ON command_journal (status) WHERE status IN ('pending', 'running');
CREATE TABLE owners (owner_id TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE skills (skill_id TEXT PRIMARY KEY, manifest TEXT NOT NULL, seen_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE icons (owner_id TEXT NOT NULL, skill_id TEXT NOT NULL, pinned INTEGER NOT NULL DEFAULT 0, ord INTEGER,
    PRIMARY KEY (owner_id, skill_id)) WITHOUT ROWID`,
  {
    adds: `${durableSchema('installs')};
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
  },
];

export type Transaction = Pick<Store, 'run' | 'all' | 'get'>;

/** A row of docs_index. `updated_at` in Unix seconds; `ttl_sec` 0 = kept for good. */
export interface IndexRow extends Record<string, unknown> {
  key: string;
  acl: string;
  schema: string;
  ttl_sec: number;
  updated_at: number;
  etag: string;
  rev: number;
  signature: string;
}

/** Rows a document may have before they are folded into one. */
const FOLD_ROWS = 64;

export interface Loaded {
  doc: Y.Doc;
  /** Number of the next update row. */
  next: number;
  rows: number;
  index: IndexRow | undefined;
}

/** Reads a document; one that is not there is empty. */
export async function loadDocument(store: Transaction, key: string): Promise<Loaded> {
  const rows = await store.all<{ n: number; data: Buffer }>(
    'SELECT n, data FROM doc_updates WHERE key = ? ORDER BY n',
    key,
  );
  const index = await store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', key);
  const doc = new Y.Doc();
  for (const row of rows) Y.applyUpdate(doc, row.data);
  return { doc, rows: rows.length, next: (rows.at(-1)?.n ?? 0) + 1, index };
}

/** An update to be appended, and the document's row of the index with it. */
export interface Append {
  /** Number of the row. */
  n: number;
  data: Uint8Array;
  /** `data` is the whole document, and takes the place of the rows before. */
  isWhole: boolean;
  index: IndexRow;
}

/**
 * What is to be written for an update of which `state` is the outcome. Rows are folded into one when there are many.
 * @returns how many rows there will be, too
 */
export function appendOf(
  at: { key: string; next: number; rows: number; rev: number },
  update: Uint8Array,
  state: Y.Doc,
  about: { acl: readonly string[]; schema: string; ttl_sec: number; now: number },
  signer: Signer,
): Append & { rows: number } {
  const isWhole = at.rows >= FOLD_ROWS;
  const etag = etagOf(readContent(state));
  const index: IndexRow = {
    key: at.key,
    acl: JSON.stringify(about.acl),
    schema: about.schema,
    ttl_sec: about.ttl_sec,
    updated_at: about.now,
    etag,
    rev: at.rev + 1,
    // View documents alone are signed: what they say becomes the owner's screen.
    signature: /\/view:/.test(at.key) ? signer.sign(at.key, etag) : '',
  };
  const data = isWhole ? Y.encodeStateAsUpdate(state) : update;
  return { n: at.next, data, isWhole, index, rows: isWhole ? 1 : at.rows + 1 };
}

/** Rows in one statement: each costs a way to another thread and back. */
const ROWS = 100;

/** Writes updates of different documents within a transaction. */
export async function append(tx: Transaction, all: readonly Append[]): Promise<void> {
  for (const a of all) if (a.isWhole) await tx.run('DELETE FROM doc_updates WHERE key = ?', a.index.key);
  for (let i = 0; i < all.length; i += ROWS) {
    const some = all.slice(i, i + ROWS);
    await insert(
      tx,
      'INSERT INTO doc_updates (key, n, data)',
      some.map((a) => [a.index.key, a.n, a.data]),
    );
    const columns = Object.keys(some[0]!.index).join(', ');
    const rows = some.map((a) => Object.values(a.index) as Value[]);
    await insert(tx, `INSERT OR REPLACE INTO docs_index (${columns})`, rows);
  }
}

async function insert(tx: Transaction, into: string, rows: readonly Value[][]): Promise<void> {
  const row = `(${rows[0]!.map(() => '?').join(', ')})`;
  await tx.run(`${into} VALUES ${rows.map(() => row).join(', ')}`, ...rows.flat());
}

export async function deleteDocument(tx: Transaction, key: string): Promise<void> {
  await tx.run('DELETE FROM doc_updates WHERE key = ?', key);
  await tx.run('DELETE FROM docs_index WHERE key = ?', key);
}

/** Index rows whose key begins with `prefix`, at most `limit`. */
export function listDocuments(store: Transaction, prefix: string, limit = 1000): Promise<IndexRow[]> {
  return store.all<IndexRow>(
    'SELECT * FROM docs_index WHERE key >= ? AND key < ? ORDER BY key LIMIT ?',
    prefix,
    `${prefix}\u{10ffff}`,
    limit,
  );
}

export interface Workspace {
  /** `owner_id/skill_id/doc_type` */
  prefix: string;
  keys: string[];
  bytes: number;
}

/** Documents of an owner by their kind, at most 1000 documents. */
export async function workspacesOf(store: Transaction, owner_id: string): Promise<Workspace[]> {
  const rows = await store.all<{ key: string; bytes: number }>(
    `SELECT key, (SELECT coalesce(sum(length(data)), 0) FROM doc_updates u WHERE u.key = d.key) AS bytes
     FROM docs_index d WHERE key >= ? AND key < ? ORDER BY key LIMIT 1000`,
    `${owner_id}/`,
    `${owner_id}/\u{10ffff}`,
  );
  const found = new Map<string, Workspace>();
  for (const { key, bytes } of rows) {
    const prefix = key.slice(0, key.indexOf(':'));
    const one = found.get(prefix) ?? { prefix, keys: [], bytes: 0 };
    found.set(prefix, { ...one, keys: [...one.keys, key], bytes: one.bytes + bytes });
  }
  return [...found.values()];
}

/** Keys of every document of a skill, of all owners. */
export async function listSkillDocuments(store: Transaction, skill_id: string): Promise<string[]> {
  const part = `/${skill_id}/`;
  const rows = await store.all<{ key: string }>('SELECT key FROM docs_index WHERE instr(key, ?) > 0', part);
  return rows.map((r) => r.key).filter((key) => parseKey(key).skill_id === skill_id);
}

/** When the first document reaches its time, Unix seconds; undefined where none ever will. */
export async function nextExpiry(store: Transaction): Promise<number | undefined> {
  const row = await store.get<{ at: number | null }>(
    'SELECT min(updated_at + ttl_sec) AS at FROM docs_index WHERE ttl_sec > 0',
  );
  return row?.at ?? undefined;
}

/** Keys whose time to live is over. */
export async function expiredDocuments(store: Transaction, now: number): Promise<string[]> {
  const rows = await store.all<{ key: string }>(
    'SELECT key FROM docs_index WHERE ttl_sec > 0 AND updated_at + ttl_sec < ?',
    now,
  );
  return rows.map((r) => r.key);
}
