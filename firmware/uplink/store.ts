// What the uplink remembers: its place at root, who was let in, the open pairing window, counters. One SQLite file.
import type { Membership } from '../subnet/membership.ts';
import { type Migration, openStore, type Store } from '../system/store.ts';
import { ownerGrant } from './grant.ts';
import type { StoredWindow } from './pairing-window.ts';
import type { Browser, Identity, Passkey, Proven } from './rows.ts';
import {
  grantText,
  peopleSchema,
  peopleStore,
  peopleTables,
  provenValues,
  put,
  putOwned,
  windowValues,
} from './store-people.ts';
import { putMembership, subnetSchema, subnetStore, subnetTables } from './store-subnet.ts';

const migrations: Migration[] = [
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
  { adds: peopleSchema },
  { adds: subnetSchema },
];

/** Web sessions whose counters are kept, as many as are heard at once (sessions.ts): root names them, so it could name any number. */
export const MOST_COUNTERS = 4096;

/** What the owner has, and what other people have, each in a table. */
const browsers = ['browser', 'person_browser'] as const;
const passkeys = ['passkey', 'person_passkey'] as const;
const provens = ['proven', 'granted_proven'] as const;
const windows = ['pairing', 'granted_pairing'] as const;

async function dropProven(t: Pick<Store, 'run'>, id: string): Promise<void> {
  for (const table of provens) await t.run(`DELETE FROM ${table} WHERE id = ?`, id);
}

/** Opens the uplink's store. Every write is durable when it settles. */
export async function openUplinkStore(file: string) {
  const db = await openStore(file, migrations);
  const people = peopleStore(db);
  const identityValues = (i: Identity) => [
    ...[1, i.owner_id, i.subnet_id, i.hub_id, i.certificate, i.issued_at, i.expires_at, i.root_url],
    i.app_url,
  ];
  const passkeyValues = (p: Passkey) =>
    [p.cred_id, p.public_key, p.counter, p.label, p.pinned_at, p.regressions] as const;
  const browserValues = (b: Browser) =>
    [b.id, b.label, b.paired_at, b.seen_at, b.elevated_until, b.cred_id] as const;
  return {
    ...people,
    ...subnetStore(db),
    async identity(): Promise<Identity | undefined> {
      return (await db.get('SELECT * FROM identity')) as Identity | undefined;
    },
    setIdentity: (i: Identity) => put(db, 'identity', identityValues(i)),

    async browsers(): Promise<Browser[]> {
      const owners = (await db.all('SELECT * FROM browser')) as unknown as Browser[];
      const all = [...owners, ...(await people.personBrowsers())];
      return all.sort((a, b) => a.paired_at - b.paired_at || (a.id < b.id ? -1 : 1));
    },
    putBrowser: (b: Browser) => db.transaction((t) => putOwned(t, browsers, browserValues(b), b.person)),
    dropBrowser: (id: string) =>
      db.transaction(async (t) => {
        for (const table of browsers) await t.run(`DELETE FROM ${table} WHERE id = ?`, id);
      }),

    async passkeys(): Promise<Passkey[]> {
      const owners = (await db.all('SELECT * FROM passkey')) as unknown as Passkey[];
      return [...owners, ...(await people.personPasskeys())];
    },
    putPasskey: (p: Passkey) => db.transaction((t) => putOwned(t, passkeys, passkeyValues(p), p.person)),

    async proven(): Promise<Proven[]> {
      const rows = (await db.all('SELECT * FROM proven')) as unknown as (Omit<Proven, 'new_passkey'> & {
        new_passkey: number;
      })[];
      const owners = rows.map((r) => ({ ...r, new_passkey: r.new_passkey === 1, grant: ownerGrant }));
      return [...owners, ...(await people.grantedProven())];
    },
    putProven: (p: Proven) =>
      db.transaction((t) => putOwned(t, provens, provenValues(p), grantText(p.grant))),
    dropProven: (id: string) => db.transaction((t) => dropProven(t, id)),

    /** Pins a browser, with its passkey: both or neither. */
    admit: (b: Browser, passkey: Passkey) =>
      db.transaction(async (t) => {
        await putOwned(t, passkeys, passkeyValues(passkey), passkey.person);
        await putOwned(t, browsers, browserValues(b), b.person);
        await dropProven(t, b.id);
      }),

    /** Another place, with what membership goes with it, and nobody let in yet: all or nothing. */
    adopt: (i: Identity, membership?: Membership) =>
      db.transaction(async (t) => {
        for (const table of ['browser', 'passkey', 'proven', 'pairing', ...peopleTables, ...subnetTables])
          await t.run(`DELETE FROM ${table}`);
        await putMembership(t, membership);
        await put(t, 'identity', identityValues(i));
      }),

    async window(): Promise<StoredWindow | undefined> {
      const w = await db.get('SELECT * FROM pairing');
      const owners = w && { ...w, new_passkey: w['new_passkey'] === 1, grant: ownerGrant };
      return (owners as StoredWindow | undefined) ?? (await people.grantedWindow())[0];
    },
    setWindow: (w: StoredWindow | undefined) =>
      db.transaction(async (t) => {
        if (w) return putOwned(t, windows, windowValues(w), grantText(w.grant));
        for (const table of windows) await t.run(`DELETE FROM ${table}`);
      }),

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
