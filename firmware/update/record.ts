// What an update must remember over a power cut: one row, and the newest results.
import type { Store } from '../system/store.ts';
import { type UpdateState, updateStates } from './machine.ts';
import type { Offer } from './offer.ts';
import type { Passage, UpdateReason } from './verdict.ts';

export const updateSchema = [
  `CREATE TABLE update_record (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL, record TEXT NOT NULL);
   CREATE TABLE results (at REAL NOT NULL, result TEXT NOT NULL)`,
];

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

const empty: Memory = {
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

export interface Records {
  load(): Promise<{ state: UpdateState; record: Memory }>;
  /** Durable when it settles. */
  save(state: UpdateState, record: Memory): Promise<void>;
  keep(result: Result): Promise<void>;
}

export function records(store: Store): Records {
  return {
    async load() {
      const row = await store.get<{ state: string; record: string }>(
        'SELECT state, record FROM update_record WHERE id = 1',
      );
      if (!row) return { state: 'idle', record: { ...empty } };
      const state = updateStates.find((s) => s === row.state) ?? 'idle';
      return { state, record: { ...empty, ...(JSON.parse(row.record) as Partial<Memory>) } };
    },
    async save(state, record) {
      await store.run(
        `INSERT INTO update_record (id, state, record) VALUES (1, ?, ?)
         ON CONFLICT (id) DO UPDATE SET state = excluded.state, record = excluded.record`,
        state,
        JSON.stringify(record),
      );
    },
    async keep(result) {
      await store.transaction(async (tx) => {
        await tx.run('INSERT INTO results (at, result) VALUES (?, ?)', result.at, JSON.stringify(result));
        await tx.run(
          'DELETE FROM results WHERE rowid NOT IN (SELECT rowid FROM results ORDER BY at DESC LIMIT 50)',
        );
      });
    },
  };
}
