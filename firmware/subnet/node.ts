// A member of the subnet as the hub that leads it sees it: what became of it, and when. Pure.
import type { Table } from '../system/machine.ts';

/**
 * `joined`: let in, and not heard yet. `here`: heard. `gone`: silent for too long; it is expected back. `left`: no
 * member any more.
 */
export type NodeState = 'joined' | 'here' | 'gone' | 'left';
export type NodeEvent = 'admitted' | 'heard' | 'missed' | 'parted';

/** What is not here changes nothing: who left is not heard, and who never spoke or is gone is not missed again. */
export const nodeTable: Table<NodeState, NodeEvent> = {
  joined: { admitted: 'joined', heard: 'here', missed: 'gone', parted: 'left' },
  here: { admitted: 'joined', heard: 'here', missed: 'gone', parted: 'left' },
  gone: { admitted: 'joined', heard: 'here', parted: 'left' },
  left: { admitted: 'joined' },
};

/** What a member says of itself when it registers. */
export interface Said {
  name: string;
  version: string;
  caps: string[];
}

/** A member as it is kept. Times are Unix seconds. */
export interface Node extends Said {
  hub_id: string;
  /** Base64url: the key its channel is known by, its identity, and what only this membership has. */
  static_pub: string;
  sign_pub: string;
  bond: string;
  state: NodeState;
  /** When it came into this state, and when it was last heard; 0: never. */
  since: number;
  heard_at: number;
  /** Root does not know yet that it was let go. */
  untold: boolean;
}

/** The node after `event` at `now`; the same object where nothing changes that is worth keeping. */
export function after(n: Node, event: NodeEvent, now: number): Node {
  const state = nodeTable[n.state][event];
  if (state === undefined || (state === n.state && event !== 'admitted')) return n;
  return { ...n, state, since: now };
}

/** Heartbeats a member may miss. */
export const MISSES = 3;

/** Which members have been silent for too long, by time that passed while this hub could hear. */
export interface Watch {
  /** A member was heard, or came to be watched. */
  heard(hubId: string): void;
  forget(hubId: string): void;
  /**
   * Looks again; to be called every `look` milliseconds.
   * @param listening whether members could be heard since the last look
   * @returns those that are missed now
   */
  missed(listening: boolean): string[];
}

/**
 * Time in which this hub slept, was stopped or had no way to root is not counted, so it does not call everybody gone
 * when it comes back: they have as long as ever to be heard.
 * @param now milliseconds of a clock that nobody sets
 */
export function openWatch(o: { interval: number; look: number }, now: () => number): Watch {
  const silent = new Map<string, number>();
  let looked = now();
  /** Heard after the last look: time before that is not theirs. */
  const fresh = new Map<string, number>();
  return {
    heard(hubId) {
      silent.set(hubId, 0);
      fresh.set(hubId, now());
    },
    forget(hubId) {
      silent.delete(hubId);
      fresh.delete(hubId);
    },
    missed(listening) {
      const t = now();
      const passed = t - looked;
      looked = t;
      const slept = passed > 3 * o.look;
      const missed = [];
      for (const [id, before] of silent) {
        const begun = fresh.get(id);
        const counted = !listening || slept ? 0 : Math.max(0, begun === undefined ? passed : t - begun);
        silent.set(id, before + counted);
        if (before + counted > MISSES * o.interval) missed.push(id);
      }
      fresh.clear();
      for (const id of missed) silent.delete(id);
      return missed;
    },
  };
}
