// The browser's end of a tunnel.
import { concat } from '../bytes.ts';
import { IngleError, toIngleError } from '../errors.ts';
import { MAX_STREAMS } from '../limits.ts';
import type { Channel } from '../noise/channel.ts';
import { flag, messageKind, type ResponseHead } from '../wire.ts';
import { lostError, mux } from './mux.ts';
import { socketOf } from './socket.ts';
import { bad, bodyOf, decodeHead, encodeHead, type Stream } from './stream.ts';
import type { Body, TunnelClient } from './tunnel.ts';

const MAX_RESPONSE = 16 * 1024 * 1024;

/** The browser's end over `channel`; one tunnel lives through many losses of its channel. */
export function tunnelClient(channel: Channel): TunnelClient {
  const waiting = new Map<number, (head: ResponseHead, flags: number) => void>();
  let lastId = 0;
  const m = mux(channel, (kind, id, flags, bytes) => {
    const give = waiting.get(id);
    if (!give) return;
    if (kind !== messageKind.head) throw bad('Only the browser opens streams.');
    const head = decodeHead(bytes);
    const status = head['status'];
    if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599)
      throw bad('A response has no status.');
    give({ status, headers: head.headers }, flags);
  });

  /** Opens a stream and settles with the response's head. */
  async function ask(
    r: { method: string; path: string; headers?: Record<string, string>; body?: Body; signal?: AbortSignal },
    flags: number,
    opened?: (s: Stream) => void,
  ): Promise<{ s: Stream; head: ResponseHead }> {
    if (channel.state !== 'open') throw new IngleError('unavailable', 'The hub is not connected just now.');
    if (m.size >= MAX_STREAMS) throw new IngleError('rate_limited', 'Too many requests at once.');
    if (r.signal?.aborted) throw new IngleError('timeout', 'The request was stopped.');
    const s = m.open(++lastId);
    const answer = new Promise<ResponseHead>((resolve, reject) => {
      waiting.set(s.id, (head, headFlags) => {
        waiting.delete(s.id);
        if (headFlags & flag.end) s.push(new Uint8Array(0), flag.end);
        resolve(head);
      });
      s.ended.then(() => reject(s.error ?? lostError()));
    });
    answer.catch(() => {});
    const abort = () => m.reset(s, new IngleError('timeout', 'The request was stopped.'));
    r.signal?.addEventListener('abort', abort, { once: true });
    s.ended.then(() => {
      waiting.delete(s.id);
      r.signal?.removeEventListener('abort', abort);
    });
    const { method, path, headers = {}, body } = r;
    const isEmpty = !flags && (body === undefined || (body instanceof Uint8Array && body.length === 0));
    try {
      const open = encodeHead(messageKind.open, s.id, flags | (isEmpty ? flag.end : 0), {
        method,
        path,
        headers,
      });
      await m.send(open);
    } catch (e) {
      s.fail(toIngleError(e));
      throw e;
    }
    opened?.(s);
    if (isEmpty) await s.end(true);
    else if (body) upload(s, body).catch((e) => m.reset(s, toIngleError(e)));
    return { s, head: await answer };
  }

  return {
    async request(r) {
      const { s, head } = await ask(r, 0);
      const cancel = () => {
        if (!s.done) m.reset(s, new IngleError('timeout', 'The response was let go.'));
        s.discard();
      };
      const stream = bodyOf(s, cancel);
      return {
        ...head,
        stream,
        cancel,
        async body(maxBytes = MAX_RESPONSE) {
          const parts: Uint8Array[] = [];
          let size = 0;
          for await (const part of stream) {
            size += part.length;
            if (size > maxBytes) throw new IngleError('too_large', 'The answer is too large.');
            parts.push(part);
          }
          return concat(...parts);
        },
      };
    },
    async websocket(path, first) {
      let it!: ReturnType<typeof socketOf>;
      const { s, head } = await ask({ method: 'GET', path }, flag.websocket, (of) => {
        it = socketOf(of, (e) => m.reset(of, e));
        // It waits there for the hub's word, and goes with the stream where that is no.
        if (first) it.socket.send(first).catch(() => {});
      });
      if (head.status !== 101) {
        const e = new IngleError('unavailable', `The hub answered ${head.status}.`);
        m.reset(s, e);
        throw e;
      }
      // Later, so that the caller can set its handlers first.
      setTimeout(it.listen);
      return it.socket;
    },
    close: m.close,
  };
}

async function upload(s: Stream, body: Body): Promise<void> {
  if (body instanceof Uint8Array) await s.write(body);
  else for await (const part of body) await s.write(part);
  await s.end();
}
