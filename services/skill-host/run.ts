// What the process of a slot does, however it began: as a program (main.ts) or out of a snapshot (snapshot.ts).
import { skillBusName } from '../../firmware/skills/contract.ts';
import { serveSlot } from '../../firmware/skills/serve.ts';
import { readConfig } from '../../firmware/system/config.ts';
import type { Service } from '../../firmware/system/service.ts';

/** A skill that can be woken ends after this time without a viewer, a call or a timer, milliseconds. */
const IDLE_MS = 2 * 60_000;

/** Number of the slot that the command line names. */
export const slotNamed = (): number => Number(process.argv[2]);

/** Serves a slot until its service ends. @param coming its files are read while the line to the bus comes up */
export async function run(slot: number, coming: Promise<Service>): Promise<void> {
  const config = readConfig();
  const life = await coming;
  const served = await serveSlot(slot, { ...life, config });
  life.onStop(served.stop);
  if ((await life.bus.listActivatableNames()).includes(skillBusName(slot)))
    life.leaveWhenIdle(IDLE_MS, served.isNeeded);
  life.ready();
}
