// Time as the engine has it: the wall clock, which may be unknown and may be set, and one that is never set.
import type { Asleep } from './need.ts';

export interface Clock {
  /** Unix milliseconds. */
  wall(): number;
  /** Milliseconds of a clock that is never set, since the machine started. */
  up(): number;
  /** The start of the machine that `up` counts from. */
  readonly boot: string;
  /** Runs `work` once, `ms` from now by `up`; the answer cancels it. */
  after(ms: number, work: () => void): () => void;
}

/** A machine without a clock wakes in 1970. Nothing of Ingle ran before this. */
const FIRST = Date.UTC(2026, 0, 1);
/** setTimeout takes no more, milliseconds. */
const LONGEST = 2 ** 31 - 1;

export const isTimeKnown = (c: Pick<Clock, 'wall'>): boolean => c.wall() >= FIRST;

/** Milliseconds that are left of `ms` after a restart, where it began at `since` by the wall clock. */
export function leftSince(since: number, ms: number, c: Clock): number {
  if (since < FIRST || !isTimeKnown(c)) return ms;
  return Math.min(ms, Math.max(0, since + ms - c.wall()));
}

/** @param boot what the start of the machine is known by; on a hub that of its bus, as /proc/sys is hidden from services */
export function systemClock(boot: string): Clock {
  return {
    boot,
    wall: Date.now,
    up: () => Number(process.hrtime.bigint() / 1_000_000n),
    after(ms, work) {
      let timer: NodeJS.Timeout;
      const wait = (left: number) => {
        timer = setTimeout(
          left > LONGEST ? () => wait(left - LONGEST) : work,
          Math.min(LONGEST, Math.max(0, left)),
        );
      };
      wait(ms);
      return () => clearTimeout(timer);
    },
  };
}

/** A wait that begins now. @param ms how long; without it there is no end */
export function asleepNow(c: Clock, ms?: number): Asleep {
  const since = c.wall();
  return {
    since,
    boot: c.boot,
    up: c.up(),
    ...(ms === undefined ? {} : { due: since + ms }),
  };
}

/**
 * Milliseconds that are left of a wait with an end. While the machine runs, only `up` counts, so a clock that is set
 * changes nothing. After a restart the time away counts if the time was known before and is known now; else the wait
 * begins anew, as it must not end early. A clock that was set back costs at most the whole time once more.
 */
export function leftOf(a: Asleep, c: Clock): number {
  if (a.due === undefined) return Number.POSITIVE_INFINITY;
  const ms = a.due - a.since;
  if (a.boot === c.boot) return Math.max(0, ms - (c.up() - a.up));
  return leftSince(a.since, ms, c);
}
