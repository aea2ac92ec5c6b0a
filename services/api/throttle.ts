// When tiles are told anew: at most so often while their person looks, and to one who does not look when they look again.

/** The shortest time between two tellings of one person's tiles, milliseconds. */
const GLANCE_MS = 1500;

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
  const soon = new Map<string, NodeJS.Timeout>();
  const unseen = new Set<string>();

  function tell(owner_id: string): void {
    soon.delete(owner_id);
    unseen.delete(owner_id);
    o.tell(owner_id);
  }

  return {
    stirred(owner_id) {
      if (!o.isSeen(owner_id)) unseen.add(owner_id);
      else if (!soon.has(owner_id))
        soon.set(
          owner_id,
          setTimeout(() => tell(owner_id), GLANCE_MS),
        );
    },
    looked(owner_id) {
      if (unseen.has(owner_id)) tell(owner_id);
    },
    close() {
      for (const timer of soon.values()) clearTimeout(timer);
    },
  };
}
