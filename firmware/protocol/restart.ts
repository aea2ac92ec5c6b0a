// Root ends and is back soon: each of its clients comes back at a random time within what root says, so that they do not
// all come at once.

/** A Socket.IO client's socket, as far as it matters here. */
interface Returning {
  on(event: 'restart', heard: (m: { in_ms: number }) => void): unknown;
  on(event: 'disconnect', heard: () => void): unknown;
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
 * and not by Socket.IO's own tries. Without the event nothing changes.
 * @param random 0 to 1
 * @returns ends it, before the socket is closed for good
 */
export function heedRestart(socket: Returning, random: () => number = Math.random): () => void {
  let within = 0;
  let isOver = false;
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
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
