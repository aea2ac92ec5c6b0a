// Installs signed packages of skills: each is a row that survives a power cut at any point. What is in the rows counts;
// the table of slots follows them, and folders nobody refers to are swept.
import { openQueue } from '../protocol/queue.ts';
import { openDurable } from '../system/durable.ts';
import { openHousing } from './housing.ts';
import { installActs, TRIAL_MS } from './install-acts.ts';
import {
  arrived,
  type InstallEvent,
  type InstallState,
  installTable,
  type Memory,
  nothing,
} from './install-machine.ts';
import { installOrders } from './install-orders.ts';
import type { InstallParts, Row, Rows } from './install-parts.ts';
import { type Owned, type Publishers, withFirst } from './publishers.ts';

export type Installer = Awaited<ReturnType<typeof openInstaller>>;

export async function openInstaller(p: InstallParts) {
  const { log, running } = p;
  const now = p.now ?? Date.now;
  const seconds = () => Math.floor(now() / 1000);
  /** Changes of the table, of the publishers and of the folders. */
  const disk = openQueue();
  const rows: Rows = await openDurable<InstallState, InstallEvent, Memory>({
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
  const housing = openHousing(p, disk, () => all().flatMap((r) => r.memory.kept.map((k) => k.bundle)));

  /** Changes what the owner's list of publishers says. */
  const owned = (change: (o: Publishers) => Owned) =>
    disk.add(async () => {
      const before = p.publishers.read();
      const next = change(before);
      if (next !== before) await p.publishers.write(next);
    });

  const acts = installActs(p, housing, {
    seconds,
    disown: (id) => owned((o) => (o.first.has(id) ? withFirst(o, id, undefined) : o)),
    async gone(id) {
      await rows.drop(id);
      p.gone(id);
    },
  });
  const { idle, ...orders } = installOrders(p, rows, {
    ...{ disk, housing, seconds },
    first: (id, key) => owned((o) => (o.first.get(id) === key ? o : withFirst(o, id, key))),
  });

  return {
    rows: all,
    /** Takes up what a kill or a power cut left, and sweeps what nobody refers to. */
    async begin(): Promise<void> {
      for (const row of all())
        if (row.state === 'prepared' && row.memory.kept.length === 0) await rows.drop(row.key);
      await housing
        .tidy()
        .catch((cause) => log.error('folders of skills cannot be swept', { cause: cause as Error }));
      for (const row of all()) row.resume();
    },
    ...orders,
    owned,
    /** Whether skills may run has changed: those that are used go and come again. */
    async renew(): Promise<void> {
      for (const { key, state } of all())
        if (state === 'active')
          await housing
            .renew(key)
            .then(() => running.come(key, AbortSignal.timeout(p.trialMs ?? TRIAL_MS)))
            .catch((cause) => log.notice('a skill does not come', { skill: key, cause: cause as Error }));
    },
    /** Settles when nothing is being done. */
    async idle(): Promise<void> {
      await idle();
      await disk.idle();
    },
    stop: () => rows.stop(),
  };
}
