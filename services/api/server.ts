// HTTP and WebSocket on uWebSockets.js, the only importer of it on the hub. Bounded in bodies, requests and sockets.
import {
  App,
  type HttpRequest,
  type HttpResponse,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';

export interface Request {
  method: string;
  /** As sent, not decoded. */
  path: string;
  query: URLSearchParams;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface Response {
  status: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Instead of a body. `write` keeps what it is given and says whether there is room for more. */
  stream?: (write: (chunk: string) => boolean) => Streaming;
}

/** What the server tells who writes a stream. */
export interface Streaming {
  /** There may be room again. Only a write shows it, and moves on what was kept. */
  writable(): void;
  /** The client is gone; called once. */
  stop(): void;
}

/** An open WebSocket. */
export interface Socket {
  send(bytes: Uint8Array): void;
  /** Closes with a code of RFC 6455 and a reason of at most 120 bytes. */
  end(code: number, reason: string): void;
}

/** What the server tells the owner of a socket. */
export interface SocketEvents {
  open(socket: Socket): void;
  message(bytes: Uint8Array, isBinary: boolean): void;
  close(): void;
}

export interface Service {
  /**
   * Before the body is read: refuses by throwing, answers what needs no body, or names whose request it is, as the
   * places are shared by those who ask.
   */
  admit(request: Omit<Request, 'body'>): Promise<Response> | string;
  handle(request: Request): Promise<Response>;
  /** Refuses the upgrade by throwing. */
  upgrade(request: Omit<Request, 'body'>): SocketEvents;
}

export interface Server {
  readonly port: number;
  /** Requests under way and open sockets. */
  counts(): { requests: number; sockets: number };
  /** Refuses new ones, ends sockets with 1001, and settles when requests under way are answered or `graceMs` is over. */
  close(graceMs: number): Promise<void>;
}

const MAX_REQUESTS = 256;
/** Requests under way of one who asks: a browser has this many streams, and one may not take all places. */
const MAX_OF_ONE = 64;
const MAX_SOCKETS = 256;
const MAX_MESSAGE = 256 * 1024;
const MAX_UNSENT = 2 * 1024 * 1024;
/** How long a client may take to send a body, milliseconds. */
const BODY_MS = 15_000;

/** A request while it is answered. */
interface Exchange {
  /** Its answer has no body. */
  isHead: boolean;
  /** Nothing more is to be answered. */
  aborted: boolean;
  streaming?: Streaming;
}

interface UserData {
  events: SocketEvents;
  socket: Socket;
}

function readHead(req: HttpRequest): Omit<Request, 'body'> {
  const headers: Record<string, string> = {};
  req.forEach((name, value) => {
    headers[name] = value;
  });
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    query: new URLSearchParams(req.getQuery() ?? ''),
    headers,
  };
}

const common: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The one error shape as a response. */
export function errorResponse(cause: unknown): Response {
  const e = toIngleError(cause);
  const after = e.details?.['retry_after'] ?? (e.code === 'rate_limited' ? 1 : undefined);
  const retry: Record<string, string> = after === undefined ? {} : { 'retry-after': String(after) };
  const allow = e.details?.['allow'];
  return {
    status: e.status,
    headers: {
      'content-type': 'application/json',
      ...retry,
      ...(typeof allow === 'string' ? { allow } : {}),
    },
    body: JSON.stringify(e.body()),
  };
}

/** @throws IngleError `conflict` when the address is taken. */
export function listen(host: string, port: number, service: Service): Promise<Server> {
  let requests = 0;
  const byWho = new Map<string, number>();
  let closing = false;
  const sockets = new Set<{ end(code: number, reason: string): void }>();
  const app = App();

  /** @returns whether the answer goes on */
  function respond(res: HttpResponse, r: Response, state: Exchange): boolean {
    if (state.aborted) return false;
    const stream = state.isHead ? undefined : r.stream;
    res.cork(() => {
      res.writeStatus(String(r.status));
      for (const [name, value] of Object.entries({ ...common, ...r.headers })) res.writeHeader(name, value);
      // After a refused body the rest of it may still come; such a connection is not used again.
      const isLast = r.status === 413;
      if (state.isHead) res.endWithoutBody(r.stream ? undefined : Buffer.byteLength(r.body ?? ''), isLast);
      else if (!stream) res.end(r.body ?? '', isLast);
    });
    if (!stream) return false;
    res.onWritable(() => {
      if (!state.aborted) state.streaming?.writable();
      return true;
    });
    state.streaming = stream((chunk) => {
      if (state.aborted) return false;
      let fine = false;
      res.cork(() => {
        fine = res.write(chunk);
      });
      return fine;
    });
    return true;
  }

  app.any('/*', (res, req) => {
    const state: Exchange = { isHead: req.getCaseSensitiveMethod() === 'HEAD', aborted: false };
    let counted = true;
    let who: string | undefined;
    requests++;
    const done = () => {
      if (!counted) return;
      counted = false;
      requests--;
      if (who === undefined) return;
      const left = byWho.get(who)! - 1;
      if (left > 0) byWho.set(who, left);
      else byWho.delete(who);
    };
    res.onAborted(() => {
      state.aborted = true;
      state.streaming?.stop();
      done();
      clearTimeout(late);
    });
    const answer = (r: Response) => {
      clearTimeout(late);
      respond(res, r, state);
      done();
      // What else comes of this body is read and dropped.
      state.aborted = true;
    };
    const refuse = (cause: unknown) => answer(errorResponse(cause));
    const late = setTimeout(
      () => refuse(new IngleError('timeout', 'The request took too long to arrive.')),
      BODY_MS,
    );
    const head = readHead(req);
    try {
      if (closing) throw new IngleError('unavailable', 'The hub is stopping.');
      if (requests > MAX_REQUESTS)
        throw new IngleError('rate_limited', 'Too many requests at once.', { retry_after: 1 });
      if (Number(head.headers['content-length'] ?? 0) > MAX_BODY)
        throw new IngleError('too_large', `A body may have at most ${MAX_BODY} bytes.`);
      const admitted = service.admit(head);
      if (typeof admitted !== 'string') return void admitted.catch(errorResponse).then(answer);
      const mine = byWho.get(admitted) ?? 0;
      if (mine >= MAX_OF_ONE)
        throw new IngleError('rate_limited', 'Too many requests of one browser at once.', { retry_after: 1 });
      who = admitted;
      byWho.set(who, mine + 1);
    } catch (e) {
      return refuse(e);
    }
    const parts: Uint8Array[] = [];
    let size = 0;
    res.onData((chunk, isLast) => {
      if (state.aborted) return;
      size += chunk.byteLength;
      if (size > MAX_BODY)
        return refuse(new IngleError('too_large', `A body may have at most ${MAX_BODY} bytes.`));
      // uWebSockets takes the chunk back when this returns.
      parts.push(new Uint8Array(chunk.slice(0)));
      if (!isLast) return;
      clearTimeout(late);
      service
        .handle({ ...head, body: Buffer.concat(parts) })
        .catch(errorResponse)
        .then((r) => {
          if (!respond(res, r, state)) done();
        });
    });
  });

  app.ws<UserData>('/sync/*', {
    maxPayloadLength: MAX_MESSAGE,
    maxBackpressure: MAX_UNSENT,
    closeOnBackpressureLimit: true,
    idleTimeout: 60,
    sendPingsAutomatically: true,
    upgrade(res, req, context) {
      const head = readHead(req);
      const keys = ['key', 'protocol', 'extensions'].map((n) => head.headers[`sec-websocket-${n}`] ?? '');
      try {
        if (closing) throw new IngleError('unavailable', 'The hub is stopping.');
        if (sockets.size >= MAX_SOCKETS)
          throw new IngleError('rate_limited', 'Too many sockets at once.', { retry_after: 5 });
        const events = service.upgrade(head);
        res.upgrade({ events, socket: { send() {}, end() {} } }, keys[0]!, keys[1]!, keys[2]!, context);
      } catch (e) {
        respond(res, errorResponse(e), { isHead: false, aborted: false });
      }
    },
    open(ws) {
      const data = ws.getUserData();
      let gone = false;
      data.socket = {
        send(bytes) {
          if (!gone) ws.send(bytes, true);
        },
        end(code, reason) {
          if (gone) return;
          gone = true;
          ws.end(code, Buffer.from(reason).subarray(0, 120));
        },
      };
      sockets.add(data.socket);
      data.events.open(data.socket);
    },
    message(ws, message, isBinary) {
      ws.getUserData().events.message(new Uint8Array(message.slice(0)), isBinary);
    },
    close(ws) {
      const data = ws.getUserData();
      sockets.delete(data.socket);
      data.socket.send = () => {};
      data.socket.end = () => {};
      data.events.close();
    },
  });

  // 1 = LIBUS_LISTEN_EXCLUSIVE_PORT: else two processes would share the port in silence. The types lack host with options.
  const listenAt = app.listen.bind(app) as unknown as (
    h: string,
    p: number,
    o: number,
    cb: (s: never) => void,
  ) => void;
  return new Promise((resolve, reject) => {
    listenAt(host, port, 1, (token) => {
      if (!token) {
        reject(
          new IngleError(
            'conflict',
            `${host}:${port} is taken. Stop what listens there, or set another port.`,
          ),
        );
        return;
      }
      resolve({
        port: us_socket_local_port(token),
        counts: () => ({ requests, sockets: sockets.size }),
        async close(graceMs) {
          closing = true;
          us_listen_socket_close(token);
          for (const s of [...sockets]) s.end(1001, 'The hub is stopping.');
          const end = Date.now() + graceMs;
          while (requests > 0 && Date.now() < end) await new Promise((r) => setTimeout(r, 20));
        },
      });
    });
  });
}
