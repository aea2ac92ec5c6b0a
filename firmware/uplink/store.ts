// What the uplink remembers: its place at root, who was let in, the open pairing window, counters. One SQLite file.
import { openStore, type Store } from '../system/store.ts';
import type { StoredWindow } from './pairing-window.ts';

/** The hub's place at root. Times are Unix seconds. */
export interface Identity {
  owner_id: string;
  subnet_id: string;
  hub_id: string;
  /** JWT by root over the hub's keys. */
  certificate: string;
  issued_at: number;
  expires_at: number;
  /** Root as configured when the hub enrolled. */
  root_url: string;
  /** Address of the owner's application, pinned: passkeys must speak for its origin. */
  app_url: string;
}

/** A pinned browser. `id` = base64url of its static key; times are Unix seconds. */
export interface Browser {
  id: string;
  label: string;
  paired_at: number;
  seen_at: number;
  /** Admin skills are open to it until then; 0 = closed (ARCHITECTURE D5). */
  elevated_until: number;
  /** The passkey that let it in. */
  cred_id: string;
}

/** A browser that knew a window's secret and still owes its assertion. */
export interface Proven {
  id: string;
  new_passkey: boolean;
  expires_at: number;
  failures: number;
}

/** A pinned passkey; `regressions` counts how often its counter went back. */
export interface Passkey {
  cred_id: string;
  /** COSE key. */
  public_key: Uint8Array;
  counter: number;
  label: string;
  pinned_at: number;
  regressions: number;
}

const migrations = [
  `CREATE TABLE identity (
     one INTEGER PRIMARY KEY CHECK (one = 1), owner_id TEXT NOT NULL, subnet_id TEXT NOT NULL, hub_id TEXT NOT NULL,
     certificate TEXT NOT NULL, issued_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
     root_url TEXT NOT NULL, app_url TEXT NOT NULL) STRICT;
   CREATE TABLE browser (
     id TEXT PRIMARY KEY, label TEXT NOT NULL, paired_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
     elevated_until INTEGER NOT NULL, cred_id TEXT NOT NULL) STRICT;
   CREATE TABLE passkey (
     cred_id TEXT PRIMARY KEY, public_key BLOB NOT NULL, counter INTEGER NOT NULL, label TEXT NOT NULL,
     pinned_at INTEGER NOT NULL, regressions INTEGER NOT NULL) STRICT;
   CREATE TABLE proven (
     id TEXT PRIMARY KEY, new_passkey INTEGER NOT NULL, expires_at INTEGER NOT NULL, failures INTEGER NOT NULL) STRICT;
   CREATE TABLE pairing (
     one INTEGER PRIMARY KEY CHECK (one = 1), code TEXT NOT NULL, secret TEXT NOT NULL, psk TEXT NOT NULL,
     new_passkey INTEGER NOT NULL, expires_at INTEGER NOT NULL, left INTEGER NOT NULL) STRICT;
   CREATE TABLE counter (sid TEXT PRIMARY KEY, next INTEGER NOT NULL, seen_at INTEGER NOT NULL) STRICT;`,
  `CREATE TABLE counter_floor (one INTEGER PRIMARY KEY CHECK (one = 1), next INTEGER NOT NULL) STRICT;
   INSERT INTO counter_floor VALUES (1, 1);
   CREATE INDEX counter_seen ON counter (seen_at);`,
];

/** Web sessions whose counters are kept, as many as are heard at once (sessions.ts): root names them, so it could name any number. */
export const MOST_COUNTERS = 4096;

/** Opens the uplink's store. Every write is durable when it settles. */
export async function openUplinkStore(file: string) {
  const db = await openStore(file, migrations);
  const put = (table: string, ...values: (string | number | Uint8Array)[]) =>
    db.run(`INSERT OR REPLACE INTO ${table} VALUES (${values.map(() => '?').join(', ')})`, ...values);
  const identityValues = (i: Identity) => [
    ...[1, i.owner_id, i.subnet_id, i.hub_id, i.certificate, i.issued_at, i.expires_at, i.root_url],
    i.app_url,
  ];
  const passkeyValues = (p: Passkey) =>
    [p.cred_id, p.public_key, p.counter, p.label, p.pinned_at, p.regressions] as const;
  const browserValues = (b: Browser) =>
    [b.id, b.label, b.paired_at, b.seen_at, b.elevated_until, b.cred_id] as const;
  return {
    async identity(): Promise<Identity | undefined> {
      return (await db.get('SELECT * FROM identity')) as Identity | undefined;
    },
    setIdentity: (i: Identity) => put('identity', ...identityValues(i)),

    async browsers(): Promise<Browser[]> {
      return (await db.all('SELECT * FROM browser ORDER BY paired_at, id')) as unknown as Browser[];
    },
    putBrowser: (b: Browser) => put('browser', ...browserValues(b)),
    dropBrowser: (id: string) => db.run('DELETE FROM browser WHERE id = ?', id),

    async passkeys(): Promise<Passkey[]> {
      return (await db.all('SELECT * FROM passkey')) as unknown as Passkey[];
    },
    putPasskey: (p: Passkey) => put('passkey', ...passkeyValues(p)),

    async proven(): Promise<Proven[]> {
      const rows = (await db.all('SELECT * FROM proven')) as unknown as (Omit<Proven, 'new_passkey'> & {
        new_passkey: number;
      })[];
      return rows.map((r) => ({ ...r, new_passkey: r.new_passkey === 1 }));
    },
    putProven: (p: Proven) => put('proven', p.id, p.new_passkey ? 1 : 0, p.expires_at, p.failures),
    dropProven: (id: string) => db.run('DELETE FROM proven WHERE id = ?', id),

    /** Pins a browser, with its passkey: both or neither. */
    admit: (b: Browser, passkey: Passkey) =>
      db.transaction(async (t) => {
        await t.run('INSERT OR REPLACE INTO passkey VALUES (?, ?, ?, ?, ?, ?)', ...passkeyValues(passkey));
        await t.run('INSERT OR REPLACE INTO browser VALUES (?, ?, ?, ?, ?, ?)', ...browserValues(b));
        await t.run('DELETE FROM proven WHERE id = ?', b.id);
      }),

    /** Another place, and nobody let in yet: both or neither. */
    adopt: (i: Identity) =>
      db.transaction(async (t) => {
        for (const table of ['browser', 'passkey', 'proven', 'pairing']) await t.run(`DELETE FROM ${table}`);
        const values = identityValues(i);
        await t.run(
          `INSERT OR REPLACE INTO identity VALUES (${values.map(() => '?').join(', ')})`,
          ...values,
        );
      }),

    async window(): Promise<StoredWindow | undefined> {
      const w = await db.get('SELECT * FROM pairing');
      return w && ({ ...w, new_passkey: w['new_passkey'] === 1 } as unknown as StoredWindow);
    },
    setWindow: (w: StoredWindow | undefined) =>
      w
        ? put('pairing', 1, w.code, w.secret, w.psk, w.new_passkey ? 1 : 0, w.expires_at, w.left)
        : db.run('DELETE FROM pairing'),

    /**
     * Reserves `count` numbers of a sid's sending direction and gives the first (ARCHITECTURE D6). Beyond
     * MOST_COUNTERS the sids that have been silent for longest are forgotten.
     */
    reserve: (sid: string, count: number, now: number): Promise<number> =>
      db.transaction(async (t) => {
        const row =
          (await t.get<{ next: number }>('SELECT next FROM counter WHERE sid = ?', sid)) ??
          (await t.get<{ next: number }>('SELECT next FROM counter_floor'))!;
        await t.run('INSERT OR REPLACE INTO counter VALUES (?, ?, ?)', sid, row.next + count, now);
        const { n } = (await t.get<{ n: number }>('SELECT count(*) AS n FROM counter'))!;
        if (n > MOST_COUNTERS)
          await forgetCounters(
            t,
            'sid IN (SELECT sid FROM counter ORDER BY seen_at, rowid LIMIT ?)',
            n - MOST_COUNTERS,
          );
        return row.next;
      }),
    /** Web sessions whose counters are kept. */
    counters: async (): Promise<number> =>
      (await db.get<{ n: number }>('SELECT count(*) AS n FROM counter'))!.n,
    /** Forgets the counters of web sessions that sent nothing since `before`. */
    dropCounters: (before: number) => db.transaction((t) => forgetCounters(t, 'seen_at < ?', before)),
    close: () => db.close(),
  };
}

/**
 * A sid whose counter is forgotten begins above all that any forgotten one has used, so no number comes twice, not
 * even while a channel of that sid lives and its keys with it.
 */
async function forgetCounters(
  t: Pick<Store, 'run'>,
  where: 'seen_at < ?' | 'sid IN (SELECT sid FROM counter ORDER BY seen_at, rowid LIMIT ?)',
  value: number,
): Promise<void> {
  await t.run(
    `UPDATE counter_floor SET next = max(next, (SELECT coalesce(max(next), 1) FROM counter WHERE ${where}))`,
    value,
  );
  await t.run(`DELETE FROM counter WHERE ${where}`, value);
}

export type UplinkStore = Awaited<ReturnType<typeof openUplinkStore>>;
