// What is done in each state of an installed skill, as often as it takes.
import { IngleError } from '../protocol/errors.ts';
import type { Housing } from './housing.ts';
import { type Fault, type FaultReason, type InstallState, keptOf, wanted } from './install-machine.ts';
import type { At, InstallParts, Row } from './install-parts.ts';

/** How long a version may take to come up once the one before has left, milliseconds. */
export const TRIAL_MS = 60_000;
/** After a step that failed, milliseconds. */
const RETRY_MS = 10_000;

/**
 * @param o.disown a skill has no first publisher any more
 * @param o.gone nothing is left of a skill
 */
export function installActs(
  p: Pick<InstallParts, 'log' | 'places' | 'running' | 'trialMs' | 'retryMs'>,
  housing: Housing,
  o: { seconds(): number; disown(skill_id: string): Promise<void>; gone(skill_id: string): Promise<void> },
): Record<InstallState, (row: Row, here: At) => Promise<void>> {
  const { log, places, running } = p;

  const faultOf = (version: string, reason: FaultReason, cause: unknown): Fault => {
    const message = cause instanceof IngleError ? cause.message : 'The table of skills could not be written.';
    return { version, reason, message, at: o.seconds() };
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

  return {
    async prepared(row, here) {
      await insist(here, async () => {
        if (housing.isInSlot(row.key)) await housing.vacate(row.key);
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
        await housing.house(row.key, wanted(row.memory)!);
        await housing.renew(row.key);
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
        if (places.read().root.pins.has(row.key) || housing.isHoused(row.key, version.bundle)) return;
        await housing.house(row.key, version);
        await housing.renew(row.key);
      });
      await housing.tidy();
    },
    async returning(row, here) {
      await insist(here, async () => {
        const before = keptOf(row.memory, row.memory.current);
        if (before) {
          await housing.house(row.key, before);
          await housing.renew(row.key);
        } else await housing.vacate(row.key);
        await here.move(before ? 'back' : 'none', { trying: null });
      });
    },
    async removing(row, here) {
      await insist(here, async () => {
        await housing.vacate(row.key);
        await running.forget(row.key);
        await o.disown(row.key);
        // Of what is not listed any more nothing is left.
        await row.remember({ kept: [] });
        await housing.tidy();
        await o.gone(row.key);
      });
    },
  };
}
