// Ends that are connected to one node while their hub is at home in another. The node that has the socket (`near`) opens
// an end on its line to the home (`home`), and both name it by a number.

import { IngleError } from '../../firmware/protocol/errors.ts';
import type { RouteStatus } from '../../firmware/protocol/wire.ts';
import type { Backlog } from '../backlog.ts';
import type { End } from '../ends.ts';
import { isCounter, isFrame, sendFrame } from '../frames.ts';
import type { Link } from '../links.ts';
import type { Relay } from '../relay.ts';
import type { FarWay } from '../ways.ts';
import type { Line } from './peers.ts';

/** What the home says to an end; `ack`: it is answered under that number. */
type ToEnd =
  | { end: number; emit: string; message: unknown; ack?: number }
  | { end: number; over: 'said' | 'cut' };
/** What an end acknowledges with is its own, and nobody reads it. */
type FromEnd = { down: number } | { acked: number; end: number };

/** Acknowledgements an end may owe; the oldest is forgotten. */
const MOST_OWED = 64;

/** The side that has the sockets. */
export function openNear(backlog: Backlog) {
  let last = 0;
  const lines = new Map<Line, Map<number, { sid: string; socket: End; last?: RouteStatus }>>();
  return {
    /** Names an end on a line. */
    open(line: Line, sid: string, socket: End): number {
      last = (last + 1) % 2 ** 32;
      const ends = lines.get(line) ?? new Map();
      lines.set(line, ends);
      ends.set(last, { sid, socket });
      return last;
    },
    way(line: Line, end: number): FarWay {
      const seat = lines.get(line)?.get(end);
      const sid = seat?.sid;
      return {
        last: () => seat?.last,
        frame(m) {
          const { sid: of, frame, ctr } = (m ?? {}) as { sid: unknown; frame: unknown; ctr: unknown };
          if (of !== sid || !isFrame(frame) || !isCounter(ctr)) return false;
          return line.frame(end, ctr, frame);
        },
        down() {
          if (lines.get(line)?.delete(end)) line.say({ down: end } satisfies FromEnd);
        },
      };
    },
    framed(line: Line, end: number, ctr: number, frame: Uint8Array): void {
      const to = lines.get(line)?.get(end);
      if (to) sendFrame(backlog, to.socket, 'browser', to.sid, ctr, frame);
    },
    said(line: Line, body: object): void {
      const m = body as ToEnd;
      const seat = lines.get(line)?.get(m.end);
      if (!seat) return;
      const to = seat.socket;
      if ('emit' in m && m.emit === 'status') seat.last = m.message as RouteStatus;
      if ('over' in m) {
        lines.get(line)!.delete(m.end);
        if (m.over === 'said') to.disconnect(true);
        else to.conn.close();
      } else if (m.ack === undefined) to.emit(m.emit, m.message);
      else to.emit(m.emit, m.message, () => line.say({ acked: m.ack!, end: m.end } satisfies FromEnd));
    },
    /** The home cannot be reached: its ends come back, and find the hub where it is then. */
    lost(line: Line): void {
      const ends = lines.get(line);
      lines.delete(line);
      for (const { socket } of ends?.values() ?? []) socket.conn.close();
    },
  };
}

/** `link`: once it is let in. */
type Seat = { end: End; link: Link | null; acked(ack: number): void };

/** The side where the hub is at home. */
export function openFar(relay: Relay) {
  const lines = new Map<Line, Map<number, Seat>>();

  function farEnd(line: Line, end: number): Pick<Seat, 'end' | 'acked'> {
    const over = (how: 'said' | 'cut') => {
      lines.get(line)?.delete(end);
      line.say({ end, over: how } satisfies ToEnd);
    };
    const owed = new Map<number, () => void>();
    let last = 0;
    return {
      acked(ack) {
        owed.get(ack)?.();
        owed.delete(ack);
      },
      end: {
        emit(event, ...said) {
          const [message, reply] = typeof said[0] === 'function' ? [undefined, said[0]] : said;
          if (typeof reply !== 'function') {
            line.say({ end, emit: event, message } satisfies ToEnd);
            return;
          }
          owed.set(++last, reply as () => void);
          owed.delete(last - MOST_OWED);
          line.say({ end, emit: event, message, ack: last } satisfies ToEnd);
        },
        disconnect: () => over('said'),
        conn: { close: () => over('cut') },
        frame: (ctr, frame) => line.frame(end, ctr, frame),
      },
    };
  }
  return {
    /**
     * An end of another node.
     * @param ready what it waits for @param up lets it in
     * @returns what `up` gives @throws IngleError what `ready` says; `conflict` where it went meanwhile
     */
    async open<T extends { link: Link }>(
      line: Line,
      end: number,
      ready: Promise<void>,
      up: (end: End) => T,
    ): Promise<T> {
      const seat: Seat = { ...farEnd(line, end), link: null };
      const seats = lines.get(line) ?? new Map<number, Seat>();
      lines.set(line, seats);
      seats.set(end, seat);
      try {
        await ready;
        if (lines.get(line)?.get(end) !== seat) throw new IngleError('conflict', 'It has gone.');
        const result = up(seat.end);
        seat.link = result.link;
        return result;
      } catch (e) {
        seats.delete(end);
        throw e;
      }
    },
    framed(line: Line, end: number, ctr: number, frame: Uint8Array): void {
      const seat = lines.get(line)?.get(end);
      // What waits for a slow hub is a copy; the piece it came in is used again.
      if (seat?.link) relay.toHub(seat.link, seat.end, { sid: seat.link.sid, frame, ctr });
    },
    said(line: Line, body: object): void {
      const m = body as FromEnd;
      if ('acked' in m) {
        lines.get(line)?.get(m.end)?.acked(m.acked);
        return;
      }
      const seat = lines.get(line)?.get(m.down);
      if (!seat) return;
      lines.get(line)!.delete(m.down);
      if (seat.link) relay.browserDown(seat.link, seat.end);
    },
    lost(line: Line): void {
      const seats = lines.get(line);
      lines.delete(line);
      for (const { link, end } of seats?.values() ?? []) if (link) relay.browserDown(link, end);
    },
  };
}
