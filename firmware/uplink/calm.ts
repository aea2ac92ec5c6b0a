// A log for what somebody outside can cause: a flood of events is no flood of lines.

import { openBucket, rate, take } from '../protocol/bucket.ts';
import type { Level, Log } from '../system/log.ts';

/** Lines at once, and further ones a second: more than an honest root and its browsers bring about. */
const lines = rate(200, 2);

/** The same log, of which so many lines pass; those left out are counted and told. @param now milliseconds */
export function calm(log: Log, now: () => number): Log {
  const bucket = openBucket(lines, now());
  let dropped = 0;
  const quiet =
    (level: Level): Log[Level] =>
    (message, fields) => {
      if (!take(bucket, lines, now())) {
        dropped++;
        return;
      }
      if (dropped > 0) log.warn('too many lines at once; some were left out', { lines: dropped });
      dropped = 0;
      log[level](message, fields);
    };
  return {
    ...{ error: quiet('error'), warn: quiet('warn'), notice: quiet('notice') },
    ...{ info: quiet('info'), debug: quiet('debug') },
  };
}
