// Networks the hub has joined, and its country: kept in the service's own store.
import type { Store } from '../system/store.ts';

export interface Known {
  ssid: string;
  psk: string;
  hidden: boolean;
  /** open, wpa2, wpa3 or empty for whatever the network offers. */
  security: string;
}

export const migrations = [
  `CREATE TABLE network (ssid TEXT PRIMARY KEY, psk TEXT NOT NULL, hidden INTEGER NOT NULL, security TEXT NOT NULL, joined_at INTEGER NOT NULL) STRICT;
   CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT`,
] as const;

export function networks(store: Store) {
  return {
    /** The newest joined first. */
    async all(): Promise<Known[]> {
      const rows = await store.all<{ ssid: string; psk: string; hidden: number; security: string }>(
        'SELECT ssid, psk, hidden, security FROM network ORDER BY joined_at DESC, ssid',
      );
      return rows.map((r) => ({ ...r, hidden: r.hidden !== 0 }));
    },
    async keep(n: Known): Promise<void> {
      await store.run(
        'INSERT OR REPLACE INTO network (ssid, psk, hidden, security, joined_at) VALUES (?, ?, ?, ?, ?)',
        n.ssid,
        n.psk,
        n.hidden ? 1 : 0,
        n.security,
        Date.now(),
      );
    },
    /** Forgets one, or all for an empty name; the key's bytes are overwritten. Answers how many there were. */
    async forget(ssid: string): Promise<number> {
      await store.all('PRAGMA secure_delete = ON');
      const { changes } = ssid
        ? await store.run('DELETE FROM network WHERE ssid = ?', ssid)
        : await store.run('DELETE FROM network');
      // The log holds old pages until it is written back.
      await store.all('PRAGMA wal_checkpoint(TRUNCATE)');
      return changes;
    },
    async country(): Promise<string | undefined> {
      return (await store.get<{ value: string }>("SELECT value FROM setting WHERE name = 'country'"))?.value;
    },
    async setCountry(code: string): Promise<void> {
      await store.run("INSERT OR REPLACE INTO setting (name, value) VALUES ('country', ?)", code);
    },
  };
}
export type Networks = ReturnType<typeof networks>;
