// Frames between browsers and hubs: each is held against its link before it goes on.
import type { Socket } from 'socket.io';
import { MAX_FRAME } from '../firmware/protocol/limits.ts';
import type { Backlog } from './backlog.ts';
import { sendFrame } from './frames.ts';
import { allow, type HubLine, type Link } from './links.ts';
import type { Stages } from './stages.ts';
import type { Table } from './table.ts';

/** Why frames and events were dropped, counted since the last report. */
type Drops = 'malformed' | 'no_route' | 'counter' | 'rate' | 'slow' | 'unknown';

export function openForward(table: Table, stages: Stages, backlog: Backlog) {
  let drops: Partial<Record<Drops, number>> = {};

  function drop(why: Drops): false {
    drops[why] = (drops[why] ?? 0) + 1;
    return false;
  }
  return {
    /** A frame from a browser. `link` is what its socket stands for, so a foreign sid leads nowhere. */
    toHub(link: Link, socket: Socket, m: unknown): boolean {
      const { sid, frame, ctr } = (m ?? {}) as { sid: unknown; frame: unknown; ctr: unknown };
      if (sid !== link.sid || !isFrame(frame) || !isCounter(ctr)) return drop('malformed');
      if (!link.bound || link.browser !== socket) return drop('no_route');
      if (ctr <= link.up) return drop('counter');
      if (!allow(link, 'up', frame.length)) return drop('rate');
      link.up = ctr;
      if (!sendFrame(backlog, link.hub.socket!, 'hub', link.sid, ctr, frame)) return drop('slow');
      if (link.passed !== 3) stages.passed(link, 1);
      return true;
    },
    /** A frame from a hub, to a browser whose route is bound to that hub's present socket. */
    toBrowser(hub: HubLine, socket: Socket, m: unknown): boolean {
      const { sid, frame, ctr } = (m ?? {}) as { sid: unknown; frame: unknown; ctr: unknown };
      if (typeof sid !== 'string' || !isFrame(frame) || !isCounter(ctr)) return drop('malformed');
      const link = table.link(sid);
      if (!link?.bound || link.hub !== hub || hub.socket !== socket || !link.browser) return drop('no_route');
      if (ctr <= link.down) return drop('counter');
      if (!allow(link, 'down', frame.length)) return drop('rate');
      link.down = ctr;
      if (!sendFrame(backlog, link.browser, 'browser', sid, ctr, frame)) return drop('slow');
      if (link.passed !== 3) stages.passed(link, 2);
      return true;
    },
    /** An event that nobody here knows. */
    unknown: () => drop('unknown'),
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
