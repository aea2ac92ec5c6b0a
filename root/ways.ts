// Ways between browsers and hubs, whichever process holds them. A hub is at home in one process, which has its socket
// and all of its links (relay.ts). With one process that is this one; with more of them, cluster/cluster.ts finds it.
import type { RouteStatus } from '../firmware/protocol/wire.ts';
import type { End } from './ends.ts';
import type { Link, Live } from './links.ts';
import type { Session } from './records/records.ts';
import type { Relay } from './relay.ts';
import { statusOf } from './status.ts';
import type { Routed } from './table.ts';

/** A browser's way at a hub's home in another process. */
export interface FarWay {
  /** What the browser was told of its route last. */
  last(): RouteStatus | undefined;
  /** Sends a relay frame on. @returns false when it was dropped */
  frame(m: unknown): boolean;
  /** The browser has gone. */
  down(): void;
}
export type Way = Link | FarWay;
const isFar = (way: Way): way is FarWay => 'frame' in way;
/** How a way's route is, as far as that is known here. */
export const statusNow = (way: Way): RouteStatus | undefined => (isFar(way) ? way.last() : statusOf(way));

export interface Ways {
  /** Makes this process the hub's home. @throws IngleError `unavailable` while that cannot be */
  settle(hubId: string): Promise<void>;
  /** Whether it still is. */
  isSettled(hubId: string): boolean;
  /**
   * The name of the other process where an end of a hub is to be: the hub's own, or one that leads to it. null: none.
   * @param isLed a hint has led it here, and it stays if it can be served here
   */
  elsewhere(hubId: string, end: 'hub' | 'browser', isLed: boolean): Promise<string | null>;
  /**
   * A browser announced itself; an older socket of its sid gives way.
   * @throws IngleError `unavailable` while its hub's home cannot be reached
   */
  browserUp(session: Routed, end: End): Promise<{ way: Way; status: RouteStatus }>;
  /** A member of a subnet is there: its route to the hub of the subnet is asked for at once. */
  memberUp(session: Omit<Routed, 'stage'>, end: End): Promise<Way>;
  toHub(way: Way, end: End, m: unknown): boolean;
  browserDown(way: Way, end: End): void;
  /**
   * Notes a route that is on record; asks the hub when it is online.
   * @param left the hub it led to before, if that is another one
   * @returns whether it was asked
   */
  route(session: Routed, pub: string | undefined, left: string | null): Promise<boolean>;
  /** Binds a route to its hub. @throws IngleError `not_found`, `hub_offline`, `unavailable` */
  bind(hubId: string, sid: string, sealed?: string): Promise<void>;
  /** A session logged in again. */
  extend(session: Pick<Session, 'sid' | 'hub_id'>): void;
  /** A hub has new keys; `cut`: it must connect again. */
  rotated(hubId: string, cut: boolean): void;
  /** A session is over: its link and its socket go, wherever they are. */
  drop(sid: string): void;
  /** How a session is now that has a link. @throws IngleError `unavailable` */
  live(session: Pick<Session, 'sid' | 'hub_id'>): Promise<Live | undefined>;
  isOnline(hubId: string): Promise<boolean>;
  /**
   * Asks a hub for something over its socket. @returns what it acknowledged with
   * @throws IngleError `hub_offline`, `timeout`
   */
  ask(hubId: string, event: string, message: object, ms: number): Promise<unknown>;
  /** Says something to a hub, if it is there. */
  tell(hubId: string, event: string, message: object): void;
}

/** Ways of one process: every hub is at home here. */
export function openWays(relay: Relay): Ways {
  return {
    settle: async () => {},
    isSettled: () => true,
    elsewhere: async () => null,
    browserUp: async (session, end) => {
      const { link, status } = relay.browserUp(session, end);
      return { way: link, status };
    },
    memberUp: async (session, end) => relay.memberUp(session, end),
    ...local(relay),
    route: async (session, pub) => relay.route(session, pub),
    bind: relay.bind,
    extend: ({ sid }) => relay.extend(sid),
    rotated: relay.rotated,
    drop: relay.drop,
    live: async ({ sid }) => relay.live(sid),
    isOnline: async (hubId) => relay.isOnline(hubId),
    ask: relay.ask,
    tell: relay.tell,
  };
}

/** What an end does on a way it has. */
export function local(relay: Pick<Relay, 'toHub' | 'browserDown'>): Pick<Ways, 'toHub' | 'browserDown'> {
  return {
    toHub: (way, end, m) => (isFar(way) ? way.frame(m) : relay.toHub(way, end, m)),
    browserDown: (way, end) => (isFar(way) ? way.down() : relay.browserDown(way, end)),
  };
}
