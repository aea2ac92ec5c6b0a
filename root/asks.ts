// Questions to hubs over their sockets, each with a bound of time.
import { IngleError } from '../firmware/protocol/errors.ts';
import type { End } from './ends.ts';

const offline = () => new IngleError('hub_offline', 'The hub has no open connection to root.');

export function openAsks() {
  const open = new Map<End, Set<(e: Error) => void>>();
  return {
    /** @throws IngleError `hub_offline` where the end is not there or goes meanwhile, `timeout` */
    ask(end: End | undefined, event: string, message: object, ms: number): Promise<unknown> {
      if (!end) return Promise.reject(offline());
      return new Promise((resolve, reject) => {
        const mine = open.get(end) ?? new Set();
        open.set(end, mine);
        const over = () => {
          clearTimeout(timer);
          mine.delete(fail);
          if (mine.size === 0 && open.get(end) === mine) open.delete(end);
        };
        const fail = (e: Error) => {
          over();
          reject(e);
        };
        const timer = setTimeout(
          () => fail(new IngleError('timeout', 'The hub took too long to answer.')),
          ms,
        );
        mine.add(fail);
        const heard = (said: unknown) => {
          // uWebSockets.js takes the bytes back after this turn.
          const { bytes } = Object(said) as { bytes?: unknown };
          resolve(
            bytes instanceof Uint8Array ? { ...(said as object), bytes: Uint8Array.from(bytes) } : said,
          );
          over();
        };
        // A socket then forgets what it is not answered in time.
        if (end.timeout)
          end.timeout(ms).emit(event, message, (late: unknown, said: unknown) => late || heard(said));
        else end.emit(event, message, heard);
      });
    },
    /** Ends that have something to answer. */
    waiting: () => open.size,
    /** An end has gone, and what it was asked stays without an answer. */
    gone(end: End): void {
      for (const fail of [...(open.get(end) ?? [])]) fail(offline());
    },
  };
}
