// Presence, routes and the relay: who is connected, which sid leads to which hub, and the frames between them.
import { IngleError } from '../firmware/protocol/errors.ts';
import type { RouteStatus } from '../firmware/protocol/wire.ts';
import { openAsks } from './asks.ts';
import type { Backlog } from './backlog.ts';
import { seconds } from './clock.ts';
import type { End } from './ends.ts';
import { openForward } from './forward.ts';
import type { HubLine, Link, Live } from './links.ts';
import type { Records, Route } from './records/records.ts';
import { openStages, type Stages } from './stages.ts';
import { measure, statusOf, tell } from './status.ts';
import { openTable, type Routed, type Table } from './table.ts';

export type Relay = ReturnType<typeof openRelay>;

/** @param holds whether this process may relay now; another one may have its hubs otherwise (cluster/tenure.ts) */
export function openRelay(
  records: Pick<Records, 'routes' | 'sessions'>,
  backlog: Backlog,
  holds: () => boolean = () => true,
) {
  const stages = openStages(records);
  const table = openTable(stages);
  const asks = openAsks();
  return {
    /** Puts routes that are on record in place, all waiting: no socket outlives the process that had it. */
    restore(routes: readonly Route[]): void {
      for (const r of routes) {
        const link = table.linkOf(r);
        link.routed = true;
        link.generation = r.generation;
        link.browser_pub = r.pubkey ?? undefined;
      }
    },
    /** Lets go of a hub that has its home elsewhere from now on: all of its ends come back, and find it there. */
    leave(hubId: string): void {
      const hub = table.hub(hubId);
      if (!hub) return;
      const { socket } = hub;
      if (socket) asks.gone(socket);
      hub.socket = null;
      hub.online = false;
      const browsers = [...hub.links].map((link) => detach(table, link));
      table.forgetHub(hub);
      for (const end of [socket, ...browsers]) end?.conn.close();
    },
    /** Whether the hub has a socket or a link here. */
    isHome: (hubId: string): boolean => table.hub(hubId) !== undefined,
    hubIds: (): string[] => [...table.hubs()].map((h) => h.hub_id),
    /** Hubs that are there. */
    online: (): string[] => [...table.hubs()].filter((h) => h.online).map((h) => h.hub_id),
    /** How a sid is now that has a link. */
    live(sid: string): Live | undefined {
      const link = table.link(sid);
      return link && { stage: link.stage, connected: link.browser !== null };
    },
    isOnline: (hubId: string): boolean => table.hub(hubId)?.online ?? false,
    ask(hubId: string, event: string, message: object, ms: number): Promise<unknown> {
      const hub = table.hub(hubId);
      return asks.ask((hub?.online && hub.socket) || undefined, event, message, ms);
    },
    tell(hubId: string, event: string, message: object): void {
      const hub = table.hub(hubId);
      if (hub?.online) hub.socket?.emit(event, message);
    },
    isConnected: (sid: string): boolean => (table.link(sid)?.browser ?? null) !== null,
    /** Sids of the sessions that have a socket. */
    connected: () => [...table.links()].filter((l) => l.browser !== null && !l.member).map((l) => l.sid),
    ...routes(table, stages, records.routes),
    ...presence(table, stages, asks.gone),
    ...openForward(table, stages, backlog, holds),

    /** Measures lag on hubs somebody watches, and tells their browsers. */
    beat(): void {
      for (const hub of table.hubs()) {
        for (const link of hub.links) if (link.browser) tell(link);
        if (hub.online) measure(hub);
      }
    },
    /** Writes changed stages. */
    flush: () => (holds() ? stages.flush() : Promise.resolve()),
  };
}

/** Takes a link away. @returns the browser's end it had, which is the caller's to close */
function detach(table: Table, link: Link): End | null {
  const end = link.browser;
  link.browser = null;
  link.routed = false;
  link.bound = false;
  table.forgetLink(link);
  return end;
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

    /** A session that led to this hub leads to another: its browser comes back and is led there. */
    letGo(hubId: string, sid: string): void {
      const link = table.link(sid);
      if (link?.hub.hub_id === hubId) detach(table, link)?.conn.close();
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
      if (link) detach(table, link)?.disconnect(true);
    },
  };
}

/** Who is connected, and who takes whose place. */
function presence(table: Table, stages: Stages, gone: (end: End) => void) {
  function hubDown(hub: HubLine, socket: End): void {
    if (hub.socket !== socket) return;
    gone(socket);
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
  function browserUp(session: Routed, socket: End): { link: Link; status: RouteStatus } {
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
    hubUp(hubId: string, socket: End): HubLine {
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
    memberUp(session: Omit<Routed, 'stage'>, socket: End): Link {
      const routed = { ...session, stage: 'AUTH' as const };
      const link = table.linkOf(routed);
      link.member = true;
      link.routed = true;
      browserUp(routed, socket);
      if (link.hub.online) request(link);
      return link;
    },
    browserDown(link: Link, socket: End): void {
      if (link.browser !== socket) return;
      link.browser = null;
      link.asked = false;
      link.passed = 0;
      stages.enter(link, 'browser_offline');
      if (link.member || !link.routed) table.forgetLink(link);
    },
  };
}
