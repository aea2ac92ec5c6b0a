// A root that does what a test tells it: between hub and real root, HTTP passes and socket events go through it.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { Server } from 'socket.io';
import { io, type Socket } from 'socket.io-client';
import type { RelayMessage } from '../../firmware/protocol/wire.ts';
import type { RootProcess } from '../root/kit.ts';

type Way = 'to_hub' | 'to_browser';
type Meddle = (way: Way, m: RelayMessage) => RelayMessage[];
/** Another event on its way between hub and root; it may change the message. */
type Other = (event: string, m: Record<string, unknown>) => void;
/** An HTTP answer of root's on its way to the hub; what is given back goes on instead. */
type Answers = (path: string, body: Record<string, unknown>) => Record<string, unknown>;

/** Frames go through `meddle`, other events through `set`'s second function. */
export async function between(root: RootProcess) {
  let meddle: Meddle = (_, m) => [m];
  let other: Other = () => {};
  let answers: Answers | undefined;
  let refusal: Record<string, unknown> | undefined;
  const seen: { way: Way; m: RelayMessage }[] = [];
  const http = createServer((q, s) => {
    const out = request(
      root.url + q.url,
      { method: q.method, headers: { ...q.headers, 'x-forwarded-for': '10.9.9.9' } },
      (a) => {
        if (!answers) {
          s.writeHead(a.statusCode!, a.headers);
          a.pipe(s);
          return;
        }
        const parts: Buffer[] = [];
        a.on('data', (part: Buffer) => parts.push(part));
        a.on('end', () => {
          const body = JSON.parse(Buffer.concat(parts).toString());
          s.writeHead(a.statusCode!, { 'content-type': 'application/json' });
          s.end(JSON.stringify(answers ? answers(q.url!, body) : body));
        });
      },
    );
    out.on('error', () => s.destroy());
    q.pipe(out);
  });
  const server = new Server(http, { transports: ['websocket'] });
  server.of('/hub').use((_, go) => go(refusal && Object.assign(new Error('refused'), { data: refusal })));
  const ups = new Set<Socket>();
  let hub: { emit(event: string, ...args: unknown[]): unknown } | undefined;
  server.of('/hub').on('connection', (down) => {
    const up = io(`${root.url}/hub`, {
      transports: ['websocket'],
      forceNew: true,
      auth: down.handshake.auth,
      reconnection: false,
    });
    ups.add(up);
    hub = down;
    down.onAny((event: string, ...args: unknown[]) => {
      if (event !== 'relay.to_browser') {
        other(event, args[0] as Record<string, unknown>);
        return up.emit(event, ...args);
      }
      const m = args[0] as RelayMessage;
      seen.push({ way: 'to_browser', m });
      for (const x of meddle('to_browser', { ...m, frame: Uint8Array.from(m.frame) }))
        up.emit(event, { ...x, frame: Buffer.from(x.frame) });
    });
    up.onAny((event: string, ...args: unknown[]) => {
      if (event !== 'relay.to_hub') {
        other(event, args[0] as Record<string, unknown>);
        return down.emit(event, ...args);
      }
      const m = args[0] as RelayMessage;
      seen.push({ way: 'to_hub', m });
      for (const x of meddle('to_hub', { ...m, frame: Uint8Array.from(m.frame) }))
        down.emit(event, { ...x, frame: Buffer.from(x.frame) });
    });
    up.on('disconnect', () => down.disconnect());
    up.on('connect_error', () => down.disconnect());
    down.on('disconnect', () => {
      ups.delete(up);
      up.disconnect();
    });
  });
  http.listen(root.frontPort, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${root.frontPort}`,
    seen,
    set(f: Meddle) {
      meddle = f;
    },
    /** Every event but frames, as it passes. */
    watch(f: Other) {
      other = f;
    },
    /** Every HTTP answer, as it passes. */
    answer(f: Answers) {
      answers = f;
    },
    /** Ends the hub's socket and refuses each new one with this body. */
    refuse(body: Record<string, unknown>) {
      refusal = body;
      for (const u of ups) u.disconnect();
    },
    honest() {
      meddle = (_, m) => [m];
      other = () => {};
      answers = refusal = undefined;
    },
    /** Hands the hub a frame of its own. */
    inject(m: RelayMessage) {
      hub!.emit('relay.to_hub', { ...m, frame: Buffer.from(m.frame) });
    },
    /** Tells the hub something in root's name. */
    tell(event: string, m: unknown) {
      hub!.emit(event, m);
    },
    async stop() {
      for (const u of ups) u.disconnect();
      await server.close();
      http.closeAllConnections();
    },
  };
}
