// What root says of when and where to come back. It ends and is back soon: each of its clients comes back at a random
// time within what root says, so that they do not all come at once. Or it is several processes, and this client is better
// off at another one: it is refused with a hint, and comes again at once with the hint in its address, where a balancer reads it.

/** A Socket.IO client's socket, as far as it matters here. A query that begins as `{ at: '' }` says that it takes hints. */
interface Returning {
  io: { opts: { query?: Record<string, unknown> } };
  on(event: 'restart', heard: (m: { in_ms: number }) => void): unknown;
  on(event: 'disconnect', heard: () => void): unknown;
  on(event: 'connect', heard: () => void): unknown;
  on(event: 'connect_error', heard: (e: Error) => void): unknown;
  connect(): unknown;
  disconnect(): unknown;
}

/** Root may keep nobody away for longer than this, milliseconds. */
const MOST_MS = 60_000;

/** The window that a notice names, milliseconds; 0 where it names none. */
function windowOf(notice: unknown): number {
  const { in_ms } = (notice ?? {}) as { in_ms?: unknown };
  return typeof in_ms === 'number' && in_ms > 0 ? Math.min(in_ms, MOST_MS) : 0;
}

/**
 * After the event `restart {in_ms}` the next loss of the connection is followed by a pause of a random part of `in_ms`,
 * and not by Socket.IO's own tries. The first hint since it was connected is followed at once, and the socket is `active`
 * for whoever listens after this; a further one with the next try, so no hint makes a client hurry. A refusal without a
 * hint ends the one it has: where that leads it is not wanted. Without any of these nothing changes.
 * @param random 0 to 1
 * @returns ends it, before the socket is closed for good
 */
export function heedRoot(socket: Returning, random: () => number = Math.random): () => void {
  let within = 0;
  let isOver = false;
  let isFirst = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  socket.on('restart', (notice) => {
    within = windowOf(notice);
  });
  socket.on('disconnect', () => {
    if (within === 0 || isOver) return;
    const pause = within * random();
    within = 0;
    // Socket.IO would try at once.
    socket.disconnect();
    clearTimeout(timer);
    timer = setTimeout(() => socket.connect(), pause);
  });
  socket.on('connect', () => {
    isFirst = true;
  });
  socket.on('connect_error', (e: Error & { data?: { details?: { steer?: unknown } } }) => {
    if (!e.data) return;
    const at = e.data.details?.steer;
    const isHint = typeof at === 'string' && at.length < 100;
    socket.io.opts.query!['at'] = isHint ? at : '';
    if (isHint && isFirst) {
      isFirst = false;
      socket.connect();
    }
  });
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
