// The slots of skills in a house: each is a process of its own, and an empty one's comes when the bus calls it.
import { join } from 'node:path';
import { skill1, skillBusName } from '../../../firmware/skills/contract.ts';
import { SLOTS } from '../../../firmware/skills/slots.ts';
import type { Slots } from '../../../firmware/skills/table.ts';
import type { Bus } from '../../../firmware/system/bus.ts';
import { dist } from './plan.ts';
import { hostFlags } from './snapshot.ts';

/** Slots whose process comes when the bus calls it, by its name there: their number, and its log. */
export type Called = ReadonlyMap<string, { slot: number; log: string }>;

export function calledSlots(slots: Slots['slots'], logOf: (name: string) => string): Called {
  return new Map(
    Array.from({ length: SLOTS }, (_, i) => i + 1)
      .filter((slot) => !slots.has(slot))
      .map((slot) => [skillBusName(slot), { slot, log: logOf(`slot ${slot}`) }]),
  );
}

/** The command of a slot's host. */
export async function hosts(): Promise<(slot: number) => string[]> {
  const flags = await hostFlags(dist);
  return (slot) => [
    ...[process.execPath, ...flags],
    ...[join(dist, 'services/skill-host/main.js'), `${slot}`],
  ];
}

/** Signals do not reach what the bus started in a sandbox of its own. */
export async function leaveSlots(b: Bus, called: Called): Promise<void> {
  const there = new Set(await b.listNames());
  const names = [...called.keys()].filter((name) => there.has(name));
  await Promise.all(
    names.map((busName) =>
      b
        .client(skill1, { busName })
        .Leave({}, 1000)
        .catch(() => {}),
    ),
  );
}
