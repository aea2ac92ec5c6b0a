// Frames in turns: whoever floods one web session waits for himself, and not the hub's other channels.
import { openTurns, type Source } from '../protocol/turns.ts';
import type { RelayMessage } from '../protocol/wire.ts';

interface Waiting<M> extends Source<M> {
  bytes: number;
}

const MIB = 1024 * 1024;
/**
 * What may wait of one web session, frames and bytes, and of all; a full-speed upload has up to 16 MiB under way.
 * `atOnce`: milliseconds of a turn of the event loop in which frames go on as they come.
 */
export const fairBounds = { frames: 2048, bytes: 16 * MIB, all: 32 * MIB, sids: 4096, atOnce: 8 };

/**
 * Frames go on as they come while there is time, and in turns of a frame for each web session else. A session with too
 * much waiting loses all of it: its channel sees the gap and shakes hands anew.
 */
export function fairFrames<M extends RelayMessage>(receive: (m: M) => void, b = fairBounds): (m: M) => void {
  const sids = new Map<string, Waiting<M>>();
  let all = 0;
  const turns = openTurns<M, Waiting<M>>({
    slice: 4,
    atOnce: b.atOnce,
    quantum: () => 1,
    work(w, m) {
      w.bytes -= m.frame.length;
      all -= m.frame.length;
      if (w.waiting === null) sids.delete(m.sid);
      receive(m);
    },
  });
  function lose(sid: string, w: Waiting<M>): void {
    all -= w.bytes;
    turns.forget(w);
    sids.delete(sid);
  }
  return (m) => {
    let w = sids.get(m.sid);
    if (!w) {
      if (turns.free) {
        receive(m);
        return;
      }
      if (sids.size >= b.sids) return;
      w = { waiting: null, bytes: 0 };
      sids.set(m.sid, w);
    }
    w.bytes += m.frame.length;
    all += m.frame.length;
    turns.push(w, m);
    if (w.waiting!.length > b.frames || w.bytes > b.bytes) lose(m.sid, w);
    if (all > b.all) {
      const [sid, most] = [...sids].reduce((x, y) => (y[1].bytes > x[1].bytes ? y : x));
      lose(sid, most);
    }
  };
}
