// How much a skill may say: a budget of updates and bytes that fills again. Pure but for the clock.
import { openBucket, rate, take } from '../protocol/bucket.ts';

/** A skill may raise this many updates and bytes a second, and four times that at once. */
const updates = rate(4 * 50, 50);
const volume = rate(4 * 1024 * 1024, 1024 * 1024);

export interface Allowance {
  /** Takes one update of so many bytes; false once the skill has said too much. */
  spend(bytes: number): boolean;
}

/** A full allowance. @param now milliseconds. */
export function allowance(now: () => number = Date.now): Allowance {
  const count = openBucket(updates, now());
  const bytes = openBucket(volume, now());
  return {
    spend: (size) => take(count, updates, now()) && take(bytes, volume, now(), size),
  };
}
