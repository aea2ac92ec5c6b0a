// Work that must not overlap: one piece after the other, in the order it was asked for.

export interface Queue {
  /** Pieces that have not ended yet, the running one included. */
  readonly size: number;
  /**
   * Runs `work` once everything added before it has ended, well or not.
   * @returns what `work` gives or throws; those who wait for it hear of it before the next piece begins.
   */
  add<T>(work: () => T | Promise<T>): Promise<T>;
  /** Resolves when nothing is left, what is added meanwhile included. Never rejects. */
  idle(): Promise<void>;
}

export function openQueue(): Queue {
  let tail: Promise<void> = Promise.resolve();
  let size = 0;
  return {
    get size() {
      return size;
    },
    add<T>(work: () => T | Promise<T>) {
      size++;
      // A promise of its own: nothing here has looked at it, so a failure nobody handles is not hidden.
      return new Promise<T>((resolve, reject) => {
        tail = tail.then(work).then(
          (value) => {
            size--;
            resolve(value);
          },
          (e) => {
            size--;
            reject(e);
          },
        );
      });
    },
    async idle() {
      while (size > 0) await tail;
    },
  };
}
