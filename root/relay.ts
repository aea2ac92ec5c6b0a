// Presence, routes and the relay: who is connected, which sid leads to which hub, and the frames between them.
import type { Socket } from 'socket.io';
import { IngleError } from '../firmware/protocol/errors.ts';
import type { RouteStatus, Stage } from '../firmware/protocol/wire.ts';
import type { Backlog } from './backlog.ts';
import { seconds } from './clock.ts';
import { openForward } from './forward.ts';
import type { HubLine, Link } from './links.ts';
import type { Records } from './records/records.ts';
import { openStages, type Stages } from './stages.ts';
import { measure, statusOf, tell } from './status.ts';
import { openTable, type Routed, type Table } from './table.ts';

export type Relay = Awaited<ReturnType<typeof openRelay>>;

/** Opens the relay with the routes on record, all waiting: sockets did not outlive the process before. */
export async function openRelay(records: Pick<Records, 'routes' | 'sessions'>, backlog: Backlog) {
  const stages = openStages(records);
  const table = openTable(stages);
  for (const r of await records.routes.restore(seconds())) {
    const link = table.linkOf(r);
    link.routed = true;
    link.generation = r.generation;
    link.browser_pub = r.pubkey ?? undefined;
  }
  return {
    /** The live stage of a sid that has a link. */
    stageOf: (sid: string): Stage | undefined => table.link(sid)?.stage,
    isOnline: (hubId: string): boolean => table.hub(hubId)?.online ?? false,
    /** The socket of a hub that is there. */
    hubSocket(hubId: string): Socket | undefined {
      const hub = table.hub(hubId);
      return (hub?.online && hub.socket) || undefined;
    },
    isConnected: (sid: string): boolean => (table.link(sid)?.browser ?? null) !== null,
    /** Sids of the sessions that have a socket. */
    connected: () => [...table.links()].filter((l) => l.browser !== null && !l.member).map((l) => l.sid),
    ...routes(table, stages, records.routes),
    ...presence(table, stages),
    ...openForward(table, stages, backlog),

    /** Measures lag on hubs somebody watches, and tells their browsers. */
    beat(): void {
      for (const hub of table.hubs()) {
        for (const link of hub.links) if (link.browser) tell(link);
        if (hub.online) measure(hub);
      }
    },
    flush: stages.flush,
  };
}

/** Asks a hub for a route. */
function request(link: Link): void {
  const { sid, owner_id, subnet_id, browser_pub } = link;
  link.hub.socket?.emit('pairing.request', { sid, owner_id, subnet_id, browser_pub });
}

/** Routes: noted, bound, bound anew, ended. */
function routes(table: Table, stages: Stages, records: Records['routes']) {
  return {
    /** Notes the route of a session; asks the hub when it is online. @returns whether it was asked */
    route(session: Routed, pub: string | undefined): boolean {
      const link = table.linkOf(session);
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
      const link = table.link(sid);
      if (!link?.routed || link.hub.hub_id !== hubId)
        throw new IngleError('not_found', 'No browser waits for this hub under that sid.');
      if (!link.hub.online) throw new IngleError('hub_offline', 'The hub has no open connection to root.');
      const socket = link.hub.socket;
      const generation = ++link.generation;
      await records.bind(sid, generation, seconds());
      // Gone, or bound anew, while it was written.
      if (table.link(sid) !== link || link.hub.socket !== socket || link.generation !== generation) return;
      link.bound = true;
      link.sealed = sealed;
      link.passed = 0;
      stages.enter(link, 'accept');
      tell(link);
    },

    /** Logged in again: the stage stays where it is. */
    extend(sid: string): void {
      const link = table.link(sid);
      if (link) stages.enter(link, 'login');
    },

    /** New keys: every bound route is asked for again, and a new identity key must connect again. */
    rotated(hubId: string, cut: boolean): void {
      const hub = table.hub(hubId);
      if (!hub) return;
      // Not a disconnect in Socket.IO's sense, after which a client stays away.
      if (cut) hub.socket?.conn.close();
      else if (hub.online) for (const link of hub.links) if (link.routed) request(link);
    },

    /** A session is over: its link and its socket go. */
    drop(sid: string): void {
      const link = table.link(sid);
      if (!link) return;
      const socket = link.browser;
      link.browser = null;
      link.routed = false;
      link.bound = false;
      table.forgetLink(link);
      socket?.disconnect(true);
    },
  };
}

/** Who is connected, and who takes whose place. */
function presence(table: Table, stages: Stages) {
  function hubDown(hub: HubLine, socket: Socket): void {
    if (hub.socket !== socket) return;
    hub.socket = null;
    hub.online = false;
    hub.lag = null;
    hub.asked = false;
    for (const link of hub.links) {
      stages.unbind(link);
      tell(link);
    }
    table.forgetHub(hub);
  }
  /** A browser announced itself; an older socket of the sid gives way. */
  function browserUp(session: Routed, socket: Socket): { link: Link; status: RouteStatus } {
    const link = table.linkOf(session);
    const old = link.browser;
    link.browser = socket;
    link.asked = false;
    link.lag = null;
    if (old && old !== socket) old.disconnect(true);
    tell(link);
    if (link.hub.lag === null) measure(link.hub);
    return { link, status: statusOf(link) };
  }
  return {
    /** A hub connected; an older socket of it gives way. */
    hubUp(hubId: string, socket: Socket): HubLine {
      const before = table.hub(hubId);
      const old = before?.socket;
      if (before && old) {
        hubDown(before, old);
        old.disconnect(true);
      }
      const hub = table.hubOf(hubId);
      hub.socket = socket;
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
    browserUp,
    /** A member of a subnet is there: its route to the hub of the subnet is asked for at once. */
    memberUp(session: Omit<Routed, 'stage'>, socket: Socket): Link {
      const routed = { ...session, stage: 'AUTH' as const };
      const link = table.linkOf(routed);
      link.member = true;
      link.routed = true;
      browserUp(routed, socket);
      if (link.hub.online) request(link);
      return link;
    },
    browserDown(link: Link, socket: Socket): void {
      if (link.browser !== socket) return;
      link.browser = null;
      link.asked = false;
      link.passed = 0;
      stages.enter(link, 'browser_offline');
      if (link.member || !link.routed) table.forgetLink(link);
    },
  };
}
