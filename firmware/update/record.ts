// What an update must remember over a power cut: one row of its machine, and the newest results.
import { durableSchema } from '../system/durable.ts';
import type { Store } from '../system/store.ts';
import type { Offer } from './offer.ts';
import type { Passage, UpdateReason } from './verdict.ts';

export const updateSchema = [
  `CREATE TABLE update_record (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL, record TEXT NOT NULL);
   CREATE TABLE results (at REAL NOT NULL, result TEXT NOT NULL)`,
  `${durableSchema('updates')};
   INSERT INTO updates SELECT 'updates', state, unixepoch() * 1000, record FROM update_record;
   DROP TABLE update_record`,
];

/** Newest results that are kept. */
const RESULTS = 50;

/** Keeps what came of an update. */
export const keepResult = (store: Store, result: Result) =>
  store.transaction(async (tx) => {
    await tx.run('INSERT INTO results (at, result) VALUES (?, ?)', result.at, JSON.stringify(result));
    await tx.run(
      'DELETE FROM results WHERE rowid NOT IN (SELECT rowid FROM results ORDER BY at DESC LIMIT ?)',
      RESULTS,
    );
  });

/** An order to install. */
export interface Job {
  /** Empty: the offered version; else an address or a path. */
  source: string;
  /** Straight from the network into the slot. */
  stream: boolean;
  restart: '' | 'now' | 'night';
  /** Of the manifest that was verified. */
  hash: string;
  /** Times the installation was begun. */
  tries: number;
}

export interface Result {
  ok: boolean;
  kind: Passage['kind'];
  from: string;
  to: string;
  reason: UpdateReason | '';
  /** What the health check said, where it did. */
  text: string;
  /** Unix seconds. */
  at: number;
}

export interface Memory {
  channel: string;
  checked_at: number;
  offer: Offer | null;
  job: Job | null;
  passage: Passage | null;
  error: { reason: UpdateReason; text: string; at: number } | null;
  result: Result | null;
  /** Since when the night is waited for, Unix seconds. */
  since: number;
  /** Versions seen running, a slot each: RAUC does not know what the factory wrote. */
  seen: Record<string, string>;
}

/** A hub that knows of no update yet. */
export const nothing: Memory = {
  channel: '',
  checked_at: 0,
  offer: null,
  job: null,
  passage: null,
  error: null,
  result: null,
  since: 0,
  seen: {},
};
