// What a person orders of installed skills, one thing after the other; what a row then does goes on beside.
import { IngleError } from '../protocol/errors.ts';
import { openQueue, type Queue } from '../protocol/queue.ts';
import { mayHave } from './grants.ts';
import type { Housing } from './housing.ts';
import { type Kept, keptOf } from './install-machine.ts';
import { type InstallParts, MOST, type Row, type Rows } from './install-parts.ts';
import { mayDiscard, mayKeep, mayUse, notHere, sameKept } from './install-rules.ts';
import { readPackage } from './package.ts';
import { mayFollow } from './publishers.ts';
import { assign } from './slots.ts';

type Source = AsyncIterable<Uint8Array> | Uint8Array;

const unknown = (skill_id: string) =>
  new IngleError('not_found', `No skill "${skill_id.slice(0, 60)}" was installed from a package.`);

/**
 * @param o.disk changes of the folders, one after the other
 * @param o.first notes who published a skill first
 */
export function installOrders(
  p: InstallParts,
  rows: Rows,
  o: {
    disk: Queue;
    housing: Housing;
    seconds(): number;
    first(skill_id: string, key: string): Promise<void>;
  },
) {
  const orders = openQueue();
  const has = (skill_id: string): Row | undefined =>
    rows.keys().includes(skill_id) ? rows.row(skill_id) : undefined;
  const find = (skill_id: string): Row => {
    const row = has(skill_id);
    if (!row) throw unknown(skill_id);
    return row;
  };
  const allKept = () => rows.keys().flatMap((id) => rows.row(id).memory.kept);

  async function prepare(source: Source): Promise<{ row: Row; kept: Kept }> {
    const pkg = await readPackage(source, p.publishers.read());
    try {
      const before = has(pkg.meta.id);
      const same = sameKept(before, pkg);
      if (same) return { row: before!, kept: same };
      const { root } = p.places.read();
      mayKeep(pkg, { root, kept: allKept(), most: p.most ?? MOST, isDeveloper: p.isDeveloper() });
      const { version } = pkg.meta;
      const { digest } = pkg;
      return await o.disk.add(async () => {
        const key = pkg.publisher?.key ?? null;
        const { bundle, size, manifest } = await p.bundles.unpack(pkg, (m) =>
          mayHave(m, p.publishers.read(), key),
        );
        const kept: Kept = { version, digest, bundle, key, size, prepared_at: o.seconds(), manifest };
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
    if (!kept) throw notHere(skill_id, version);
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
    mayUse(skill_id, kept, {
      ...{ publishers: p.publishers.read(), isDeveloper: p.isDeveloper() },
      unconfined: p.unconfined ?? '',
    });
    const { table, root } = p.places.read();
    assign(table, root, { skill_id, bundle: kept.bundle }, p.tag());
    if (kept.key) await o.first(skill_id, kept.key);
    await row.move('activate', { trying: version, fault: null, unsigned: memory.unsigned || !kept.key });
    return row;
  }

  return {
    /** Checks a package whole and keeps it beside what is used. @throws IngleError as readPackage, `conflict` */
    prepare: (source: Source) => orders.add(() => prepare(source)),
    activate: (skill_id: string, version: string) => orders.add(() => activate(skill_id, version)),
    /** Both in one. */
    install: (source: Source) =>
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
        mayDiscard(row, skill_id, version);
        const { kept, previous } = row.memory;
        const left = kept.filter((k) => k.version !== version);
        await row.remember({ kept: left, ...(previous === version ? { previous: null } : {}) });
        if (left.length === 0 && row.state === 'prepared') {
          await rows.drop(skill_id);
          p.gone(skill_id);
        } else p.told(skill_id, row);
        await o.housing.tidy();
      }),
    idle: orders.idle,
  };
}
