// What the owner turns on and off, kept with the documents' store.
import type { Store } from '../../firmware/system/store.ts';

export interface Switch {
  get(): boolean;
  /** It is on the disk when this settles. */
  set(on: boolean): Promise<void>;
}

/** A switch by its name in the settings; off until it was turned on. */
export async function openSwitch(store: Store, name: string): Promise<Switch> {
  const row = await store.get<{ value: string }>('SELECT value FROM settings WHERE name = ?', name);
  let on = row?.value === 'on';
  return {
    get: () => on,
    async set(next) {
      const value = next ? 'on' : 'off';
      await store.run('INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)', name, value);
      on = next;
    },
  };
}
