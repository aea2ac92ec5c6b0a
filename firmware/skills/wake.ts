// Waking skills that sleep: one call at a time each, and all who need it wait for the same arrival.
import { IngleError } from '../protocol/errors.ts';

export interface Waker {
  /**
   * Settles when the skill is there.
   * @throws IngleError `unavailable` when it does not come
   */
  wake(id: string): Promise<void>;
  isWaking(id: string): boolean;
  /** The skill is there now, for every owner. */
  there(id: string): void;
}

/** @param cause of its not coming; what the skill's own host says of it is told as it is */
export const sleeps = (id: string, cause?: unknown) =>
  cause instanceof IngleError && cause.code === 'unavailable' && !cause.details?.['dbus']
    ? cause
    : new IngleError('unavailable', `The skill "${id}" does not run now. Try again in a moment.`);

/**
 * @param call any call of the skill's bus name, which starts it
 * @param failed is told when it did not come within `ms` milliseconds
 */
export function waker(
  call: (id: string) => Promise<unknown>,
  failed: (id: string, cause: Error) => void,
  ms: number,
): Waker {
  const waking = new Map<string, { done: Promise<void>; there: () => void }>();

  function begin(id: string): Promise<void> {
    const done = new Promise<void>((resolve, reject) => {
      setTimeout(() => reject(new IngleError('timeout', 'It does not come.')), ms).unref();
      waking.set(id, { done: Promise.resolve(), there: resolve });
      call(id).catch(reject);
    })
      .catch((cause: Error) => {
        failed(id, cause);
        throw sleeps(id, cause);
      })
      .finally(() => waking.delete(id));
    waking.get(id)!.done = done;
    return done;
  }

  return {
    wake: (id) => waking.get(id)?.done ?? begin(id),
    isWaking: (id) => waking.has(id),
    there: (id) => waking.get(id)?.there(),
  };
}
