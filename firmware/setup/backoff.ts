// How long wrong PINs lock out: one count for all channels, kept over restarts and power cuts. Pure.
import { openQueue } from '../protocol/queue.ts';

/** Wrong tries since the last right one, and how long the machine had been up at the newest, milliseconds. */
export interface Tries {
  wrong: number;
  at: number;
}

export const noTries: Tries = { wrong: 0, at: 0 };

/** Wrong tries that cost no time, as people mistype. */
export const FREE_TRIES = 5;
/** Wait after the last free one; it doubles with each wrong try from there. */
const FIRST_MS = 30_000;
/**
 * The longest wait. Whoever tries as often as he may has 5 tries at once, 7 in the next 64 minutes and then one an
 * hour: 8,770 in a year, 0.9 % of a PIN of 6 digits, were setup open all that time. It closes after ten idle minutes,
 * which wrong tries do not prolong: 9 tries each time somebody opens it.
 */
const LONGEST_MS = 3_600_000;
/** Without a try for so long the count begins anew. At one try an hour, waiting for this gains nothing. */
const CALM_MS = 24 * 3_600_000;

/**
 * The least time that has gone by since the newest try. No clock is asked, as it may jump or be unset: a machine that
 * was up for less than at the try has been started since, and then it is its uptime; else the difference, or more.
 */
function elapsed(t: Tries, uptime: number): number {
  return uptime >= t.at ? uptime - t.at : uptime;
}

/** Milliseconds until the next try is taken. Cutting the power begins the wait anew. */
export function waitMs(t: Tries, uptime: number): number {
  if (t.wrong < FREE_TRIES) return 0;
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** (t.wrong - FREE_TRIES));
  return Math.max(0, whole - elapsed(t, uptime));
}

/** The count with one more wrong try. */
export function oneMore(t: Tries, uptime: number): Tries {
  const calm = t.wrong > 0 && elapsed(t, uptime) >= CALM_MS;
  return { wrong: (calm ? 0 : t.wrong) + 1, at: uptime };
}

export interface Gate {
  /** Seconds until the next try is taken, whole. */
  wait(): number;
  /** Free tries that remain. */
  left(): number;
  /**
   * Counts a try, as a wrong one and for good, before it is looked at: a process killed in between has given none
   * away. Tries that come together are counted one after another.
   * @returns whether it may be looked at; when not, `wait` says how long
   * @throws the store's error: a try that cannot be counted is not taken
   */
  take(): Promise<boolean>;
  /** The try just counted was right: the count begins anew. */
  right(): Promise<void>;
}

/**
 * The one gate every PIN passes.
 * @param uptime of the machine, milliseconds
 */
export function openGate(o: { tries: Tries; save(t: Tries): Promise<void>; uptime(): number }): Gate {
  let { tries } = o;
  const queue = openQueue();
  const keep = async (t: Tries) => {
    await o.save(t);
    tries = t;
  };
  return {
    wait: () => Math.ceil(waitMs(tries, o.uptime()) / 1000),
    left: () => Math.max(0, FREE_TRIES - tries.wrong),
    take: () =>
      queue.add(async () => {
        if (waitMs(tries, o.uptime()) > 0) return false;
        await keep(oneMore(tries, o.uptime()));
        return true;
      }),
    right: () => queue.add(() => keep(noTries)),
  };
}
