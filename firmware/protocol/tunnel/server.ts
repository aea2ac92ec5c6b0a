// The hub's end of a tunnel.
import { utf8 } from '../bytes.ts';
import { IngleError, toIngleError } from '../errors.ts';
import { MAX_STREAMS } from '../limits.ts';
import type { Channel } from '../noise/channel.ts';
import { flag, messageKind, type RequestHead, type ResponseHead } from '../wire.ts';
import { lostError, mux } from './mux.ts';
import { socketOf } from './socket.ts';
import { bad, bodyOf, decodeHead, encodeHead, type Stream } from './stream.ts';
import type { Body, TunnelHandlers } from './tunnel.ts';

/**
 * The hub's end.
 * @param admitted asked at each open: until it says true every stream is reset with `assertion_required`.
 */
export function tunnelServer(
  channel: Channel,
  handlers: TunnelHandlers,
  admitted: () => boolean = () => true,
): { close(): void } {
  let lastId = 0;
  const m = mux(
    channel,
    (kind, id, flags, bytes) => {
      if (kind !== messageKind.open) throw bad('Only the hub answers.');
      if (id <= lastId) throw bad('The number of a stream was used before.');
      lastId = id;
      if (!admitted())
        throw new IngleError(
          'assertion_required',
          'This browser has not been let in yet: a passkey is needed.',
        );
      if (m.size >= MAX_STREAMS) throw new IngleError('rate_limited', 'Too many requests at once.');
      const head = requestHead(bytes);
      const s = m.open(id);
      if (flags & flag.end) s.push(new Uint8Array(0), flag.end);
      (flags & flag.websocket ? websocket(s, head) : answer(s, head)).catch((e) =>
        m.reset(s, toIngleError(e)),
      );
    },
    () => {
      lastId = 0;
    },
  );

  async function answer(s: Stream, head: RequestHead): Promise<void> {
    const abort = new AbortController();
    s.ended.then(() => s.error && abort.abort());
    let response: ResponseHead & { body?: Body };
    try {
      response = await handlers.request(
        head,
        bodyOf(s, () => s.discard()),
        abort.signal,
      );
    } catch (cause) {
      const e = toIngleError(cause);
      const headers = { 'content-type': 'application/json' };
      response = { status: e.status, headers, body: utf8(JSON.stringify(e.body())) };
    }
    if (s.error) return;
    const { status, headers, body } = response;
    await m.send(encodeHead(messageKind.head, s.id, 0, { status, headers }));
    if (body instanceof Uint8Array) {
      if (body.length) await s.write(body);
    } else if (body) for await (const part of body) if (part.length) await s.write(part);
    await s.end();
    // What was not read of the request is not wanted any more.
    s.discard();
  }

  async function websocket(s: Stream, head: RequestHead): Promise<void> {
    const { socket, listen } = socketOf(s, (e) => m.reset(s, e));
    try {
      await handlers.websocket(head, socket);
    } catch (e) {
      socket.onclose(toIngleError(e));
      throw e;
    }
    if (s.error) return socket.onclose(s.error ?? lostError());
    await m.send(encodeHead(messageKind.head, s.id, 0, { status: 101, headers: {} }));
    listen();
  }

  return { close: m.close };
}

/** @throws IngleError `invalid_request` */
function requestHead(bytes: Uint8Array): RequestHead {
  const head = decodeHead(bytes);
  const { method, path, headers } = head as Record<string, unknown> & RequestHead;
  if (typeof method !== 'string' || !/^[A-Z]{1,16}$/.test(method)) throw bad('A request has no method.');
  // Only what stays on the hub: an absolute path, no control characters, no second slash that names a host.
  if (typeof path !== 'string' || !/^\/(?!\/)[\x21-\x7e]*$/.test(path) || path.includes('\\'))
    throw bad('The path of a request is not well formed.');
  return { method, path, headers };
}
