// What is installed: which skill lives in which slot, and which of them the bus starts when they are called.
import type { Bus } from '../system/bus.ts';
import { skillBusName } from './contract.ts';
import type { Manifest } from './manifest.ts';

/** A skill of the table: where it lives, and the manifest of its bundle. */
export interface Installed {
  slot: number;
  manifest: Manifest;
}

export type Places = Awaited<ReturnType<typeof openPlaces>>;

export async function openPlaces(bus: Pick<Bus, 'listActivatableNames'>, installed: readonly Installed[]) {
  const places = new Map<string, Installed>();
  /** Bus name -> skill. */
  const ids = new Map<string, string>();
  const startable = new Set<string>();

  async function take(all: readonly Installed[]): Promise<void> {
    const activatable = new Set(await bus.listActivatableNames());
    for (const map of [places, ids, startable]) map.clear();
    for (const i of all) {
      const { id } = i.manifest;
      places.set(id, i);
      ids.set(skillBusName(i.slot), id);
      if (activatable.has(skillBusName(i.slot))) startable.add(id);
    }
  }
  await take(installed);

  return {
    /** Other skills are installed now. */
    take,
    all: places as ReadonlyMap<string, Installed>,
    skillOf: (name: string): string | undefined => ids.get(name),
    isStartable: (id: string): boolean => startable.has(id),
    /** Its author has built it anew where it lies (`ingle skill dev`). Packages never change in their folders. */
    renewed: (i: Installed) => void places.set(i.manifest.id, i),
  };
}
