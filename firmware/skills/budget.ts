// How often a skill may die before it stays off: a mark for each run that did not end in order, in its slot's folder.
import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';

/** So many failures within so many seconds, and the skill stays off for so many. */
export const FAILURES = 10;
export const WINDOW_S = 600;
export const OFF_S = 3600;
/** Of the marks, as they are kept. */
const MOST_BYTES = 4096;

/**
 * Seconds a skill stays off; 0: it may start.
 * @param failed when the runs that did not end in order began, oldest first
 */
export function offFor(failed: readonly number[], now: number): number {
  const last = failed.slice(-FAILURES);
  const [first = 0, newest = 0] = [last[0], last.at(-1)];
  if (last.length < FAILURES || newest - first > WINDOW_S) return 0;
  return Math.max(0, Math.ceil(newest + OFF_S - now));
}

export interface Budget {
  /**
   * A run begins; without `ended` it counts as one that failed.
   * @throws IngleError `unavailable` with `retry_after` while the skill stays off
   */
  begin(): void;
  ended(): void;
}

/**
 * @param folder of the slot, which is wiped when another skill moves in
 * @param bundle of the version that runs: what another version did does not count
 */
export function openBudget(
  folder: string,
  skill: string,
  bundle?: string,
  now = () => Date.now() / 1000,
  booted = () => Date.now() / 1000 - uptime(),
): Budget {
  const file = join(folder, '.runs');
  const read = (): number[] => {
    try {
      // The skill can write here: a pipe or a flood of bytes in its place must not hold up the next start.
      const is = lstatSync(file);
      if (!is.isFile() || is.size > MOST_BYTES) rmSync(file, { recursive: true, force: true });
      const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
      if (!Array.isArray(kept)) return [];
      if (bundle !== (typeof kept[0] === 'string' ? kept[0] : undefined)) return [];
      const from = booted() - 5;
      // What the power cut short is no fault of the skill, and nothing has begun later than now.
      return kept.filter((at) => at >= from && at <= now());
    } catch {
      return [];
    }
  };
  // No fsync: a mark is worth nothing after a power cut. A full disk must not keep a skill from starting.
  const write = (marks: readonly number[]) => {
    try {
      const last = marks.slice(-FAILURES);
      writeFileSync(file, JSON.stringify(bundle ? [bundle, ...last] : last), { mode: 0o600 });
    } catch {}
  };
  return {
    begin() {
      const marks = read();
      const off = offFor(marks, now());
      if (off > 0)
        throw new IngleError(
          'unavailable',
          `The skill "${skill}" has failed ${FAILURES} times and stays off for ${Math.ceil(off / 60)} minutes. See its log, or restart the hub.`,
          { retry_after: off },
        );
      write([...marks, now()]);
    },
    ended: () => write(read().slice(0, -1)),
  };
}
