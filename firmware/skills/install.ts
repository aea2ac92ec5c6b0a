// Installs signed packages of skills: each is a row that survives a power cut at any point. What is in the rows counts;
// the table of slots follows them, and folders nobody refers to are swept.
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Config } from '../system/config.ts';
import { type Durable, type Here, openDurable } from '../system/durable.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { Bundles } from './bundles.ts';
import { unconfined } from './confined.ts';
import { mayHave } from './grants.ts';
import {
  arrived,
  type Fault,
  type FaultReason,
  type InstallEvent,
  type InstallState,
  installTable,
  type Kept,
  keptOf,
  type Memory,
  nothing,
  wanted,
} from './install-machine.ts';
import { type Package, readPackage } from './package.ts';
import { mayFollow, type Owned, type Publishers, trustIn, withFirst } from './publishers.ts';
import { assign, free, type Root, type Table } from './slots.ts';

export type Row = Durable<InstallState, InstallEvent, Memory>;
type At = Here<InstallState, InstallEvent, Memory>;

/** The most that may lie prepared or installed: packages, and bytes unpacked. */
export const MOST = { packages: 200, bytes: 256 * 1024 * 1024 };
/** How long a version may take to come up once the one before has left, milliseconds. */
const TRIAL_MS = 60_000;
/** After a step that failed, milliseconds. */
const RETRY_MS = 10_000;

/** What installing works with; the hub's own are wired in services/api. */
export interface InstallParts {
  store: Pick<Store, 'run' | 'all'>;
  log: Log;
  bundles: Bundles;
  places: {
    read(): { root: Root; table: Table };
    /** Settles when it is on the disk. */
    change(change: (table: Table, root: Root) => Table): Promise<void>;
  };
  publishers: { read(): Publishers; write(owned: Owned): Promise<void> };
  /** 32 hexadecimal digits, drawn. */
  tag(): string;
  isDeveloper(): boolean;
  /** Why skills from packages have no sandbox here; empty: they have one. */
  unconfined?: Config['unconfined'];
  running: {
    /** The table has changed: who lives where is read anew. */
    changed(): Promise<void>;
    /** Makes the process of a slot go; settles when it has, or cannot be made to within its watchdog's time. */
    leave(slot: number): Promise<void>;
    /** Settles when the skill is there, in the version its bundle has. @throws IngleError why it does not start */
    come(skill_id: string, signal: AbortSignal): Promise<void>;
    /** Has the user of a slot without a skill wipe its state. */
    wipe(slot: number): Promise<void>;
    /** Forgets what the hub keeps of a skill: documents, icons, its manifest. */
    forget(skill_id: string): Promise<void>;
  };
  /** Told of each move, and of each package that was prepared. */
  told(skill_id: string, row: Pick<Row, 'state' | 'memory'>): void;
  /** Told that nothing is left of a skill. */
  gone(skill_id: string): void;
  trialMs?: number;
  retryMs?: number;
  most?: typeof MOST;
  /** Unix milliseconds. */
  now?: () => number;
}

export type Installer = Awaited<ReturnType<typeof openInstaller>>;

const unknown = (skill_id: string) =>
  new IngleError('not_found', `No skill "${skill_id.slice(0, 60)}" was installed from a package.`);
const slotIn = (table: Table, skill_id: string): number | undefined =>
  [...table].find(([, r]) => r.state === 'used' && r.skill_id === skill_id)?.[0];

export async function openInstaller(p: InstallParts) {
  const { log, bundles, places, running } = p;
  const now = p.now ?? Date.now;
  const most = p.most ?? MOST;
  const seconds = () => Math.floor(now() / 1000);
  /** Orders, one after the other; what a row does goes on beside them. */
  const orders = openQueue();
  /** Changes of the table, of the publishers and of the folders. */
  const disk = openQueue();
  const rows = await openDurable<InstallState, InstallEvent, Memory>({
    name: 'installs',
    store: p.store,
    table: installTable,
    initial: 'prepared',
    memory: nothing,
    log,
    now,
    entering: (next, memory) => (next === 'active' && memory.trying ? arrived(memory) : {}),
    onMove: (row) => p.told(row.key, row),
    act: (row, here) => acts[here.state](row, here),
  });
  const all = (): Row[] => rows.keys().map((id) => rows.row(id));
  const find = (skill_id: string): Row => {
    if (!rows.keys().includes(skill_id)) throw unknown(skill_id);
    return rows.row(skill_id);
  };

  /** Puts a version in the skill's slot. */
  const house = (skill_id: string, { bundle }: Kept) =>
    disk.add(() => places.change((table, root) => assign(table, root, { skill_id, bundle }, p.tag())));
  const isHoused = (skill_id: string, bundle: string | undefined) =>
    [...places.read().table.values()].some(
      (r) => r.state === 'used' && r.skill_id === skill_id && r.bundle === bundle,
    );

  /** The process that has the slot goes, and the next one is what the table says. */
  async function renew(skill_id: string): Promise<void> {
    await running.changed();
    const slot = slotIn(places.read().table, skill_id);
    if (slot !== undefined) await running.leave(slot);
  }

  /** Takes a skill out of its slot; what it leaves there is wiped by the slot's own user. */
  async function vacate(skill_id: string): Promise<void> {
    const slot = slotIn(places.read().table, skill_id);
    await disk.add(() => places.change((table) => free(table, skill_id)));
    await running.changed();
    if (slot === undefined) return;
    await running.leave(slot);
    // Else it is wiped before the next skill moves in.
    await running
      .wipe(slot)
      .catch((cause) => log.warn('a slot is not wiped yet', { slot, cause: cause as Error }));
  }

  /** Removes folders nobody refers to. */
  const tidy = () =>
    disk.add(async () => {
      const housed = [...places.read().table.values()].flatMap((r) =>
        r.state === 'used' && r.bundle ? [r.bundle] : [],
      );
      await bundles.sweep(new Set([...housed, ...all().flatMap((r) => r.memory.kept.map((k) => k.bundle))]));
    });

  const faultOf = (version: string, reason: FaultReason, cause: unknown): Fault => {
    const message = cause instanceof IngleError ? cause.message : 'The table of skills could not be written.';
    return { version, reason, message, at: seconds() };
  };

  /** Does what must be done in the end, as often as it takes. */
  async function insist(here: At, work: () => Promise<unknown>): Promise<void> {
    for (;;)
      try {
        await work();
        return;
      } catch (cause) {
        if (here.signal.aborted) return;
        log.error('a skill cannot be moved now; it is tried again', { cause: cause as Error });
        await new Promise((done) => setTimeout(done, p.retryMs ?? RETRY_MS).unref());
        if (here.signal.aborted) return;
      }
  }

  const acts: Record<InstallState, (row: Row, here: At) => Promise<void>> = {
    async prepared(row, here) {
      await insist(here, async () => {
        if (slotIn(places.read().table, row.key) !== undefined) await vacate(row.key);
      });
    },
    async trial(row, here) {
      const version = row.memory.trying!;
      const failed = async (cause: unknown, reason: FaultReason) => {
        if (here.signal.aborted) return;
        log.warn('a version does not come up', { skill: row.key, version, cause: cause as Error });
        await insist(here, () => here.move('failed', { fault: faultOf(version, reason, cause) }));
      };
      try {
        await house(row.key, wanted(row.memory)!);
        await renew(row.key);
      } catch (cause) {
        return failed(cause, (cause as IngleError).code === 'conflict' ? 'no_room' : 'storage');
      }
      // The time begins anew after a restart of the hub, as the skill's own start does.
      const late = AbortSignal.timeout(p.trialMs ?? TRIAL_MS);
      try {
        await running.come(row.key, AbortSignal.any([here.signal, late]));
      } catch (cause) {
        return failed(cause, late.aborted ? 'timeout' : 'broken');
      }
      await insist(here, () => here.move('came'));
    },
    async active(row, here) {
      await insist(here, async () => {
        const version = wanted(row.memory)!;
        // A table that was lost or put aside is made again; what has become part of the image lives there.
        if (places.read().root.pins.has(row.key) || isHoused(row.key, version.bundle)) return;
        await house(row.key, version);
        await renew(row.key);
      });
      await tidy();
    },
    async returning(row, here) {
      await insist(here, async () => {
        const before = keptOf(row.memory, row.memory.current);
        if (before) {
          await house(row.key, before);
          await renew(row.key);
        } else await vacate(row.key);
        await here.move(before ? 'back' : 'none', { trying: null });
      });
    },
    async removing(row, here) {
      await insist(here, async () => {
        await vacate(row.key);
        await running.forget(row.key);
        await owned((o) => (o.first.has(row.key) ? withFirst(o, row.key, undefined) : o));
        // Of what is not listed any more nothing is left.
        await row.remember({ kept: [] });
        await tidy();
        await rows.drop(row.key);
        p.gone(row.key);
      });
    },
  };

  /** Changes what the owner's list of publishers says. */
  const owned = (change: (o: Publishers) => Owned) =>
    disk.add(async () => {
      const before = p.publishers.read();
      const next = change(before);
      if (next !== before) await p.publishers.write(next);
    });

  /** Whether a package may be kept at all. */
  function admit({ meta, trust }: Package): void {
    const { root } = places.read();
    if (root.builtin.includes(meta.id) || root.pins.has(meta.id))
      throw new IngleError(
        'forbidden',
        `The skill "${meta.id}" is part of the image and cannot be replaced.`,
      );
    if (trust === 'unsigned' && !p.isDeveloper())
      throw new IngleError(
        'forbidden',
        'The package is not signed. Sign it, or turn on developer mode to try it.',
        { reason: 'unsigned' },
      );
    const sum = all().reduce((n, r) => n + r.memory.kept.reduce((m, k) => m + k.size, 0), 0);
    const count = all().reduce((n, r) => n + r.memory.kept.length, 0);
    const size = meta.files.reduce((n, f) => n + f.size, 0);
    if (count >= most.packages || sum + size > most.bytes)
      throw new IngleError(
        'conflict',
        `At most ${most.packages} packages and ${most.bytes / 2 ** 20} MiB are kept. Remove a skill or a prepared package first.`,
        { reason: 'no_space', packages: count, bytes: sum },
      );
  }

  /** The same package, where it is kept already. @throws IngleError `conflict` for another with its version */
  function known(row: Row | undefined, pkg: Package): Kept | undefined {
    const { id, version } = pkg.meta;
    if (row?.state === 'removing')
      throw new IngleError('conflict', `The skill "${id}" is being removed. Try again in a moment.`);
    const same = row && keptOf(row.memory, version);
    if (same && same.digest !== pkg.digest)
      throw new IngleError(
        'conflict',
        `Version ${version} is here with other content. A new release needs a new version, or remove the prepared one.`,
      );
    const current = row && keptOf(row.memory, row.memory.current);
    if (!same) mayFollow(current, { version, digest: pkg.digest });
    return same;
  }

  async function prepare(source: AsyncIterable<Uint8Array> | Uint8Array): Promise<{ row: Row; kept: Kept }> {
    const pkg = await readPackage(source, p.publishers.read());
    try {
      const before = rows.keys().includes(pkg.meta.id) ? rows.row(pkg.meta.id) : undefined;
      const same = known(before, pkg);
      if (same) return { row: before!, kept: same };
      admit(pkg);
      const { version } = pkg.meta;
      const { digest } = pkg;
      return await disk.add(async () => {
        const key = pkg.publisher?.key ?? null;
        const { bundle, size, manifest } = await bundles.unpack(pkg, (m) =>
          mayHave(m, p.publishers.read(), key),
        );
        const kept: Kept = { version, digest, bundle, key, size, prepared_at: seconds(), manifest };
        const row = rows.row(pkg.meta.id);
        await row.remember({ kept: [...row.memory.kept, kept] });
        p.told(row.key, row);
        return { row, kept };
      });
    } finally {
      await pkg.close();
    }
  }

  /** Begins the trial of a version; its end is told by the row. */
  async function activate(skill_id: string, version: string, isBack = false): Promise<Row> {
    const row = find(skill_id);
    const { memory } = row;
    const kept = keptOf(memory, version);
    if (!kept)
      throw new IngleError('not_found', `Version ${version.slice(0, 64)} of "${skill_id}" is not here.`);
    if (row.state === 'active' && memory.current === version) return row;
    if (!row.can('activate'))
      throw new IngleError(
        'conflict',
        `The skill "${skill_id}" is being changed. Try again when that is over.`,
        {
          state: row.state,
        },
      );
    if (!isBack) mayFollow(keptOf(memory, memory.current), kept);
    const trust = trustIn(p.publishers.read(), skill_id, kept.key ?? undefined);
    if (trust === 'unknown')
      throw new IngleError(
        'forbidden',
        'Nobody here trusts the publisher of this package. Trust its key first, if you know whose it is.',
        { reason: 'unknown_publisher', key: kept.key },
      );
    if (trust === 'unsigned' && !p.isDeveloper())
      throw new IngleError('forbidden', 'The package is not signed. Turn on developer mode to use it.', {
        reason: 'unsigned',
      });
    if (p.unconfined && !p.isDeveloper()) throw unconfined('forbidden', p.unconfined);
    mayHave(kept.manifest, p.publishers.read(), kept.key);
    const { table, root } = places.read();
    assign(table, root, { skill_id, bundle: kept.bundle }, p.tag());
    if (kept.key)
      await owned((o) => (o.first.get(skill_id) === kept.key ? o : withFirst(o, skill_id, kept.key!)));
    await row.move('activate', { trying: version, fault: null, unsigned: memory.unsigned || !kept.key });
    return row;
  }

  return {
    rows: all,
    /** Takes up what a kill or a power cut left, and sweeps what nobody refers to. */
    async begin(): Promise<void> {
      for (const row of all())
        if (row.state === 'prepared' && row.memory.kept.length === 0) await rows.drop(row.key);
      await tidy().catch((cause) =>
        log.error('folders of skills cannot be swept', { cause: cause as Error }),
      );
      for (const row of all()) row.resume();
    },
    /** Checks a package whole and keeps it beside what is used. @throws IngleError as readPackage, `conflict` */
    prepare: (source: AsyncIterable<Uint8Array> | Uint8Array) => orders.add(() => prepare(source)),
    activate: (skill_id: string, version: string) => orders.add(() => activate(skill_id, version)),
    /** Both in one. */
    install: (source: AsyncIterable<Uint8Array> | Uint8Array) =>
      orders.add(async () => {
        const { row, kept } = await prepare(source);
        return activate(row.key, kept.version);
      }),
    rollback: (skill_id: string) =>
      orders.add(() => {
        const { previous } = find(skill_id).memory;
        if (!previous)
          throw new IngleError('conflict', `There is no version of "${skill_id}" before the present one.`);
        return activate(skill_id, previous, true);
      }),
    remove: (skill_id: string) =>
      orders.add(async () => {
        const row = find(skill_id);
        if (row.can('remove')) await row.move('remove');
      }),
    /** Takes a version away that is not used. */
    discard: (skill_id: string, version: string) =>
      orders.add(async () => {
        const row = find(skill_id);
        const { kept, current, previous, trying } = row.memory;
        if (!keptOf(row.memory, version))
          throw new IngleError('not_found', `Version ${version.slice(0, 64)} of "${skill_id}" is not here.`);
        if (version === current || version === trying)
          throw new IngleError(
            'conflict',
            `Version ${version} is in use. Remove the skill, or go to another first.`,
          );
        const left = kept.filter((k) => k.version !== version);
        await row.remember({ kept: left, ...(previous === version ? { previous: null } : {}) });
        if (left.length === 0 && row.state === 'prepared') {
          await rows.drop(skill_id);
          p.gone(skill_id);
        } else p.told(skill_id, row);
        await tidy();
      }),
    owned,
    /** Whether skills may run has changed: those that are used go and come again. */
    async renew(): Promise<void> {
      for (const { key, state } of all())
        if (state === 'active')
          await renew(key)
            .then(() => running.come(key, AbortSignal.timeout(p.trialMs ?? TRIAL_MS)))
            .catch((cause) => log.notice('a skill does not come', { skill: key, cause: cause as Error }));
    },
    /** Settles when nothing is being done. */
    async idle(): Promise<void> {
      await orders.idle();
      await disk.idle();
    },
    stop: () => rows.stop(),
  };
}
