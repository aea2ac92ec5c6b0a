// Waiting in order: for what may yet succeed, and for a free place.
import { IngleError } from '../protocol/errors.ts';

const passing = ['unavailable', 'rate_limited', 'timeout'];

/** Whether the same thing may yet succeed. */
export function isPassing(e: unknown): boolean {
  return e instanceof IngleError && passing.includes(e.code);
}

/**
 * Tries again for `most` milliseconds: after a pause that grows, or at once when woken.
 * @param isWanted whether anybody still waits for it
 */
export function patience(most: number, isWanted = () => true) {
  const waiting = new Set<() => void>();
  return {
    /** @throws IngleError the last failure, or the first that will not pass. */
    async patiently<T>(work: () => Promise<T>): Promise<T> {
      const until = Date.now() + most;
      for (let pause = 250; ; pause = Math.min(5000, pause * 2)) {
        try {
          return await work();
        } catch (e) {
          if (!isPassing(e) || !isWanted() || Date.now() > until) throw e;
          await new Promise<void>((resolve) => {
            const timer = setTimeout(go, pause);
            function go(): void {
              clearTimeout(timer);
              waiting.delete(go);
              resolve();
            }
            waiting.add(go);
          });
          if (!isWanted()) throw e;
        }
      }
    },
    /** Something that was missing is there: what waits tries again now. */
    wake(): void {
      for (const go of [...waiting]) go();
    },
  };
}

/** Lets `most` at a time pass for each name, first come first served; what it gives is called at the end. */
export function queueOf(most: number): (name: string) => Promise<() => void> {
  const lines = new Map<string, { busy: number; waiting: (() => void)[] }>();
  return (name) => {
    const line = lines.get(name) ?? { busy: 0, waiting: [] };
    lines.set(name, line);
    const release = () => {
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.busy === 0) lines.delete(name);
    };
    if (line.busy < most) {
      line.busy++;
      return Promise.resolve(release);
    }
    return new Promise((resolve) => line.waiting.push(() => resolve(release)));
  };
}
