// What setup remembers over a power cut: the ladder, its channels, and wrong PINs. Secrets of a window are never in it:
// they die with the power.
import { durableSchema } from '../system/durable.ts';
import { openStore, type Store } from '../system/store.ts';
import { noTries, type Tries } from './backoff.ts';
import type { LadderState } from './ladder.ts';

/** What the ladder remembers beside its state. */
export interface LadderMemory {
  /** The newest channel at work. */
  mode: 'audio' | 'softap' | 'ble';
  attempts: number;
  verified_profile: { sink_id: string; source_id: string } | null;
  /** A network was joined, or setup came to its end, once since the last factory reset. */
  done: boolean;
  /** Whether a browser is paired; null: kept by a version that did not ask. */
  owned: boolean | null;
  /** Somebody wants the ways in: the only radio may be taken out of a network for them. */
  asked: boolean;
  /** A person has just given a network or ended setup, and is waiting for the next step. */
  by_hand: boolean;
  /** The channel that person uses. */
  by: string;
  /** The start of the hub in which setup came to its end last. */
  start: string;
  /** The access point stays up while the network is joined: over a second radio, or a cable. */
  kept: boolean;
}

export const newMemory: LadderMemory = {
  mode: 'audio',
  attempts: 0,
  verified_profile: null,
  done: false,
  owned: false,
  asked: true,
  by_hand: false,
  by: '',
  start: '',
  kept: false,
};

/** What setup tells of itself (Setup1.Status, Setup1.Stage). */
export interface SetupState
  extends Pick<LadderMemory, 'mode' | 'attempts' | 'verified_profile' | 'done' | 'owned'> {
  state: LadderState;
  softap: { ssid: string; started_at: string } | null;
  ble: { started_at: string } | null;
}

/** Setup is over until somebody begins it again. */
export function isDone(state: LadderState): boolean {
  return state === 'READY' || state === 'READY_WITH_LIMITS';
}

export interface StateFile {
  /** Holds the tables `ladder` and `channels`. */
  readonly store: Store;
  /** Wrong PINs, for all windows. */
  readonly tries: Tries;
  /** On the medium when it settles. */
  saveTries(t: Tries): Promise<void>;
  close(): Promise<void>;
}

const schema = [
  'CREATE TABLE setup (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL)',
  `${durableSchema('ladder')};
   ${durableSchema('channels')};
   CREATE TABLE tries (id INTEGER PRIMARY KEY CHECK (id = 1), wrong INTEGER NOT NULL, at REAL NOT NULL);
   INSERT INTO ladder SELECT 'ladder', json_extract(json, '$.state'), unixepoch() * 1000,
     json_remove(CASE WHEN json_type(json, '$.owned') IS NULL AND json_extract(json, '$.done')
       THEN json_set(json, '$.owned', NULL) ELSE json END, '$.state', '$.tries', '$.softap', '$.ble') FROM setup;
   INSERT INTO tries SELECT 1, json_extract(json, '$.tries.wrong'), json_extract(json, '$.tries.at') FROM setup
     WHERE json_type(json, '$.tries') = 'object';
   DROP TABLE setup`,
];

export async function openState(file: string): Promise<StateFile> {
  const store = await openStore(file, schema);
  let tries = (await store.get<{ wrong: number; at: number }>('SELECT wrong, at FROM tries')) ?? noTries;
  return {
    store,
    get tries() {
      return tries;
    },
    async saveTries(t) {
      await store.run('INSERT OR REPLACE INTO tries (id, wrong, at) VALUES (1, ?, ?)', t.wrong, t.at);
      tries = t;
    },
    close: () => store.close(),
  };
}
