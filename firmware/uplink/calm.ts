// A log for what somebody outside can cause: a flood of events is no flood of lines.
import type { Level, Log } from '../system/log.ts';

/** Lines at once, and further ones a second: more than an honest root and its browsers bring about. */
const BURST = 200;
const RATE = 2;

/** The same log, of which so many lines pass; those left out are counted and told. @param now milliseconds */
export function calm(log: Log, now: () => number): Log {
  let tokens = BURST;
  let filled = now();
  let dropped = 0;
  const quiet =
    (level: Level): Log[Level] =>
    (message, fields) => {
      const at = now();
      tokens = Math.min(BURST, tokens + ((at - filled) / 1000) * RATE);
      filled = at;
      if (tokens < 1) {
        dropped++;
        return;
      }
      tokens--;
      if (dropped > 0) log.warn('too many lines at once; some were left out', { lines: dropped });
      dropped = 0;
      log[level](message, fields);
    };
  return {
    ...{ error: quiet('error'), warn: quiet('warn'), notice: quiet('notice') },
    ...{ info: quiet('info'), debug: quiet('debug') },
  };
}
