// Hears what one skill sends, within what one may send; who sends more is unheard for a while.
import type { Bus } from '../system/bus.ts';
import type { Log } from '../system/log.ts';
import { allowance } from './allowance.ts';
import { skill1 } from './contract.ts';

const MUTED_MS = 10_000;

export interface EarOptions {
  id: string;
  /** Unique name on the bus: what is asked of this process never reaches the next. */
  owner: string;
  bus: Bus;
  log: Log;
  /** Nothing it sends is heard for a while: it is too much, or not what it may send. */
  onMuted(): void;
  /** It is heard again; owners are to be attached anew. */
  onHeard(): Promise<void>;
}

/** The bodies of its signals. */
interface Signals {
  Update(body: [owner_id: string, doc: string, update: Uint8Array]): void;
  DueChanged(body: [at: number]): void;
  Said(body: [owner_id: string, topic: string, payload: string]): void;
}

export function openEar(o: EarOptions, on: Signals) {
  const { id, bus, log } = o;
  let allowed = allowance();
  let unlisten: (() => Promise<void>) | undefined;
  let ended = false;

  /** Matched by its own bus connection, so a skill that floods is unheard at the daemon. */
  async function hear(): Promise<void> {
    const from = { sender: o.owner, path: skill1.path, interface: skill1.name };
    const stop = await bus.match(from, ({ member, body }) => {
      // What no host of ours sends is as much as too much.
      if (!Object.hasOwn(on, member)) return mute();
      on[member as keyof Signals](body as never);
    });
    if (ended) await stop();
    else unlisten = stop;
  }

  function mute(): void {
    const stop = unlisten;
    if (!stop) return;
    unlisten = undefined;
    log.warn('a skill is unheard for a while', { skill: id, ms: MUTED_MS });
    o.onMuted();
    stop().catch(() => {});
    setTimeout(() => {
      if (ended) return;
      allowed = allowance();
      // Nor does what began while it was unheard count.
      o.onMuted();
      hear()
        .then(o.onHeard)
        .catch((cause) => log.warn('a skill does not come back', { skill: id, cause }));
    }, MUTED_MS).unref();
  }

  return {
    /** From now on. */
    hear,
    mute,
    /** Whether it may send so many bytes more; else it is muted. */
    spend(bytes: number): boolean {
      const may = allowed.spend(bytes);
      if (!may) mute();
      return may;
    },
    get ended(): boolean {
      return ended;
    },
    /** Whether what it sends comes here now. */
    get hears(): boolean {
      return unlisten !== undefined;
    },
    /** For good. */
    end(): void {
      ended = true;
      unlisten?.().catch(() => {});
      unlisten = undefined;
    },
  };
}
