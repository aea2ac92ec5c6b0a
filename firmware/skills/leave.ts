// Makes the process of a slot go, so that the next call starts what the table says now.
import type { Bus } from '../system/bus.ts';
import type { Log } from '../system/log.ts';
import { skill1, skillBusName } from './contract.ts';

/** A process that hangs is ended by its watchdog within 120 s (ingle-skill@.service), and not at once. */
export const LEAVE_MS = 150_000;
const ASK_MS = 5000;
/** A process may have to start first, on a slow hub that does much else. */
const WIPE_MS = 60_000;

/** Settles when the process that has the slot's name has given it up, or will not within its watchdog's time. */
export async function leaveSlot(bus: Bus, log: Log, slot: number, ms = LEAVE_MS): Promise<void> {
  const name = skillBusName(slot);
  let first: string | undefined;
  let gone = () => {};
  const left = new Promise<boolean>((done) => {
    gone = () => done(true);
  });
  const unwatch = await bus.watchName(name, (owner) => {
    first ??= owner;
    if (owner !== first || owner === '') gone();
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    // By its unique name: the next process must not be asked.
    if (first)
      await bus
        .client(skill1, { busName: first })
        .Leave({}, ASK_MS)
        .catch((cause) => log.debug('a slot does not answer', { slot, cause }));
    const late = new Promise<boolean>((done) => {
      timer = setTimeout(() => done(false), ms);
    });
    if (!(await Promise.race([left, late]))) log.error('the process of a slot does not go', { slot });
  } finally {
    clearTimeout(timer);
    await unwatch();
  }
}

/** Has the user of a slot without a skill wipe its state: its process does so when it starts, and goes again. */
export async function wipeSlot(bus: Bus, log: Log, slot: number): Promise<void> {
  const { Manifest } = bus.client(skill1, { busName: skillBusName(slot) });
  // It refuses, as nobody lives there, once it has wiped.
  await Manifest({}, WIPE_MS).catch(() => {});
  await leaveSlot(bus, log, slot);
}
