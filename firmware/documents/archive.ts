// Documents on disk: one row per update, folded together now and then, and their index.
import * as Y from 'yjs';
import { durableSchema } from '../system/durable.ts';
import type { Migration, Store } from '../system/store.ts';
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
export const FOLD_ROWS = 64;

export interface Loaded {
  doc: Y.Doc;
  /** Number of the next update row. */
  next: number;
  rows: number;
  index: IndexRow | undefined;
  /** Something of it cannot be read and is left out, with what builds on it. */
  isDamaged: boolean;
}

/**
 * Reads a document; one that is not there is empty.
 * @param later what the tables lack of it
 */
export async function loadDocument(
  store: Transaction,
  key: string,
  later: readonly Append[] = [],
): Promise<Loaded> {
  const stored = await store.all<{ n: number; data: Buffer }>(
    'SELECT n, data FROM doc_updates WHERE key = ? ORDER BY n',
    key,
  );
  const row = await store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', key);
  const index = later.findLast((a) => a.index)?.index ?? row;
  const updates = [...stored, ...later].map((a) => a.data).filter((data) => data !== null);
  const newest = Math.max(...[stored, later].map((all) => all.at(-1)?.n ?? 0), index?.rev ?? 0);
  return { ...documentOf(updates), rows: updates.length, next: newest + 1, index };
}

function documentOf(updates: readonly Uint8Array[]): Pick<Loaded, 'doc' | 'isDamaged'> {
  const doc = new Y.Doc();
  const read: Uint8Array[] = [];
  try {
    for (const update of updates) {
      Y.applyUpdate(doc, update);
      read.push(update);
    }
  } catch {
    // What it has left behind in the document may be anything.
    const rest = updates.filter((_, i) => i !== read.length);
    return { doc: documentOf(rest).doc, isDamaged: true };
  }
  const { store } = doc;
  const isLacking = store.pendingStructs !== null || store.pendingDs !== null;
  // Whoever has what is lacking sends it again when it is not waited for.
  store.pendingStructs = store.pendingDs = null;
  return { doc, isDamaged: isLacking };
}

/** An update to be appended, the document's row of the index, or both. */
export interface Append {
  key: string;
  /** Number of the row. */
  n: number;
  data: Uint8Array | null;
  /** `data` is the whole document, and takes the place of the rows before. */
  isWhole: boolean;
  index: IndexRow | null;
}

/** The row of the index for a document as it is after its update `n`. */
export function indexRowOf(
  key: string,
  n: number,
  state: Y.Doc,
  about: { acl: readonly string[]; schema: string; ttl_sec: number; now: number },
  signer: Signer,
): IndexRow {
  const etag = etagOf(readContent(state));
  return {
    key,
    acl: JSON.stringify(about.acl),
    schema: about.schema,
    ttl_sec: about.ttl_sec,
    updated_at: about.now,
    etag,
    rev: n,
    // View documents alone are signed: what they say becomes the owner's screen.
    signature: /\/view:/.test(key) ? signer.sign(key, etag) : '',
  };
}

const indexColumns = 'key, acl, schema, ttl_sec, updated_at, etag, rev, signature';
const indexValues = (i: IndexRow) => [
  ...[i.key, i.acl, i.schema, i.ttl_sec, i.updated_at, i.etag, i.rev, i.signature],
];

const HEAD = 5;

/** What `writeAppends` is to write, as a log has it: rows as JSON, then their data, one behind the other. */
export function encodeAppends(all: readonly Append[]): Buffer {
  const parts: Uint8Array[] = [];
  const rows = JSON.stringify(
    all.map(({ key, n, data, isWhole, index: i }) => {
      if (data) parts.push(data);
      const row = [key, n, data ? data.length : -1, isWhole ? 1 : 0];
      return i ? [...row, i.acl, i.schema, i.ttl_sec, i.updated_at, i.etag, i.rev, i.signature] : row;
    }),
  );
  const size = Buffer.byteLength(rows);
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + part.length, HEAD + size));
  bytes[0] = all.some((a) => a.isWhole || a.index) ? 1 : 0;
  bytes.writeUInt32LE(size, 1);
  bytes.write(rows, HEAD);
  let at = HEAD + size;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function unpacked(bytes: Buffer) {
  const end = HEAD + bytes.readUInt32LE(1);
  return { isPlain: bytes[0] === 0, rows: bytes.toString('utf8', HEAD, end), data: bytes.subarray(end) };
}

type PackedRow = [key: string, n: number, length: number, isWhole: 0 | 1, ...index: (string | number)[]];

/** The opposite of `encodeAppends`. */
export function decodeAppends(bytes: Buffer): Append[] {
  const { rows, data } = unpacked(bytes);
  let at = 0;
  return (JSON.parse(rows) as PackedRow[]).map(([key, n, length, isWhole, ...about]) => {
    const [acl, schema, ttl_sec, updated_at, etag, rev, signature] = about;
    const index = { key, acl, schema, ttl_sec, updated_at, etag, rev, signature } as IndexRow;
    const own = length < 0 ? null : data.subarray(at, at + length);
    at += Math.max(0, length);
    return { key, n, data: own, isWhole: isWhole === 1, index: about.length > 0 ? index : null };
  });
}

/** What a row has: what an update is of, and what the index says. */
const shapes = [
  'string,number,number,number',
  'string,number,number,number,string,string,number,number,string,number,string',
];

/** Whether `encodeAppends` of this build has made it: a build that writes another form begins with another byte. */
export function isAppends(bytes: Buffer): boolean {
  try {
    const { rows, data } = unpacked(bytes);
    const all = JSON.parse(rows) as PackedRow[];
    const length = all.reduce((sum, row) => sum + Math.max(0, row[2]), 0);
    return (
      bytes[0]! <= 1 &&
      length === data.length &&
      all.every((row) => shapes.includes(row.map((v) => typeof v).join()))
    );
  } catch {
    return false;
  }
}

// In the order of the table, so that each of its pages is written once; OR FAIL, as who calls takes back the transaction,
// and SQLite needs no journal of the statement. Of a document that is there as a whole nothing older is written.
const rowsSql = `WITH whole AS MATERIALIZED (SELECT value->>0 AS key, value->>1 AS n FROM json_each(?3))
  INSERT OR FAIL INTO doc_updates (key, n, data)
  SELECT a.key, a.n, substr(?2, a.past - a.length, a.length) FROM (
    SELECT value->>0 AS key, value->>1 AS n, value->>2 AS length,
      1 + sum(max(value->>2, 0)) OVER (ROWS UNBOUNDED PRECEDING) AS past FROM json_each(?1)) a
  LEFT JOIN whole ON whole.key = a.key
  WHERE a.length >= 0 AND a.n >= coalesce(whole.n, 0) ORDER BY a.key, a.n`;
const wholeSql = 'DELETE FROM doc_updates WHERE key IN (SELECT value->>0 FROM json_each(?))';
const indexSql = `INSERT OR REPLACE INTO docs_index (${indexColumns}) SELECT value->>0, value->>1, value->>2, value->>3,
  value->>4, value->>5, value->>6, value->>7 FROM json_each(?)`;

/**
 * Writes updates of documents and what the index says of them.
 * @param entries as `encodeAppends` makes them, oldest first
 * @param again another version may have written since: nothing of it is replaced, and its numbers are taken
 */
export async function writeAppends(
  tx: Transaction,
  entries: readonly Buffer[],
  again = false,
): Promise<void> {
  if (again) return writeAppends(tx, [encodeAppends(await renumbered(tx, entries.flatMap(decodeAppends)))]);
  const rows: string[] = [];
  const data: Buffer[] = [];
  const wholes = new Map<string, number>();
  const indexed = new Map<string, IndexRow>();
  for (const bytes of entries) {
    const of = unpacked(bytes);
    rows.push(of.rows.slice(1, -1));
    data.push(of.data);
    // Most are updates alone, and nobody has to read them.
    if (of.isPlain) continue;
    for (const { key, n, isWhole, index } of decodeAppends(bytes)) {
      if (isWhole) wholes.set(key, n);
      if (index) indexed.set(key, index);
    }
  }
  const whole = JSON.stringify([...wholes]);
  if (wholes.size > 0) await tx.run(wholeSql, whole);
  await tx.run(rowsSql, `[${rows.join()}]`, Buffer.concat(data), whole);
  if (indexed.size > 0) await tx.run(indexSql, JSON.stringify([...indexed.values()].map(indexValues)));
}

/** What is not there yet, with numbers that are free. */
async function renumbered(tx: Transaction, all: readonly Append[]): Promise<Append[]> {
  const next = new Map<string, number>();
  const out: Append[] = [];
  for (const a of all) {
    if (!next.has(a.key)) {
      const { newest } = (await tx.get<{ newest: number }>(
        'SELECT max(coalesce((SELECT max(n) FROM doc_updates WHERE key = ?1), 0), coalesce((SELECT rev FROM docs_index WHERE key = ?1), 0)) AS newest',
        a.key,
      ))!;
      next.set(a.key, newest + 1);
    }
    const free = next.get(a.key)!;
    const n = Math.max(a.n, free);
    out.push({ ...a, n, isWhole: false, index: n === a.n ? a.index : null });
    if (a.data) next.set(a.key, n + 1);
  }
  return out;
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

/** Keys under `prefix` of documents with updates that their row of the index does not know. */
export async function unindexed(store: Transaction, prefix: string): Promise<string[]> {
  const rows = await store.all<{ key: string }>(
    `SELECT key FROM docs_index d WHERE key >= ? AND key < ?
     AND rev < (SELECT max(n) FROM doc_updates u WHERE u.key = d.key)`,
    prefix,
    `${prefix}\u{10ffff}`,
  );
  return rows.map((r) => r.key);
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
