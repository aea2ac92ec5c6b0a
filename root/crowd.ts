// Who is connected: how many of each client, and how many nobody has signed in on.

/** A connection as it is counted here. */
export interface Guest {
  /** The client it came from (`clientKey`). */
  key: string;
  /** Cuts the connection, as if its network had gone. */
  cut(): void;
}

/** Connections nobody has signed in on: of one client, and of all (the oldest gives way to a new one). */
const STRANGERS_OF_KEY = 64;
const STRANGERS = 2048;
/** Connections of one client at once: a household, or a provider's shared address. */
const OF_KEY = 1024;

export function openCrowd() {
  const strangers = new Set<Guest>();
  const keys = new Map<string, { all: number; strangers: number }>();
  return {
    /** Whether a client has as many connections as it may. */
    isFull(key: string): boolean {
      const k = keys.get(key);
      return k !== undefined && (k.all >= OF_KEY || k.strangers >= STRANGERS_OF_KEY);
    },
    came(g: Guest): void {
      strangers.add(g);
      const k = keys.get(g.key);
      if (k) {
        k.all++;
        k.strangers++;
      } else keys.set(g.key, { all: 1, strangers: 1 });
      if (strangers.size > STRANGERS)
        for (const oldest of strangers) {
          oldest.cut();
          break;
        }
    },
    /** Somebody has signed in on it. */
    known(g: Guest): void {
      if (strangers.delete(g)) keys.get(g.key)!.strangers--;
    },
    left(g: Guest): void {
      const k = keys.get(g.key)!;
      if (strangers.delete(g)) k.strangers--;
      if (--k.all === 0) keys.delete(g.key);
    },
    strangers: (): number => strangers.size,
  };
}
