// What setup remembers over a power cut: one row, written whole.
import { openStore } from '../system/store.ts';
import { noTries, type Tries } from './backoff.ts';
import type { LadderState } from './ladder.ts';

export interface SetupState {
  state: LadderState;
  /** The newest channel at work. */
  mode: 'audio' | 'softap' | 'ble';
  softap: { ssid: string; started_at: string } | null;
  ble: { started_at: string } | null;
  attempts: number;
  verified_profile: { sink_id: string; source_id: string } | null;
  /** A network was joined, or setup came to its end, once since the last factory reset. */
  done: boolean;
  /** Whether a browser is paired; null: kept by a version that did not ask. */
  owned: boolean | null;
}

/** Setup is over until somebody begins it again. */
export function isDone(state: LadderState): boolean {
  return state === 'READY' || state === 'READY_WITH_LIMITS';
}

export const newState: SetupState = {
  state: 'BOOT',
  mode: 'audio',
  softap: null,
  ble: null,
  attempts: 0,
  verified_profile: null,
  done: false,
  owned: false,
};

export interface StateFile {
  load(): Promise<SetupState>;
  save(s: SetupState): Promise<void>;
  /** Wrong PINs, for all windows. */
  readonly tries: Tries;
  /** On the medium when it settles. */
  saveTries(t: Tries): Promise<void>;
  close(): Promise<void>;
}

/** Secrets of a window are never in it: they die with the power. */
export async function openState(file: string): Promise<StateFile> {
  const store = await openStore(file, [
    'CREATE TABLE setup (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL)',
  ]);
  const row = await store.get<{ json: string }>('SELECT json FROM setup WHERE id = 1');
  const found = (row ? JSON.parse(row.json) : {}) as Partial<SetupState>;
  let kept: SetupState & { tries: Tries } = {
    ...newState,
    tries: noTries,
    owned: found.done ? null : false,
    ...found,
  };
  async function write(): Promise<void> {
    await store.run(
      'INSERT INTO setup (id, json) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json',
      JSON.stringify(kept),
    );
  }
  return {
    async load() {
      const { tries: _, ...state } = kept;
      return state;
    },
    save(s) {
      kept = { ...s, tries: kept.tries };
      return write();
    },
    get tries() {
      return kept.tries;
    },
    saveTries(tries) {
      kept = { ...kept, tries };
      return write();
    },
    close: () => store.close(),
  };
}
