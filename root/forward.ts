// Frames between browsers and hubs: each is held against its link before it goes on.
import type { Backlog } from './backlog.ts';
import type { End } from './ends.ts';
import { isCounter, isFrame, sendFrame } from './frames.ts';
import { allow, type HubLine, type Link } from './links.ts';
import type { Stages } from './stages.ts';
import type { Table } from './table.ts';

/** Why frames and events were dropped. */
const reasons = ['malformed', 'no_route', 'counter', 'rate', 'slow', 'unknown'] as const;
type Drops = (typeof reasons)[number];
const none = () => Object.fromEntries(reasons.map((why) => [why, 0])) as Record<Drops, number>;

/** @param holds whether this process may relay now */
export function openForward(table: Table, stages: Stages, backlog: Backlog, holds: () => boolean) {
  /** Since the start, and how many of the drops have been reported. Numbers and no more: each frame comes by here. */
  const frames = { up: 0, down: 0 };
  const bytes = { up: 0, down: 0 };
  const drops = none();
  let reported = none();

  function drop(why: Drops): false {
    drops[why]++;
    return false;
  }
  return {
    /** A frame from a browser. `link` is what its socket stands for, so a foreign sid leads nowhere. */
    toHub(link: Link, socket: End, m: unknown): boolean {
      const { sid, frame, ctr } = (m ?? {}) as { sid: unknown; frame: unknown; ctr: unknown };
      if (sid !== link.sid || !isFrame(frame) || !isCounter(ctr)) return drop('malformed');
      if (!link.bound || link.browser !== socket || !holds()) return drop('no_route');
      if (ctr <= link.up) return drop('counter');
      if (!allow(link, 'up', frame.length)) return drop('rate');
      link.up = ctr;
      if (!sendFrame(backlog, link.hub.socket!, 'hub', link.sid, ctr, frame)) return drop('slow');
      frames.up++;
      bytes.up += frame.length;
      if (link.passed !== 3) stages.passed(link, 1);
      return true;
    },
    /** A frame from a hub, to a browser whose route is bound to that hub's present socket. */
    toBrowser(hub: HubLine, socket: End, m: unknown): boolean {
      const { sid, frame, ctr } = (m ?? {}) as { sid: unknown; frame: unknown; ctr: unknown };
      if (typeof sid !== 'string' || !isFrame(frame) || !isCounter(ctr)) return drop('malformed');
      const link = table.link(sid);
      if (!link?.bound || link.hub !== hub || hub.socket !== socket || !link.browser || !holds())
        return drop('no_route');
      if (ctr <= link.down) return drop('counter');
      if (!allow(link, 'down', frame.length)) return drop('rate');
      link.down = ctr;
      if (!sendFrame(backlog, link.browser, 'browser', sid, ctr, frame)) return drop('slow');
      frames.down++;
      bytes.down += frame.length;
      if (link.passed !== 3) stages.passed(link, 2);
      return true;
    },
    /** An event that nobody here knows. */
    unknown: () => drop('unknown'),
    /** What was dropped since the last call, by reason. */
    takeDrops(): Partial<Record<Drops, number>> {
      const fresh = reasons.map((why) => [why, drops[why] - reported[why]] as const);
      reported = { ...drops };
      return Object.fromEntries(fresh.filter(([, n]) => n > 0));
    },
    /** Frames and bytes that went on, and what was dropped, since the start. */
    counts: () => ({ frames, bytes, drops }),
  };
}
