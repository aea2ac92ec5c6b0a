// All web sessions at the hub: who asked to come in, whose frames are heard, and how many at once.
import { openBucket, rate, take } from '../protocol/bucket.ts';

/** What a session must do here; `Session` does. */
export interface Held {
  receive(frame: Uint8Array, ctr: number): void;
  /** A message of its data channel. */
  straight(message: Uint8Array): void;
  readonly open: boolean;
  readonly browser: string;
  restart(): void;
  rotate(): void;
  /** Says that there is something to do. */
  nudge(): void;
  close(): void;
}

export interface Bounds {
  /** Channels at once; the one idle for longest makes room. */
  channels: number;
  /** Web sessions remembered as accepted, with or without a channel. */
  accepted: number;
  /** A channel without a frame for so long is dropped, milliseconds. */
  idle: number;
  /** Requests to come in, and sessions started beyond `channels`: so many of each at once, and so many more a second. */
  burst: number;
  rate: number;
}

export const bounds: Bounds = { channels: 256, accepted: 4096, idle: 10 * 60_000, burst: 300, rate: 10 };

/** @param make starts the session of a sid. @param now milliseconds. */
export function sessions<S extends Held>(make: (sid: string) => S, b: Bounds, now: () => number) {
  const accepted = new Set<string>();
  /** Led here by root since it last connected: it asks again for every route it has. */
  const routed = new Set<string>();
  /** In the order of use: the first is idle for longest. */
  const live = new Map<string, { session: S; at: number }>();
  const asking = rate(b.burst, b.rate);
  const starting = rate(b.channels + b.burst, b.rate);
  const requests = openBucket(asking, now());
  const starts = openBucket(starting, now());

  function used(sid: string, session: S): void {
    live.delete(sid);
    live.set(sid, { session, at: now() });
  }
  function forget(sid: string): void {
    accepted.delete(sid);
    routed.delete(sid);
    drop(sid);
  }
  function drop(sid: string): void {
    live.get(sid)?.session.close();
    live.delete(sid);
  }

  return {
    /** Its session is over: its channel goes, and its frames are not heard. */
    forget,
    /** Whether a web session may come in now: false means too many asked. */
    accept(sid: string): boolean {
      if (accepted.has(sid)) {
        accepted.delete(sid);
        accepted.add(sid);
        routed.add(sid);
        return true;
      }
      if (!take(requests, asking, now())) return false;
      accepted.add(sid);
      routed.add(sid);
      for (const oldest of accepted) {
        if (accepted.size <= b.accepted) break;
        forget(oldest);
      }
      return true;
    },
    /** A frame of a session that was accepted; others are not heard. */
    receive(sid: string, frame: Uint8Array, ctr: number): boolean {
      if (!accepted.has(sid)) return false;
      // Each start writes to the disk, and root could have sessions take each other's place without end.
      if (!live.has(sid) && !take(starts, starting, now())) return false;
      const held = live.get(sid)?.session ?? make(sid);
      used(sid, held);
      for (const oldest of live.keys()) {
        if (live.size <= b.channels) break;
        drop(oldest);
      }
      held.receive(frame, ctr);
      return true;
    },
    /** A message of the data channel of a session that has a channel. */
    straight(sid: string, message: Uint8Array): void {
      const held = live.get(sid)?.session;
      if (!held) return;
      used(sid, held);
      held.straight(message);
    },
    /** Drops channels that have been idle for too long. */
    sweep(): void {
      for (const [sid, l] of live) {
        if (now() - l.at < b.idle) break;
        drop(sid);
      }
    },
    all: (): S[] => [...live.values()].map((l) => l.session),
    openCount: (): number => [...live.values()].filter((l) => l.session.open).length,
    /** Routes of root's that lead here and have no channel open. */
    pendingCount: (): number => [...routed].filter((sid) => !live.get(sid)?.session.open).length,
    /** Root is away, and its routes with it. */
    unrouted: (): void => routed.clear(),
    /** Ends what a browser has open, at once. */
    shut(browser: string): void {
      for (const l of live.values()) if (l.session.browser === browser) l.session.restart();
    },
    /** Tells whoever has a static key that there is something to do. */
    nudge(browser: string): void {
      for (const l of live.values()) if (l.session.browser === browser) l.session.nudge();
    },
    close(): void {
      for (const sid of [...live.keys()]) drop(sid);
    },
  };
}
