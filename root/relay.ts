// Presence, routes and the relay: who is connected, which sid leads to which hub, and the frames between them.
import type { Socket } from 'socket.io';
import { IngleError } from '../firmware/protocol/errors.ts';
import { MAX_FRAME } from '../firmware/protocol/limits.ts';
import { next, type StageEvent, stageTable } from '../firmware/protocol/stage.ts';
import type { RouteStatus, Stage } from '../firmware/protocol/wire.ts';
import type { Backlog } from './backlog.ts';
import { seconds } from './clock.ts';
import { sendFrame } from './frames.ts';
import { allow, type HubLine, type Link, newHub, newLink } from './links.ts';
import { log, short } from './log.ts';
import type { Records } from './records/records.ts';
import { measure, statusOf, tell } from './status.ts';

export type Relay = Awaited<ReturnType<typeof openRelay>>;

/** What a relay needs to know of a session. */
type Routed = {
  sid: string;
  owner_id: string | null;
  subnet_id: string | null;
  hub_id: string | null;
  stage: Stage;
};

/** Why frames and events were dropped, counted since the last report. */
type Drops = 'malformed' | 'no_route' | 'counter' | 'rate' | 'slow' | 'unknown';

/** Opens the relay with the routes on record, all waiting: sockets did not outlive the process before. */
export async function openRelay(records: Pick<Records, 'routes' | 'sessions'>, backlog: Backlog) {
  const links = new Map<string, Link>();
  const hubs = new Map<string, HubLine>();
  /** Links whose stage is not yet on record. */
  const dirty = new Set<Link>();
  let drops: Partial<Record<Drops, number>> = {};

  for (const r of await records.routes.restore(seconds())) {
    const link = linkOf(r);
    link.routed = true;
    link.generation = r.generation;
    link.browser_pub = r.pubkey ?? undefined;
  }

  function hubOf(hubId: string): HubLine {
    let hub = hubs.get(hubId);
    if (!hub) {
      hub = newHub(hubId);
      hubs.set(hubId, hub);
    }
    return hub;
  }
  /** The link of a session; a session that leads to another hub than before moves its link there. */
  function linkOf(s: Routed): Link {
    const hub = hubOf(s.hub_id!);
    let link = links.get(s.sid);
    if (!link) {
      link = newLink({ sid: s.sid, owner_id: s.owner_id!, subnet_id: s.subnet_id!, stage: s.stage }, hub);
      links.set(s.sid, link);
      hub.links.add(link);
    } else if (link.hub !== hub) {
      unbind(link);
      link.hub.links.delete(link);
      forgetHub(link.hub);
      link.hub = hub;
      link.generation++;
      hub.links.add(link);
    }
    link.owner_id = s.owner_id!;
    link.subnet_id = s.subnet_id!;
    return link;
  }
  function forgetHub(hub: HubLine): void {
    if (hub.socket === null && hub.links.size === 0) hubs.delete(hub.hub_id);
  }
  function forgetLink(link: Link): void {
    links.delete(link.sid);
    dirty.delete(link);
    link.hub.links.delete(link);
    forgetHub(link.hub);
  }
  /** The one place a live stage is written. */
  function enter(link: Link, event: StageEvent): void {
    const stage = next(stageTable, link.stage, event);
    if (stage === null || stage === link.stage) return;
    log('debug', `stage ${link.stage} -> ${stage}`, { session: short(link.sid), event });
    link.stage = stage;
    dirty.add(link);
  }
  function unbind(link: Link): void {
    link.bound = false;
    link.sealed = undefined;
    link.passed = 0;
    enter(link, 'hub_offline');
  }
  function drop(why: Drops): false {
    drops[why] = (drops[why] ?? 0) + 1;
    return false;
  }
  function request(link: Link): void {
    const { sid, owner_id, subnet_id, browser_pub } = link;
    link.hub.socket?.emit('pairing.request', { sid, owner_id, subnet_id, browser_pub });
  }
  function passed(link: Link, way: number): void {
    if ((link.passed & way) !== 0) return;
    link.passed |= way;
    if (link.passed === 3) enter(link, 'up');
  }

  function hubDown(hub: HubLine, socket: Socket): void {
    if (hub.socket !== socket) return;
    hub.socket = null;
    hub.online = false;
    hub.lag = null;
    hub.asked = false;
    for (const link of hub.links) {
      unbind(link);
      tell(link);
    }
    forgetHub(hub);
  }

  return {
    /** The live stage of a sid that has a link. */
    stageOf: (sid: string): Stage | undefined => links.get(sid)?.stage,
    isOnline: (hubId: string): boolean => hubs.get(hubId)?.online ?? false,
    isConnected: (sid: string): boolean => (links.get(sid)?.browser ?? null) !== null,
    /** Sids of the sessions that have a socket. */
    connected: () => [...links.values()].filter((l) => l.browser !== null && !l.member).map((l) => l.sid),

    /** Notes the route of a session; asks the hub when it is online. @returns whether it was asked */
    route(session: Routed, pub: string | undefined): boolean {
      const link = linkOf(session);
      link.routed = true;
      if (pub !== undefined) link.browser_pub = pub;
      if (link.hub.online) request(link);
      tell(link);
      return link.hub.online;
    },

    /**
     * Binds a route to its hub; durable once it settles. Its generation is on record before anybody is told that it is
     * bound, so a root that was restarted goes on above it; a browser forgets the last one with each new socket.
     * @throws IngleError `not_found`, `hub_offline`
     */
    async bind(hubId: string, sid: string, sealed?: string): Promise<void> {
      const link = links.get(sid);
      if (!link?.routed || link.hub.hub_id !== hubId)
        throw new IngleError('not_found', 'No browser waits for this hub under that sid.');
      if (!link.hub.online) throw new IngleError('hub_offline', 'The hub has no open connection to root.');
      const socket = link.hub.socket;
      const generation = ++link.generation;
      await records.routes.bind(sid, generation, seconds());
      // Gone, or bound anew, while it was written.
      if (links.get(sid) !== link || link.hub.socket !== socket || link.generation !== generation) return;
      link.bound = true;
      link.sealed = sealed;
      link.passed = 0;
      enter(link, 'accept');
      tell(link);
    },

    /** Logged in again: the stage stays where it is. */
    extend(sid: string): void {
      const link = links.get(sid);
      if (link) enter(link, 'login');
    },

    /** New keys: every bound route is asked for again, and a new identity key must connect again. */
    rotated(hubId: string, cut: boolean): void {
      const hub = hubs.get(hubId);
      if (!hub) return;
      // Not a disconnect in Socket.IO's sense, after which a client stays away.
      if (cut) hub.socket?.conn.close();
      else if (hub.online) for (const link of hub.links) if (link.routed) request(link);
    },

    /** A session is over: its link and its socket go. */
    drop(sid: string): void {
      const link = links.get(sid);
      if (!link) return;
      const socket = link.browser;
      link.browser = null;
      link.routed = false;
      link.bound = false;
      forgetLink(link);
      socket?.disconnect(true);
    },

    /** A hub connected; an older socket of it gives way. */
    hubUp(hubId: string, socket: Socket): HubLine {
      const hub = hubOf(hubId);
      const old = hub.socket;
      if (old) {
        hubDown(hub, old);
        old.disconnect(true);
      }
      hub.socket = socket;
      hubs.set(hubId, hub);
      return hub;
    },
    /** hub.online: the hub is there, waiting routes are asked for again. */
    hubOnline(hub: HubLine): void {
      hub.online = true;
      for (const link of hub.links) {
        if (link.routed) request(link);
        tell(link);
      }
      measure(hub);
    },
    hubDown,
    /** A browser announced itself; an older socket of the sid gives way. */
    browserUp(session: Routed, socket: Socket): { link: Link; status: RouteStatus } {
      const link = linkOf(session);
      const old = link.browser;
      link.browser = socket;
      link.asked = false;
      link.lag = null;
      if (old && old !== socket) old.disconnect(true);
      tell(link);
      if (link.hub.lag === null) measure(link.hub);
      return { link, status: statusOf(link) };
    },
    /** A member of a subnet is there: its route to the hub of the subnet is asked for at once. */
    memberUp(session: Omit<Routed, 'stage'>, socket: Socket): Link {
      const routed = { ...session, stage: 'AUTH' as const };
      const link = linkOf(routed);
      link.member = true;
      link.routed = true;
      this.browserUp(routed, socket);
      if (link.hub.online) request(link);
      return link;
    },
    browserDown(link: Link, socket: Socket): void {
      if (link.browser !== socket) return;
      link.browser = null;
      link.asked = false;
      link.passed = 0;
      enter(link, 'browser_offline');
      if (link.member || !link.routed) forgetLink(link);
    },

    /** A frame from a browser. `link` is what its socket stands for, so a foreign sid leads nowhere. */
    toHub(link: Link, socket: Socket, m: unknown): boolean {
      const { sid, frame, ctr } = (m ?? {}) as { sid: unknown; frame: unknown; ctr: unknown };
      if (sid !== link.sid || !isFrame(frame) || !isCounter(ctr)) return drop('malformed');
      if (!link.bound || link.browser !== socket) return drop('no_route');
      if (ctr <= link.up) return drop('counter');
      if (!allow(link, 'up', frame.length)) return drop('rate');
      link.up = ctr;
      if (!sendFrame(backlog, link.hub.socket!, 'hub', link.sid, ctr, frame)) return drop('slow');
      if (link.passed !== 3) passed(link, 1);
      return true;
    },
    /** A frame from a hub, to a browser whose route is bound to that hub's present socket. */
    toBrowser(hub: HubLine, socket: Socket, m: unknown): boolean {
      const { sid, frame, ctr } = (m ?? {}) as { sid: unknown; frame: unknown; ctr: unknown };
      if (typeof sid !== 'string' || !isFrame(frame) || !isCounter(ctr)) return drop('malformed');
      const link = links.get(sid);
      if (!link?.bound || link.hub !== hub || hub.socket !== socket || !link.browser) return drop('no_route');
      if (ctr <= link.down) return drop('counter');
      if (!allow(link, 'down', frame.length)) return drop('rate');
      link.down = ctr;
      if (!sendFrame(backlog, link.browser, 'browser', sid, ctr, frame)) return drop('slow');
      if (link.passed !== 3) passed(link, 2);
      return true;
    },
    unknown: () => drop('unknown'),

    /** Measures lag on hubs somebody watches, and tells their browsers. */
    beat(): void {
      for (const hub of hubs.values()) {
        for (const link of hub.links) if (link.browser) tell(link);
        if (hub.online) measure(hub);
      }
    },
    /** Puts changed stages on record. */
    async flush(): Promise<void> {
      if (dirty.size === 0) return;
      const changed = [...dirty].map(({ sid, stage }) => ({ sid, stage }));
      dirty.clear();
      await records.sessions.keepStages(changed);
    },
    /** What was dropped since the last call, by reason. */
    takeDrops() {
      const taken = drops;
      drops = {};
      return taken;
    },
  };
}

function isFrame(frame: unknown): frame is Uint8Array {
  return frame instanceof Uint8Array && frame.length > 0 && frame.length <= MAX_FRAME;
}
function isCounter(ctr: unknown): ctr is number {
  return typeof ctr === 'number' && Number.isSafeInteger(ctr) && ctr >= 0;
}
