// uWebSockets.js, and nothing else of it anywhere: HTTP becomes plain values here, Socket.IO is attached here.

import { App, type HttpRequest, type HttpResponse, us_listen_socket_close } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { Server } from 'socket.io';
import { IngleError } from '../firmware/protocol/errors.ts';
import { MAX_BODY } from '../firmware/protocol/limits.ts';
import { pageHeaders } from '../firmware/protocol/page.ts';
import { pageWay } from '../firmware/protocol/skill-page.ts';
import { answer, isApi } from './api.ts';
import { MAX_WAITING } from './frames.ts';
import { openGate } from './gate.ts';
import { failure, type Pieces, type Reply, type Request } from './http.ts';
import { log } from './log.ts';
import type { Root } from './root.ts';
import { browserOf } from './session.ts';
import { openSockets } from './sockets.ts';
import { openStatic } from './static.ts';

/** How long a client may take to send a body, milliseconds. */
const BODY_MS = 15_000;

export interface RootServer {
  port: number;
  /** Forgets what is over. */
  sweep(): void;
  /** Closes all sockets and stops listening. */
  close(): Promise<void>;
}

/** Listens as the configuration says. @throws Error with a sentence for the operator when the port is taken */
export async function serve(root: Root): Promise<RootServer> {
  const { config } = root;
  const app = App();
  const io = new Server({
    serveClient: false,
    // Frames are binary and encrypted: polling would only encode them, compression only heat.
    transports: ['websocket'],
    perMessageDeflate: false,
    maxHttpBufferSize: 128 * 1024,
    connectTimeout: 10_000,
    pingInterval: 20_000,
    pingTimeout: 15_000,
    // No page but the application's may connect with what its visitor has; programs send no origin.
    allowRequest: (req, decide) => {
      const origin = req.headers.origin;
      decide(null, origin === undefined || origin === '' || origin === config.origin);
    },
  });

  /** The client's address: what the outermost of our own proxies saw. */
  function ipOf(header: (name: string) => string, peer: string): string {
    if (config.proxies === 0) return peer;
    const seen = header('x-forwarded-for')
      .split(',')
      .map((s) => s.trim())
      .filter((s) => s !== '');
    return seen[seen.length - config.proxies] ?? peer;
  }
  const gate = openGate({
    limit: root.limits.connect,
    backlog: root.backlog,
    ipOf,
    cookieOf: (header) => browserOf(root, header, ''),
  });
  const options = { maxBackpressure: 2 * MAX_WAITING.hub, idleTimeout: 120 };
  io.attachApp(gate.before(app), options as Parameters<typeof io.attachApp>[1]);
  io.engine.on('connection', gate.connection);
  openSockets(io, root, gate, ipOf);

  const files = openStatic(config);
  const security = Object.entries(pageHeaders(config.api, true));
  app.any('/*', (res, req) => {
    const request = read(res, req, ipOf);
    const reply = isApi(request.path) ? answer(root, request) : Promise.resolve(files(request));
    reply
      .catch(failure)
      .then((r) => write(res, request, r, security))
      .catch((e) => log('error', 'an answer failed', { cause: e }));
  });

  const listening = await new Promise<ReturnType<typeof Object> | false>((resolve) =>
    app.listen(config.host, config.port, (s) => resolve(s)),
  );
  if (!listening)
    throw new Error(
      `Port ${config.port} on ${config.host} is taken or not allowed. Choose another: --port 8081 (or INGLE_ROOT_PORT).`,
    );
  return {
    port: config.port,
    sweep: gate.sweep,
    async close() {
      us_listen_socket_close(listening as Parameters<typeof us_listen_socket_close>[0]);
      // The connections first: clients then take it for the network and come back to the next process.
      io.engine.close();
      await io.close();
      app.close();
    },
  };
}

type Incoming = Request & {
  aborted: boolean;
  answered: boolean;
  complete: boolean;
  /** Called when the client has gone while its answer is written. */
  left: (() => void) | undefined;
};

/** Copies what we need out of uWebSockets.js's request, which is gone after this turn. */
function read(
  res: HttpResponse,
  req: HttpRequest,
  ipOf: (header: (n: string) => string, peer: string) => string,
): Incoming {
  const headers = new Map<string, string>();
  req.forEach((k, v) => {
    headers.set(k, v);
  });
  const header = (name: string) => headers.get(name) ?? '';
  let body: Promise<Uint8Array> | undefined;
  const incoming: Incoming = {
    method: req.getMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    header,
    ip: ipOf(header, Buffer.from(res.getRemoteAddressAsText()).toString()),
    aborted: false,
    answered: false,
    left: undefined,
    // Without a body, the last piece comes after the answer.
    complete: Number(header('content-length')) === 0 && header('transfer-encoding') === '',
    body: () => body!,
  };
  body = new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    const late = setTimeout(() => {
      // Else it was answered, and uWebSockets.js throws.
      if (!incoming.answered) res.close();
    }, BODY_MS);
    res.onAborted(() => {
      clearTimeout(late);
      incoming.aborted = true;
      incoming.left?.();
      reject(new IngleError('invalid_request', 'The request was cut off.'));
    });
    res.onData((chunk, last) => {
      size += chunk.byteLength;
      if (size > MAX_BODY) {
        parts.length = 0;
        reject(new IngleError('too_large', `A body may have at most ${MAX_BODY} bytes.`));
      } else parts.push(Buffer.from(chunk.slice(0)));
      if (last) {
        incoming.complete = true;
        clearTimeout(late);
      }
      if (last && size <= MAX_BODY) resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    });
  });
  // Not every endpoint asks for the body.
  body.catch(() => {});
  return incoming;
}

const isPieces = (body: Reply['body']): body is Pieces => typeof body === 'object' && 'next' in body;

function write(res: HttpResponse, req: Incoming, reply: Reply, security: [string, string][]): void {
  const { body } = reply;
  const head = () => {
    res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? ''}`);
    for (const [k, v] of security) if (reply.headers[k] === undefined) res.writeHeader(k, v);
    for (const [k, v] of Object.entries(reply.headers)) if (v !== '') res.writeHeader(k, v);
  };
  if (req.aborted) {
    if (isPieces(body)) body.stop();
    return;
  }
  req.answered = true;
  if (isPieces(body)) {
    void stream(res, req, head, body);
    return;
  }
  res.cork(() => {
    head();
    // A body that was refused half-way cannot be skipped: the connection ends with the answer.
    const close = !req.complete;
    if (req.method === 'HEAD' || reply.status === 304) res.endWithoutBody(Buffer.byteLength(body), close);
    else res.end(body, close);
  });
}

/**
 * Writes an answer as its reader takes it. Where it breaks off, or takes too long, the connection ends without the end of
 * the answer, so that nobody takes it for whole.
 */
async function stream(res: HttpResponse, req: Incoming, head: () => void, body: Pieces): Promise<void> {
  let go = () => {};
  const cut = () => {
    if (!req.aborted) res.close();
  };
  const late = setTimeout(cut, pageWay.whole);
  req.left = () => {
    body.stop();
    go();
  };
  res.onWritable(() => {
    go();
    return true;
  });
  try {
    if (!req.aborted) res.cork(head);
    while (!req.aborted) {
      const piece = await body.next();
      if (piece === null || req.aborted) break;
      let isThrough = true;
      if (piece.length > 0)
        res.cork(() => {
          isThrough = res.write(piece);
        });
      if (!isThrough)
        await new Promise<void>((resolve) => {
          go = resolve;
        });
    }
    clearTimeout(late);
    if (!req.aborted) res.cork(() => void res.end());
  } catch (e) {
    if (!(e instanceof IngleError)) log('error', 'an answer broke off', { cause: e });
    cut();
  } finally {
    clearTimeout(late);
    body.stop();
  }
}
