// When tiles are told anew: at once and then at most so often while their person looks, and to one who does not look when
// they look again.

/** The shortest time between two tellings of one person's tiles, milliseconds. */
const GLANCE_MS = 1500;
/** For this long what changes together is gathered, milliseconds. */
const TOGETHER_MS = 30;

export interface Throttle {
  /** Somebody's tiles may tell something else. */
  stirred(owner_id: string): void;
  /** Somebody begins to look. */
  looked(owner_id: string): void;
  close(): void;
}

export function openThrottle(o: {
  /** Whether somebody looks now. */
  isSeen: (owner_id: string) => boolean;
  tell: (owner_id: string) => void;
}): Throttle {
  /** Of each who is about to be told, or was told lately. */
  const timers = new Map<string, NodeJS.Timeout>();
  /** Those who look, and have something to be told. */
  const due = new Set<string>();
  const unseen = new Set<string>();

  function after(ms: number, owner_id: string): void {
    clearTimeout(timers.get(owner_id));
    timers.set(
      owner_id,
      setTimeout(() => {
        timers.delete(owner_id);
        if (!due.delete(owner_id)) return;
        if (o.isSeen(owner_id)) tell(owner_id);
        else unseen.add(owner_id);
      }, ms),
    );
  }
  function tell(owner_id: string): void {
    due.delete(owner_id);
    unseen.delete(owner_id);
    after(GLANCE_MS, owner_id);
    o.tell(owner_id);
  }

  return {
    stirred(owner_id) {
      if (!o.isSeen(owner_id)) return void unseen.add(owner_id);
      due.add(owner_id);
      if (!timers.has(owner_id)) after(TOGETHER_MS, owner_id);
    },
    looked(owner_id) {
      if (unseen.has(owner_id) || due.has(owner_id)) tell(owner_id);
    },
    close() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}
