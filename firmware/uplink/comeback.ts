// Brings a socket back that Socket.IO leaves alone: after root said no to it, or ended it.
import type { Socket } from 'socket.io-client';

/** @param first pause, milliseconds; doubles with each refusal up to `most`, with jitter */
export function comeback(socket: Pick<Socket, 'connect'>, first: number, most: number) {
  let refusals = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  return {
    again(): void {
      if (closed) return;
      clearTimeout(timer);
      const pause = Math.min(most, first * 2 ** refusals++);
      timer = setTimeout(() => socket.connect(), pause * (0.5 + Math.random() / 2));
    },
    /** Root has taken it. */
    taken(): void {
      refusals = 0;
    },
    /** For good. */
    stop(): void {
      closed = true;
      clearTimeout(timer);
    },
  };
}
