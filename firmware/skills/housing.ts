// Where installed skills live: versions in their slots, the processes that go for it, and folders nobody refers to.
import type { Queue } from '../protocol/queue.ts';
import type { Kept } from './install-machine.ts';
import type { InstallParts } from './install-parts.ts';
import { assign, free, type Table } from './slots.ts';

const slotIn = (table: Table, skill_id: string): number | undefined =>
  [...table].find(([, r]) => r.state === 'used' && r.skill_id === skill_id)?.[0];

export type Housing = ReturnType<typeof openHousing>;

/** @param disk changes of the table and of the folders, one after the other @param kept bundles that rows refer to */
export function openHousing(
  p: Pick<InstallParts, 'places' | 'running' | 'bundles' | 'log' | 'tag'>,
  disk: Queue,
  kept: () => readonly string[],
) {
  const { places, running } = p;

  /** The process that has the slot goes, and the next one is what the table says. */
  async function renew(skill_id: string): Promise<void> {
    await running.changed();
    const slot = slotIn(places.read().table, skill_id);
    if (slot !== undefined) await running.leave(slot);
  }

  return {
    renew,
    /** Puts a version in the skill's slot. */
    house: (skill_id: string, { bundle }: Kept) =>
      disk.add(() => places.change((table, root) => assign(table, root, { skill_id, bundle }, p.tag()))),
    isHoused: (skill_id: string, bundle: string | undefined): boolean =>
      [...places.read().table.values()].some(
        (r) => r.state === 'used' && r.skill_id === skill_id && r.bundle === bundle,
      ),
    isInSlot: (skill_id: string): boolean => slotIn(places.read().table, skill_id) !== undefined,
    /** Takes a skill out of its slot; what it leaves there is wiped by the slot's own user. */
    async vacate(skill_id: string): Promise<void> {
      const slot = slotIn(places.read().table, skill_id);
      await disk.add(() => places.change((table) => free(table, skill_id)));
      await running.changed();
      if (slot === undefined) return;
      await running.leave(slot);
      // Else it is wiped before the next skill moves in.
      await running
        .wipe(slot)
        .catch((cause) => p.log.warn('a slot is not wiped yet', { slot, cause: cause as Error }));
    },
    /** Removes folders nobody refers to. */
    tidy: () =>
      disk.add(async () => {
        const housed = [...places.read().table.values()].flatMap((r) =>
          r.state === 'used' && r.bundle ? [r.bundle] : [],
        );
        await p.bundles.sweep(new Set([...housed, ...kept()]));
      }),
  };
}
