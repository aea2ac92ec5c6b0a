// The scenarios of a hub: prototypes with their versions, and what each person changed of them.
import { fromUtf8, utf8 } from '../protocol/bytes.ts';
import { refusal } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Migration, Store } from '../system/store.ts';
import type { Vault } from '../system/vault.ts';
import { compareVersions } from '../update/version.ts';
import { checkPrototype } from './check.ts';
import { checkCron } from './cron.ts';
import type { ScenarioFault } from './fault.ts';
import { type Effective, effective } from './merge.ts';
import { migrate } from './migrate.ts';
import type { Readme } from './readme.ts';
import type { Implementation, Prototype } from './schema.ts';
import { keptBindings } from './sealed.ts';

export interface PrototypeRow {
  id: string;
  version: string;
  prototype: Prototype;
  readme: Readme;
  /** The key that signed it; '' for the image's, and for an unsigned one of developer mode. */
  publisher: string;
  /** Unix milliseconds; 0 for one of the image. */
  installed_at: number;
}

/** What somebody has changed. `problems` are what a newer version of the prototype left for them to decide. */
export interface ImplementationRow {
  user: string;
  id: string;
  implementation: Implementation;
  /** Counts the changes. */
  rev: number;
  problems: (ScenarioFault & { repaired: boolean })[];
}

/** A version that is there. */
export interface Offered extends Pick<PrototypeRow, 'version' | 'publisher' | 'installed_at'> {
  used: boolean;
  /** What its use would leave for people to decide, or repair for them. */
  changes: Pick<ImplementationRow, 'user' | 'problems'>[];
}

export interface Library {
  /** The versions in use. */
  active(): PrototypeRow[];
  /** @throws IngleError `not_found` */
  find(id: string): PrototypeRow;
  versions(id: string): string[];
  /** The versions that are there, the newest last, and what the use of each would make of what people changed. @throws IngleError `not_found` */
  offered(id: string): Offered[];
  /** Installs a version and uses it. What people changed is carried over. @throws IngleError `invalid_request` */
  install(row: Omit<PrototypeRow, 'installed_at'>): Promise<PrototypeRow>;
  /** Uses another version that is there. @throws IngleError `not_found` */
  use(id: string, version: string): Promise<PrototypeRow>;
  /** Takes away what was installed; one of the image stays. @throws IngleError `not_found`, `forbidden` */
  remove(id: string): Promise<void>;
  implementation(user: string, id: string): ImplementationRow;
  implementations(): ImplementationRow[];
  /** @throws IngleError `conflict` for another rev, `invalid_request` with every fault */
  change(user: string, id: string, next: Implementation, rev?: number): Promise<ImplementationRow>;
  /** A person is gone, with what they changed. */
  forget(user: string): Promise<void>;
  /** @throws IngleError `invalid_request` where what is stored no longer fits */
  effective(user: string, id: string): Effective;
}

export const librarySchema = `CREATE TABLE prototypes (
     id TEXT NOT NULL, version TEXT NOT NULL, source TEXT NOT NULL, readme TEXT NOT NULL, publisher TEXT NOT NULL,
     installed_at INTEGER NOT NULL, PRIMARY KEY (id, version));
   CREATE TABLE active_prototypes (id TEXT PRIMARY KEY, version TEXT NOT NULL);
   CREATE TABLE implementations (
     user TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, rev INTEGER NOT NULL, problems TEXT NOT NULL,
     version TEXT NOT NULL, bindings BLOB, PRIMARY KEY (user, id))`;
/** What somebody had changed of the version used before: whoever goes back to that has it again. */
export const earlierSchema: Migration = {
  adds: `CREATE TABLE earlier_implementations (
     user TEXT NOT NULL, id TEXT NOT NULL, sealed BLOB NOT NULL, PRIMARY KEY (user, id))`,
};

/** READMEs in other languages than English, of what was installed at that time: an older program installs without them. */
export const readmesSchema: Migration = {
  adds: `CREATE TABLE readmes (
     id TEXT NOT NULL, version TEXT NOT NULL, language TEXT NOT NULL, readme TEXT NOT NULL,
     installed_at INTEGER NOT NULL, PRIMARY KEY (id, version, language))`,
};

export interface LibraryOptions {
  store: Store;
  vault: Vault;
  /** Prototypes of the image. */
  builtin: readonly Omit<PrototypeRow, 'installed_at' | 'publisher'>[];
  now?(): number;
}

interface State extends LibraryOptions {
  /** By id, then version. */
  versions: Map<string, Map<string, PrototypeRow>>;
  using: Map<string, string>;
  /** By `<user> <id>`. */
  changed: Map<string, Changed>;
}

/** What somebody had changed of a version, and the revision that its successor came to be with. */
interface Earlier extends Pick<ImplementationRow, 'implementation' | 'problems'> {
  version: string;
  rev: number;
}
interface Changed extends ImplementationRow {
  version: string;
  /** One for each version. */
  earlier?: Earlier[];
}

const around = {
  isCron(cron: string, zone?: string): boolean {
    try {
      checkCron(cron, zone ?? null);
      return true;
    } catch {
      return false;
    }
  },
};

/** @throws IngleError `invalid_request` with every fault of a prototype */
export function checkedPrototype(value: unknown): Prototype {
  const faults = checkPrototype(value, around);
  if (faults.length > 0) throw refusal(faults, 'The scenario has a fault:');
  return value as Prototype;
}

const keyOf = (user: string, id: string) => `${user} ${id}`;
const rowName = (user: string, id: string) => `bindings ${keyOf(user, id)}`;
const earlierName = (user: string, id: string) => `earlier ${keyOf(user, id)}`;

export async function openLibrary(o: LibraryOptions): Promise<Library> {
  const s: State = { ...o, versions: new Map(), using: new Map(), changed: new Map() };
  await load(s);
  const queue = openQueue();
  return {
    active: () => [...s.using.keys()].map((id) => find(s, id)).sort((a, b) => (a.id < b.id ? -1 : 1)),
    find: (id) => find(s, id),
    versions: (id) => [...(s.versions.get(id)?.keys() ?? [])].sort(compareVersions),
    offered: (id) => offered(s, id),
    install: (row) => queue.add(() => install(s, row)),
    use: (id, version) => queue.add(() => use(s, id, version)),
    remove: (id) => queue.add(() => remove(s, id)),
    implementation: (user, id) => implementationOf(s, user, id),
    implementations: () => [...s.changed.values()],
    change: (user, id, next, rev) => queue.add(() => change(s, user, id, next, rev)),
    forget: (user) =>
      queue.add(async () => {
        await s.store.transaction(async (store) => {
          await store.run('DELETE FROM implementations WHERE user = ?', user);
          await store.run('DELETE FROM earlier_implementations WHERE user = ?', user);
        });
        for (const [key, row] of s.changed) if (row.user === user) s.changed.delete(key);
      }),
    effective: (user, id) => effective(find(s, id).prototype, implementationOf(s, user, id).implementation),
  };
}

function keep(s: State, row: PrototypeRow): void {
  const of = s.versions.get(row.id) ?? new Map<string, PrototypeRow>();
  s.versions.set(row.id, of.set(row.version, row));
}
const newest = (s: State, id: string): string =>
  [...s.versions.get(id)!.keys()].sort(compareVersions).at(-1)!;

async function load(s: State): Promise<void> {
  for (const b of s.builtin) keep(s, { ...b, publisher: '', installed_at: 0 });
  for (const r of await s.store.all('SELECT * FROM prototypes')) {
    const { source, readme, ...rest } = r as unknown as PrototypeRow & { source: string; readme: string };
    keep(s, { ...rest, readme: { en: readme }, prototype: JSON.parse(source) as Prototype });
  }
  for (const r of await s.store.all('SELECT * FROM readmes')) {
    const { id, version, language, readme, installed_at } = r as Record<string, string> & {
      installed_at: number;
    };
    const row = s.versions.get(id!)?.get(version!);
    if (row?.installed_at === installed_at)
      keep(s, { ...row, readme: { ...row.readme, [language!]: readme! } });
  }
  const chosen = new Map(
    (await s.store.all<{ id: string; version: string }>('SELECT * FROM active_prototypes')).map((r) => [
      r.id,
      r.version,
    ]),
  );
  for (const [id, of] of s.versions) {
    const version = chosen.get(id);
    s.using.set(id, version !== undefined && of.has(version) ? version : newest(s, id));
  }
  for (const r of await s.store.all('SELECT * FROM implementations')) {
    const { user, id, rev, version } = r as { user: string; id: string; rev: number; version: string };
    const stored = JSON.parse(String(r['source'])) as Implementation;
    const sealed = r['bindings'] as Uint8Array | null;
    const opened = sealed && s.vault.open(rowName(user, id), sealed);
    const bindings = opened ? (JSON.parse(fromUtf8(opened)) as Implementation['bindings']) : undefined;
    const problems = JSON.parse(String(r['problems'])) as ImplementationRow['problems'];
    const implementation = bindings ? { ...stored, bindings } : stored;
    s.changed.set(keyOf(user, id), { user, id, implementation, rev, problems, version });
  }
  for (const r of await s.store.all('SELECT * FROM earlier_implementations')) {
    const [user, id] = [String(r['user']), String(r['id'])];
    const row = s.changed.get(keyOf(user, id));
    const opened = s.vault.open(earlierName(user, id), r['sealed'] as Uint8Array);
    if (row && opened) row.earlier = JSON.parse(fromUtf8(opened)) as Earlier[];
    // An older program forgets people and knows nothing of this.
    if (!row) await s.store.run('DELETE FROM earlier_implementations WHERE user = ? AND id = ?', user, id);
  }
  // An update of the image may have brought newer versions of its own.
  for (const row of [...s.changed.values()])
    if (s.using.has(row.id) && row.version !== s.using.get(row.id)) await carry(s, row);
}

function find(s: State, id: string): PrototypeRow {
  const version = s.using.get(id);
  if (version === undefined) throw new IngleError('not_found', `There is no scenario "${id}" on this hub.`);
  return s.versions.get(id)!.get(version)!;
}

function implementationOf(s: State, user: string, id: string): ImplementationRow {
  find(s, id);
  return (
    s.changed.get(keyOf(user, id)) ?? {
      user,
      id,
      implementation: { rewriteVersion: 1, enabled: false },
      rev: 0,
      problems: [],
    }
  );
}

async function put(s: State, row: ImplementationRow, version: string, earlier?: Earlier[]): Promise<void> {
  const { user, id, rev } = row;
  const { bindings, ...open } = row.implementation;
  const sealed = bindings ? s.vault.seal(rowName(user, id), utf8(JSON.stringify(bindings))) : null;
  await s.store.transaction(async (store) => {
    await store.run(
      'INSERT OR REPLACE INTO implementations (user, id, source, rev, problems, version, bindings) VALUES (?,?,?,?,?,?,?)',
      ...[user, id, JSON.stringify(open), rev, JSON.stringify(row.problems), version, sealed],
    );
    await store.run('DELETE FROM earlier_implementations WHERE user = ? AND id = ?', user, id);
    if (earlier)
      await store.run(
        'INSERT INTO earlier_implementations (user, id, sealed) VALUES (?,?,?)',
        ...[user, id, s.vault.seal(earlierName(user, id), utf8(JSON.stringify(earlier)))],
      );
  });
  s.changed.set(keyOf(user, id), { ...row, version, ...(earlier ? { earlier } : {}) });
}

async function change(
  s: State,
  user: string,
  id: string,
  next: Implementation,
  rev?: number,
): Promise<ImplementationRow> {
  const { prototype, version } = find(s, id);
  const now = implementationOf(s, user, id);
  if (rev !== undefined && rev !== now.rev)
    throw new IngleError('conflict', 'Somebody has changed it meanwhile. Look at it again.', {
      rev: now.rev,
    });
  effective(prototype, next);
  const { bindings } = next;
  const whole = bindings ? { ...next, bindings: keptBindings(bindings, now.implementation.bindings) } : next;
  const row: ImplementationRow = { user, id, implementation: whole, rev: now.rev + 1, problems: [] };
  await put(s, row, version);
  return row;
}

/** Whether a version can be used with what was changed of it; another one of its name may have come since. */
function fits(prototype: Prototype, implementation: Implementation): boolean {
  try {
    effective(prototype, implementation);
    return true;
  } catch {
    return false;
  }
}

/** What a version makes of what somebody changed: what they had of it, where they changed nothing since, else a migration. */
function carried(s: State, row: Changed, after: PrototypeRow): Pick<Changed, 'implementation' | 'problems'> {
  const had = row.earlier?.find((e) => e.version === after.version && e.rev === row.rev);
  if (had && fits(after.prototype, had.implementation)) return had;
  const before = s.versions.get(row.id)!.get(row.version) ?? after;
  const m = migrate(row.implementation, before.prototype, after.prototype);
  const told = (faults: typeof m.repaired, repaired: boolean) => faults.map((f) => ({ ...f, repaired }));
  return {
    implementation: m.implementation,
    problems: [...told(m.broken, false), ...told(m.repaired, true)],
  };
}

/** What somebody changed of the version before, for the one that is used now. */
async function carry(s: State, row: Changed): Promise<void> {
  const after = find(s, row.id);
  const { user, id, implementation, problems, version } = row;
  const next = carried(s, row, after);
  const rev = row.rev + 1;
  // All of them count for as long as nothing is changed, however many versions it goes through meanwhile.
  const before = (row.earlier ?? []).filter((e) => e.rev === row.rev && e.version !== version);
  const earlier = [...before, { version, implementation, problems }].map((e) => ({ ...e, rev }));
  await put(
    s,
    { user, id, rev, implementation: next.implementation, problems: next.problems },
    after.version,
    earlier,
  );
}

function offered(s: State, id: string): Offered[] {
  const { version: used } = find(s, id);
  const rows = [...s.versions.get(id)!.values()].sort((a, b) => compareVersions(a.version, b.version));
  return rows.map((after) => {
    const { version, publisher, installed_at } = after;
    const of = [...s.changed.values()].filter((row) => row.id === id && row.version !== version);
    const changes = of.map((row) => ({ user: row.user, problems: carried(s, row, after).problems }));
    const some = changes.filter(({ problems }) => problems.length > 0);
    return { version, publisher, installed_at, used: version === used, changes: some };
  });
}

async function use(s: State, id: string, version: string): Promise<PrototypeRow> {
  find(s, id);
  if (!s.versions.get(id)!.has(version))
    throw new IngleError('not_found', `Version ${version} of "${id}" is not on this hub.`);
  await s.store.run('INSERT OR REPLACE INTO active_prototypes (id, version) VALUES (?, ?)', id, version);
  s.using.set(id, version);
  for (const row of [...s.changed.values()])
    if (row.id === id && row.version !== version) await carry(s, row);
  return find(s, id);
}

/**
 * A scenario stays with who published it first, versions do not go back, and one version has one content.
 * @throws IngleError `forbidden`, `conflict`
 */
function mayReplace(
  s: State,
  { id, version, prototype, publisher }: Omit<PrototypeRow, 'installed_at'>,
): void {
  const installed = [...(s.versions.get(id)?.values() ?? [])].filter((r) => r.installed_at > 0);
  const other = installed.find((r) => r.publisher !== publisher);
  if (other)
    throw new IngleError('forbidden', 'This scenario is of another publisher. Remove it first.', { id });
  const newest = installed
    .map((r) => r.version)
    .sort(compareVersions)
    .at(-1);
  if (newest !== undefined && compareVersions(version, newest) < 0)
    throw new IngleError(
      'conflict',
      `Version ${version} is older than ${newest}, which is installed. Use that, or remove it first.`,
    );
  const same = s.versions.get(id)?.get(version);
  if (same && JSON.stringify(same.prototype) !== JSON.stringify(prototype))
    throw new IngleError(
      'conflict',
      `Version ${version} is on the hub with other content. A new release needs a new version.`,
    );
}

async function install(s: State, given: Omit<PrototypeRow, 'installed_at'>): Promise<PrototypeRow> {
  const prototype = checkedPrototype(given.prototype);
  mayReplace(s, given);
  const row: PrototypeRow = { ...given, prototype, installed_at: (s.now ?? Date.now)() };
  const { id, version, installed_at } = row;
  const { en = '', ...others } = row.readme;
  await s.store.transaction(async (store) => {
    await store.run(
      'INSERT OR REPLACE INTO prototypes (id, version, source, readme, publisher, installed_at) VALUES (?,?,?,?,?,?)',
      ...[id, version, JSON.stringify(prototype), en, row.publisher, installed_at],
    );
    await store.run('DELETE FROM readmes WHERE id = ? AND version = ?', id, version);
    for (const [language, readme] of Object.entries(others))
      await store.run(
        'INSERT INTO readmes (id, version, language, readme, installed_at) VALUES (?,?,?,?,?)',
        ...[id, version, language, readme, installed_at],
      );
  });
  keep(s, row);
  if (!s.using.has(row.id)) s.using.set(row.id, row.version);
  return use(s, row.id, row.version);
}

async function remove(s: State, id: string): Promise<void> {
  find(s, id);
  const builtin = s.builtin.filter((b) => b.id === id);
  const isOnlyImage = builtin.length === s.versions.get(id)!.size;
  if (isOnlyImage)
    throw new IngleError('forbidden', 'This scenario is part of the hub. Turn it off instead.');
  await s.store.run('DELETE FROM prototypes WHERE id = ?', id);
  await s.store.run('DELETE FROM readmes WHERE id = ?', id);
  await s.store.run('DELETE FROM active_prototypes WHERE id = ?', id);
  await s.store.run('DELETE FROM earlier_implementations WHERE id = ?', id);
  for (const row of s.changed.values()) if (row.id === id) delete row.earlier;
  s.versions.delete(id);
  s.using.delete(id);
  for (const b of builtin) keep(s, { ...b, publisher: '', installed_at: 0 });
  if (builtin.length === 0) return;
  s.using.set(id, newest(s, id));
  for (const row of [...s.changed.values()]) if (row.id === id) await carry(s, row);
}
