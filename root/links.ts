// What root holds in memory of each browser and each hub. Kept small: it is the cost of a connected browser.
import { elapsed, rate, refill } from '../firmware/protocol/bucket.ts';
import type { Stage } from '../firmware/protocol/wire.ts';
import type { End } from './ends.ts';

/** How a session is now: its stage, and whether its browser has a socket. */
export interface Live {
  stage: Stage;
  connected: boolean;
}

/** A sid that has a socket, a route, or both. */
export interface Link {
  readonly sid: string;
  owner_id: string;
  subnet_id: string;
  hub: HubLine;
  stage: Stage;
  /** A route is recorded: it waits, or is bound. */
  routed: boolean;
  bound: boolean;
  generation: number;
  /** A browser's socket, or a member's. */
  browser: End | null;
  /** A hub of the subnet is at this end: there is no session, and the route lasts as long as its socket. */
  member: boolean;
  browser_pub: string | undefined;
  /** Of the hub's insecure debug mode, for the browser; nothing here can read it. */
  sealed: string | undefined;
  /** Last counters: to the hub, to the browser. They never go back while the sid lives. */
  up: number;
  down: number;
  /** Frames have passed since the route was bound: 1 = to the hub, 2 = to the browser. */
  passed: number;
  /** Bytes the sid may still send now, each way, and when that was counted (ms). */
  allowUp: number;
  allowDown: number;
  counted: number;
  /** Round trip browser-root, ms; null until measured. */
  lag: number | null;
  /** A status is under way and not yet acknowledged. */
  asked: boolean;
}

/** A hub that is connected or has links. `online` from hub.online on. */
export interface HubLine {
  readonly hub_id: string;
  socket: End | null;
  online: boolean;
  links: Set<Link>;
  lag: number | null;
  asked: boolean;
}

/** Bytes a second one sid may send in one direction, and how much at once. */
const ofSid = rate(16 * 1024 * 1024, 8 * 1024 * 1024);
/** A small frame costs as much work as this many bytes. */
const LEAST = 1024;

export function newLink(
  s: { sid: string; owner_id: string; subnet_id: string; stage: Stage },
  hub: HubLine,
): Link {
  return {
    sid: s.sid,
    owner_id: s.owner_id,
    subnet_id: s.subnet_id,
    hub,
    stage: s.stage,
    routed: false,
    bound: false,
    generation: 0,
    browser: null,
    member: false,
    browser_pub: undefined,
    sealed: undefined,
    up: -1,
    down: -1,
    passed: 0,
    allowUp: ofSid.burst,
    allowDown: ofSid.burst,
    counted: 0,
    lag: null,
    asked: false,
  };
}

export function newHub(hub_id: string): HubLine {
  return { hub_id, socket: null, online: false, links: new Set(), lag: null, asked: false };
}

/** Whether the sid may send `bytes` more in this direction now. */
export function allow(link: Link, direction: 'up' | 'down', bytes: number): boolean {
  const now = Date.now();
  const ms = elapsed(link.counted, now);
  link.allowUp = refill(link.allowUp, ofSid, ms);
  link.allowDown = refill(link.allowDown, ofSid, ms);
  link.counted = now;
  const cost = Math.max(bytes, LEAST);
  if (direction === 'up') {
    if (link.allowUp < cost) return false;
    link.allowUp -= cost;
  } else {
    if (link.allowDown < cost) return false;
    link.allowDown -= cost;
  }
  return true;
}
