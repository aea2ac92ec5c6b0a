// What setup remembers over a power cut (spec "Setup state"): one row, written whole.
import { openStore } from '../system/store.ts';
import type { LadderState } from './ladder.ts';

export interface SetupState {
  state: LadderState;
  /** The newest channel at work. */
  mode: 'audio' | 'softap' | 'ble';
  softap: { ssid: string; started_at: string } | null;
  ble: { started_at: string } | null;
  attempts: number;
  verified_profile: { sink_id: string; source_id: string } | null;
  /** Setup has been completed once. */
  done: boolean;
}

export const newState: SetupState = {
  state: 'BOOT',
  mode: 'audio',
  softap: null,
  ble: null,
  attempts: 0,
  verified_profile: null,
  done: false,
};

export interface StateFile {
  load(): Promise<SetupState>;
  save(s: SetupState): Promise<void>;
  close(): Promise<void>;
}

/** Secrets of a window are never in it: they die with the power. */
export async function openState(file: string): Promise<StateFile> {
  const store = await openStore(file, [
    'CREATE TABLE setup (id INTEGER PRIMARY KEY CHECK (id = 1), json TEXT NOT NULL)',
  ]);
  return {
    async load() {
      const row = await store.get<{ json: string }>('SELECT json FROM setup WHERE id = 1');
      return row ? { ...newState, ...(JSON.parse(row.json) as Partial<SetupState>) } : { ...newState };
    },
    async save(s) {
      await store.run(
        'INSERT INTO setup (id, json) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json',
        JSON.stringify(s),
      );
    },
    close: () => store.close(),
  };
}
