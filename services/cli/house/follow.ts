// Hearing a bus whose daemon may die, or be ended while one of our calls is on its way.
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Calls `listen` on the bus and again on each successor of its daemon, as a successor knows none of our matches. Settles
 * when `over` is aborted; a bus that is lost at any moment only means the next try.
 * @param waitMs milliseconds before a next try
 */
export async function follow<B extends { readonly closed: Promise<void> }>(
  connection: () => Promise<B>,
  listen: (bus: B) => Promise<void>,
  over: AbortSignal,
  waitMs = 500,
): Promise<void> {
  const ended = new Promise<void>((done) => over.addEventListener('abort', () => done(), { once: true }));
  while (!over.aborted) {
    try {
      const bus = await connection();
      await listen(bus);
      await Promise.race([bus.closed, ended]);
    } catch {
      // The daemon went away meanwhile.
    }
    await wait(waitMs, undefined, { signal: over, ref: false }).catch(() => {});
  }
}
