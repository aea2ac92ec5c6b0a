// What the records' SQL asks of a database. Its statements are written in what SQLite and PostgreSQL share: `?` for a
// value, `ON CONFLICT` for what may be there, no function that only one of them has.

export type Row = Record<string, unknown>;
export type Value = string | number | bigint | null | Uint8Array;

/** A store, or the transaction that is under way. */
export type Db = Pick<Store, 'run' | 'all' | 'get'>;

/** A statement takes a bounded number of values; this many are one part of a list. */
const PART = 500;

export function* parts<T>(list: readonly T[]): Iterable<T[]> {
  for (let i = 0; i < list.length; i += PART) yield list.slice(i, i + PART);
}

export interface Store {
  /** How many migrations have run. */
  readonly schema: number;
  /** Runs one statement; `changes` = rows it touched. Durable when it settles (synchronous=FULL). */
  run(sql: string, ...values: Value[]): Promise<{ changes: number }>;
  all<T extends Row = Row>(sql: string, ...values: Value[]): Promise<T[]>;
  get<T extends Row = Row>(sql: string, ...values: Value[]): Promise<T | undefined>;
  /**
   * Runs `work` in one transaction, as if there were no other beside it; a throw rolls it back. It may be run anew where
   * another one came between, so it does nothing but ask `db`.
   */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /** Reads as all was at one moment, while others write. */
  snapshot<T>(work: (db: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
