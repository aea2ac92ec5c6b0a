// Who is connected: how many of each client, of its network and of each kind, how many nobody has signed in on, and who
// stays out.
import type { Kind } from './budget.ts';
import { networkKey } from './limit.ts';

/** A connection as it is counted here. */
export interface Guest {
  /** The client it came from (`clientKey`). */
  key: string;
  /** A stranger until it is known, and once it has left. */
  kind: Kind;
  /** Cuts the connection, as if its network had gone. */
  cut(): void;
}

/** Connections nobody has signed in on, of all: the oldest gives way to a new one. */
const STRANGERS = 2048;
/**
 * Connections at once, and those of them nobody has signed in on. A client is a household, or a provider's shared
 * address; a network (a /24, a /48) can push out no more than an eighth of all strangers.
 */
const ofClient = { all: 1024, strangers: 64 };
const ofNetwork = { all: 8192, strangers: 256 };

type Count = typeof ofClient;

/** Counts by a key, and none kept of what has gone. */
function openCounts(most: Count) {
  const counts = new Map<string, Count>();
  return {
    isFull(key: string): boolean {
      const c = counts.get(key);
      return c !== undefined && (c.all >= most.all || c.strangers >= most.strangers);
    },
    add(key: string, all: number, strangers: number): void {
      const c = counts.get(key);
      if (!c) counts.set(key, { all, strangers });
      else {
        c.all += all;
        c.strangers += strangers;
        if (c.all === 0) counts.delete(key);
      }
    },
  };
}

export function openCrowd() {
  const strangers = new Set<Guest>();
  const kinds = { browser: 0, hub: 0 };
  const clients = openCounts(ofClient);
  const networks = openCounts(ofNetwork);
  function add(key: string, all: number, strangers: number): void {
    clients.add(key, all, strangers);
    networks.add(networkKey(key), all, strangers);
  }
  return {
    /** Whether a client, or its network, has as many connections as it may. */
    isFull: (key: string): boolean => clients.isFull(key) || networks.isFull(networkKey(key)),
    came(g: Guest): void {
      strangers.add(g);
      add(g.key, 1, 1);
      if (strangers.size > STRANGERS)
        for (const oldest of strangers) {
          oldest.cut();
          break;
        }
    },
    /** Somebody has signed in on it. */
    known(g: Guest, kind: keyof typeof kinds): void {
      if (g.kind !== 'stranger') kinds[g.kind]--;
      else if (strangers.delete(g)) add(g.key, 0, -1);
      // It has left meanwhile.
      else return;
      kinds[kind]++;
      g.kind = kind;
    },
    left(g: Guest): void {
      add(g.key, -1, strangers.delete(g) ? -1 : 0);
      if (g.kind !== 'stranger') kinds[g.kind]--;
      g.kind = 'stranger';
    },
    counts: () => ({ ...kinds, stranger: strangers.size }),
  };
}

/** Who was closed for a flood stays out for so long, milliseconds. */
const AWAY = 10_000;

/** Those closed for a flood, by name, and until when they stay out. */
export function openAway() {
  const away = new Map<string, number>();
  return {
    shut: (name: string): void => void away.set(name, Date.now() + AWAY),
    seconds: (name: string): number => Math.max(0, Math.ceil(((away.get(name) ?? 0) - Date.now()) / 1000)),
    sweep(): void {
      for (const [name, until] of away) if (until < Date.now()) away.delete(name);
    },
  };
}
