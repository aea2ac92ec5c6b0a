// The server on uWebSockets.js: HTTP becomes plain values here, Socket.IO is attached here.

import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { Server } from 'socket.io';
import { pageHeaders } from '../firmware/protocol/page.ts';
import { answer, isApi } from './api.ts';
import { read, write } from './exchange.ts';
import { MAX_WAITING } from './frames.ts';
import { type Gate, openGate } from './gate.ts';
import { failure, type Reply, type Request } from './http.ts';
import { listen } from './listen.ts';
import { log } from './log.ts';
import { openProxies } from './proxies.ts';
import type { Root } from './root.ts';
import { browserOf } from './session.ts';
import { announceRestart, openSockets } from './sockets.ts';
import { openStatic } from './static.ts';
import { openUnderway } from './underway.ts';
import { openUploads } from './uploads.ts';

/** How long answers under way may take once root ends, and how long those who look at readiness have to notice, milliseconds. */
const ANSWERS_MS = 30_000;
const NOTICED_MS = 1000;

export interface RootServer {
  port: number;
  /** Forgets what is over. */
  sweep(): void;
  /** Reads the certificate again. */
  reload(): Promise<void>;
  /** Of its connections, for metrics. */
  counts: Gate['counts'];
  /**
   * Tells all that root ends, and settles when the answers under way are given. Waits for them no longer than
   * `config.drain` and 30 s.
   */
  drain(): Promise<void>;
  /** Closes all sockets and stops listening. */
  close(): Promise<void>;
}

/** Serves as the configuration says. @throws Error with a sentence for the operator (listen.ts) */
export async function serve(root: Root): Promise<RootServer> {
  const { config } = root;
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

  const ipOf = openProxies(config).clientOf;
  const gate = openGate({
    limit: root.limits.connect,
    backlog: root.backlog,
    ipOf,
    cookieOf: (header) => browserOf(root, header, ''),
  });
  const options = { maxBackpressure: 2 * MAX_WAITING.hub, idleTimeout: 120 };
  let engine: { attach(app: TemplatedApp, o: object): void } | undefined;
  /** Each certificate has an application of its own; all share one Engine.IO, which knows every connection. */
  function attach(app: TemplatedApp): void {
    if (engine) engine.attach(gate.before(app), { path: '/socket.io/', ...options });
    else {
      io.attachApp(gate.before(app), options as Parameters<typeof io.attachApp>[1]);
      engine = io.engine as unknown as typeof engine;
      io.engine.on('connection', gate.connection);
      openSockets(io, root, gate, ipOf);
    }
    app.any('/*', route);
  }

  const underway = openUnderway();
  const uploads = openUploads();
  const files = openStatic(config);
  async function file(request: Request): Promise<Reply> {
    const asked = { endpoint: 'file', method: request.method, traceparent: request.header('traceparent') };
    return (await root.observer.request(asked, async () => ({ reply: files.answer(request), error: null })))
      .reply;
  }
  const security = Object.entries(pageHeaders(config.api, true, files.inline));
  function route(res: HttpResponse, req: HttpRequest): void {
    const request = read(res, req, ipOf, uploads);
    const reply = isApi(request.path) ? answer(root, request) : file(request);
    underway.begin();
    reply
      .catch(failure)
      .then((r) => write(res, request, r, security))
      .catch((e) => log('error', 'an answer failed', { cause: e }))
      .finally(underway.end);
  }

  const listener = await listen(config, attach);
  return {
    port: config.port,
    sweep: gate.sweep,
    counts: gate.counts,
    reload: listener.reload,
    async drain() {
      announceRestart(io, root);
      const most = Math.min(config.drain * 1000, ANSWERS_MS);
      const over = pause(most);
      await Promise.all([pause(Math.min(most, NOTICED_MS)), Promise.race([underway.none(), over])]);
      // Whoever comes from now on goes elsewhere; who has come meanwhile is answered.
      await listener.stop();
      await Promise.race([underway.none(), over]);
      // uWebSockets.js sends the last answer when its own turn ends.
      await new Promise((resolve) => setImmediate(resolve));
    },
    async close() {
      await listener.stop();
      // The connections first: clients then take it for the network and come back to the next process.
      io.engine.close();
      await io.close();
      listener.close();
    },
  };
}

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));
