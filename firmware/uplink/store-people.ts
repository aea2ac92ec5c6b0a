// People the owner has invited, and what is pinned or open for them, in tables of their own: a program that knows nothing
// of people finds none of their browsers, and lets nobody in as the owner who is not (ARCHITECTURE D107, D108).
import type { Person } from '../people/person.ts';
import type { Store, Value } from '../system/store.ts';
import { type Grant, readGrant, writeGrant } from './grant.ts';
import type { StoredWindow } from './pairing-window.ts';
import type { Browser, Identity, Passkey, Proven } from './rows.ts';

export const peopleSchema = `CREATE TABLE person (
     id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, created_at INTEGER NOT NULL, until INTEGER NOT NULL,
     ended_at INTEGER NOT NULL, invited_by TEXT NOT NULL, place TEXT NOT NULL) STRICT;
   CREATE TABLE person_browser (
     id TEXT PRIMARY KEY, label TEXT NOT NULL, paired_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
     elevated_until INTEGER NOT NULL, cred_id TEXT NOT NULL, person TEXT NOT NULL) STRICT;
   CREATE TABLE person_passkey (
     cred_id TEXT PRIMARY KEY, public_key BLOB NOT NULL, counter INTEGER NOT NULL, label TEXT NOT NULL,
     pinned_at INTEGER NOT NULL, regressions INTEGER NOT NULL, person TEXT NOT NULL) STRICT;
   CREATE TABLE granted_proven (
     id TEXT PRIMARY KEY, new_passkey INTEGER NOT NULL, expires_at INTEGER NOT NULL, failures INTEGER NOT NULL,
     granted TEXT NOT NULL) STRICT;
   CREATE TABLE granted_pairing (
     one INTEGER PRIMARY KEY CHECK (one = 1), code TEXT NOT NULL, secret TEXT NOT NULL, psk TEXT NOT NULL,
     new_passkey INTEGER NOT NULL, expires_at INTEGER NOT NULL, left INTEGER NOT NULL, granted TEXT NOT NULL) STRICT;`;

/** Every table of the schema above. */
export const peopleTables = [
  'person',
  'person_browser',
  'person_passkey',
  'granted_proven',
  'granted_pairing',
] as const;

type Tx = Pick<Store, 'run' | 'all' | 'get'>;

/** Inserts or replaces a whole row. */
export const put = (t: Pick<Store, 'run'>, table: string, values: readonly Value[]) =>
  t.run(`INSERT OR REPLACE INTO ${table} VALUES (${values.map(() => '?').join(', ')})`, ...values);

const placeOf = (i: Identity | undefined): string =>
  i ? JSON.stringify([i.owner_id, i.subnet_id, i.hub_id, i.app_url]) : '';

/** Takes whose grant a row has into it; a grant this program does not know makes no row. */
function granted<T extends { grant: Grant }>(row: Record<string, unknown>): T[] {
  const { granted: text, ...rest } = row;
  const grant = readGrant(text as string);
  return grant ? [{ ...rest, grant, new_passkey: rest['new_passkey'] === 1 } as unknown as T] : [];
}

export const provenValues = (p: Proven): Value[] => [p.id, p.new_passkey ? 1 : 0, p.expires_at, p.failures];
export const windowValues = (w: StoredWindow): Value[] => [
  ...[1, w.code, w.secret, w.psk, w.new_passkey ? 1 : 0],
  ...[w.expires_at, w.left],
];

/** What is asked of those tables. `identity` is the place people were invited to. */
export function peopleStore(db: Store) {
  return {
    async people(): Promise<Person[]> {
      const rows = await db.all('SELECT * FROM person ORDER BY created_at, id');
      return rows.map(({ place: _, ...p }) => p as unknown as Person);
    },
    putPerson: (p: Person, identity: Identity) =>
      put(db, 'person', [
        ...[p.id, p.name, p.role, p.created_at, p.until, p.ended_at, p.invited_by],
        placeOf(identity),
      ]),
    /** A person, and all that is pinned or open for them: all or nothing. */
    dropPerson: (id: string) =>
      db.transaction(async (t) => {
        const grant = writeGrant({ kind: 'person', person_id: id });
        await t.run('DELETE FROM person WHERE id = ?', id);
        for (const table of ['person_browser', 'person_passkey'])
          await t.run(`DELETE FROM ${table} WHERE person = ?`, id);
        for (const table of ['granted_proven', 'granted_pairing'])
          await t.run(`DELETE FROM ${table} WHERE granted = ?`, grant);
      }),
    /**
     * Forgets people of another place, and what nobody's is: a program that knows nothing of people may have followed
     * the hub to another owner meanwhile.
     */
    sweepPeople: (identity: Identity | undefined) =>
      db.transaction(async (t) => {
        await t.run('DELETE FROM person WHERE place <> ?', placeOf(identity));
        for (const table of ['person_browser', 'person_passkey'])
          await t.run(`DELETE FROM ${table} WHERE person NOT IN (SELECT id FROM person)`);
      }),

    personBrowsers: async (): Promise<Browser[]> =>
      (await db.all('SELECT * FROM person_browser')) as unknown as Browser[],
    personPasskeys: async (): Promise<Passkey[]> =>
      (await db.all('SELECT * FROM person_passkey')) as unknown as Passkey[],
    async grantedProven(): Promise<Proven[]> {
      return (await db.all('SELECT * FROM granted_proven')).flatMap((r) => granted<Proven>(r));
    },
    async grantedWindow(): Promise<StoredWindow[]> {
      return (await db.all('SELECT * FROM granted_pairing')).flatMap((r) => granted<StoredWindow>(r));
    },
  };
}

/** Writes a row to the owner's table, or with whose it is to that of other people; it is in one of them only. */
export async function putOwned(
  t: Tx,
  [mine, theirs]: readonly [string, string],
  values: readonly Value[],
  whose: string | undefined,
): Promise<void> {
  const [to, from] = whose === undefined ? [mine, theirs] : [theirs, mine];
  const key = mine === 'passkey' ? 'cred_id' : mine === 'pairing' ? 'one' : 'id';
  await t.run(`DELETE FROM ${from} WHERE ${key} = ?`, values[0]!);
  await put(t, to, whose === undefined ? values : [...values, whose]);
}

/** The text that stands for a grant in a row; the owner's rows have none. */
export const grantText = (g: Grant): string | undefined => (g.kind === 'owner' ? undefined : writeGrant(g));
