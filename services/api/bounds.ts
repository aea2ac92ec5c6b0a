// What skills may take of the machine is told to who supervises, each time it has become another.
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { supervisor1 } from '../../firmware/supervisor/contract.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { isAbsent } from '../../firmware/system/bus-errors.ts';
import type { Log } from '../../firmware/system/log.ts';

/** The supervisor may have to start first, milliseconds. */
const TELL_MS = 60_000;

export function openBounds(bus: Bus, log: Log) {
  const queue = openQueue();
  /** Slots with their limits as they were told last; undefined: not known, as an earlier process told them. */
  let told: string | undefined;

  return {
    /**
     * Nobody waits for it, as what runs is held to new bounds at once.
     * @param isStart nothing has changed: with no limits there is nothing to be told
     */
    tell(skills: readonly { slot: number; manifest: Manifest }[], isStart = false): void {
      // All slots: whoever comes to one of a limited skill that is gone is to be let out of its bounds.
      const now = JSON.stringify(skills.map(({ slot, manifest: { limits } }) => [slot, limits ?? null]));
      if (now === told || (isStart && skills.every(({ manifest: { limits } }) => !limits))) return;
      told = now;
      void queue
        .add(() => bus.client(supervisor1).Bound({}, TELL_MS))
        .catch((cause) => {
          told = undefined;
          // The caps of their unit hold all the same, and where nobody supervises there are none.
          log[isAbsent(cause) ? 'debug' : 'warn']('skills are not held to their own limits', { cause });
        });
    },
  };
}
