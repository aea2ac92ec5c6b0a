// Housekeeping that runs when there is something to keep: one timer, set to the first thing that falls due.

export interface Sweeps {
  /** It is to run once more, at this time or before, milliseconds since 1970. */
  by(at: number): void;
  stop(): void;
}

/** The longest a timer may wait (2^31 ms), less a day. */
const LONGEST = 23 * 86_400_000;

/**
 * @param work what is to be done
 * @param next when it is due by itself, milliseconds; undefined: never
 */
export function openSweeps(o: {
  work: () => Promise<void>;
  next: () => Promise<number | undefined>;
  failed: (cause: unknown) => void;
}): Sweeps {
  let timer: NodeJS.Timeout | undefined;
  let due = Number.POSITIVE_INFINITY;
  let isOver = false;

  function by(at: number): void {
    if (isOver || at >= due) return;
    due = at;
    clearTimeout(timer);
    timer = setTimeout(run, Math.min(LONGEST, Math.max(0, at - Date.now())));
    timer.unref();
  }
  async function run(): Promise<void> {
    due = Number.POSITIVE_INFINITY;
    try {
      await o.work();
      const at = await o.next();
      // What is due and could not be done waits for what hinders it; that says so by itself.
      if (at !== undefined && at > Date.now()) by(at);
    } catch (cause) {
      o.failed(cause);
    }
  }
  void o.next().then((at) => at !== undefined && by(at), o.failed);
  return {
    by,
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
