// A WebSocket in a tunnel's stream: whole messages, in order, no faster than the listener takes them.
import { concat, fromUtf8, utf8 } from '../bytes.ts';
import { IngleError, toIngleError } from '../errors.ts';
import { openQueue } from '../queue.ts';
import { flag } from '../wire.ts';
import { bad, MAX_WS_MESSAGE, type Stream } from './stream.ts';
import type { TunnelSocket } from './tunnel.ts';

/**
 * @param end ends the stream with an error on both sides.
 * @returns the socket, and what starts the listening.
 */
export function socketOf(s: Stream, end: (e: IngleError) => void): { socket: TunnelSocket; listen(): void } {
  const sending = openQueue();
  let closed = false;
  const socket: TunnelSocket = {
    send(data) {
      const isText = typeof data === 'string';
      const bytes = isText ? utf8(data) : data;
      if (bytes.length > MAX_WS_MESSAGE)
        return Promise.reject(
          new IngleError('too_large', `A message may have at most ${MAX_WS_MESSAGE} bytes.`),
        );
      if (closed) return Promise.reject(new IngleError('unavailable', 'The connection is closed.'));
      return sending.add(() => s.write(bytes, flag.websocket | (isText ? flag.text : 0)));
    },
    onmessage() {},
    onclose() {},
    close() {
      closed = true;
      sending.add(() => s.end()).catch(() => {});
    },
  };
  async function run(): Promise<void> {
    let parts: Uint8Array[] = [];
    let size = 0;
    for (let p = await s.pull(); p; p = await s.pull()) {
      if (!(p.flags & flag.websocket)) throw bad('A piece is not part of a message.');
      size += p.bytes.length;
      if (size > MAX_WS_MESSAGE) throw new IngleError('too_large', 'A message is too long.');
      parts.push(p.bytes);
      if (p.flags & flag.more) continue;
      const whole = parts.length === 1 ? p.bytes : concat(...parts);
      parts = [];
      size = 0;
      if (p.flags & flag.text) {
        let words: string;
        try {
          words = fromUtf8(whole);
        } catch {
          throw bad('A text message is not UTF-8.');
        }
        await socket.onmessage(words);
      } else await socket.onmessage(whole);
    }
  }
  return {
    socket,
    listen() {
      run().then(
        () => {
          socket.close();
          socket.onclose(null);
        },
        (cause) => {
          closed = true;
          const e = s.error ?? toIngleError(cause);
          end(e);
          socket.onclose(e);
        },
      );
    },
  };
}
