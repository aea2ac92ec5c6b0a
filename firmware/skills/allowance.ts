// How much a skill may say: a budget of updates and bytes that fills again. Pure but for the clock.

/** A skill may raise this many updates and bytes a second, and four times that at once. */
const UPDATES_A_SECOND = 50;
const BYTES_A_SECOND = 1024 * 1024;

export interface Allowance {
  /** Takes one update of so many bytes; false once the skill has said too much. */
  spend(bytes: number): boolean;
}

/** A full allowance. @param now milliseconds. */
export function allowance(now: () => number = Date.now): Allowance {
  let count = 4 * UPDATES_A_SECOND;
  let left = 4 * BYTES_A_SECOND;
  let at = now();
  return {
    spend(bytes) {
      const passed = (now() - at) / 1000;
      at = now();
      count = Math.min(4 * UPDATES_A_SECOND, count + passed * UPDATES_A_SECOND) - 1;
      left = Math.min(4 * BYTES_A_SECOND, left + passed * BYTES_A_SECOND) - bytes;
      return count >= 0 && left >= 0;
    },
  };
}
