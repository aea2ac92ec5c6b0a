// HTTP and WebSocket on uWebSockets.js, the only importer of it on the hub. Bounded in bodies, requests and sockets.
import {
  App,
  type HttpRequest,
  type HttpResponse,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { openBucket, type Rate, rate, take } from '../../firmware/protocol/bucket.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';

/** A request before its body. */
export interface Head {
  method: string;
  /** As sent, not decoded. */
  path: string;
  query: URLSearchParams;
  /** Those of `read`, under their lower-case names; one that is not there or empty is left out. */
  headers: Record<string, string>;
}

/** A request that may send its body. */
export interface Admitted {
  /** Whose request it is, as the places are shared by those who ask. */
  who: string;
  /** The largest body it may bring, bytes. */
  maxBody: number;
  /** What `handle` needs of a body it has read when it returns: no copy is made of one that came whole. */
  isReadAtOnce?: boolean;
  /**
   * Answers at once where it can.
   * @param left calls when the client has gone before its answer
   */
  handle(body: Uint8Array, left: (f: () => void) => void): Response | Promise<Response>;
}

export interface Response {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array | undefined;
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
  /** Hears what others of the topic cast, from now on. */
  subscribe(topic: string): void;
  /** Sends to every other socket of the topic, framed once for all of them. */
  cast(topic: string, bytes: Uint8Array): void;
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
  /** Before the body is read: refuses by throwing, answers what needs no body, or lets the body come. */
  admit(head: Head): Response | Promise<Response> | Admitted;
  /** Refuses the upgrade by throwing. */
  upgrade(head: Head): SocketEvents;
}

export interface Server {
  readonly port: number;
  /** Requests under way, those of them that are streams, and open sockets. */
  counts(): { requests: number; streams: number; sockets: number };
  /** Refuses new ones, ends sockets with 1001, and settles when requests under way are answered or `graceMs` is over. */
  close(graceMs: number): Promise<void>;
}

const MAX_REQUESTS = 256;
/** Requests under way of one who asks: a browser has this many streams, and one may not take all places. */
const MAX_OF_ONE = 64;
/** Bodies above MAX_BODY under way, as they are held in memory. */
const MAX_LARGE = 4;
const MAX_SOCKETS = 256;
/** Handshakes at once, and a second, whoever asks: looked at before the token is. */
const handshakes = rate(2 * MAX_SOCKETS, 50);
const MAX_MESSAGE = 256 * 1024;
const MAX_UNSENT = 2 * 1024 * 1024;
/** The largest refused body that is read to its end, bytes. */
const MAX_DROPPED = 16 * 1024 * 1024;
/** How long a client may take to send a body, milliseconds. */
const BODY_MS = 15_000;
/** The same of a large one, which comes through the relay of a slow line. */
const LARGE_MS = 300_000;
const LOOK_MS = 500;

/** A request while it is answered. */
interface Exchange {
  /** This runs within uWebSockets' own call, which gathers what is written and sends it at its end. */
  isGathered: boolean;
  /** Its answer has no body. */
  isHead: boolean;
  /** Nothing more is to be answered. */
  aborted: boolean;
  streaming?: Streaming;
  /** Of its body, bytes, as its head says; NaN where it does not. */
  size: number;
  /** Until when its body has come, on the clock of `performance`; 0 once it is there. */
  due: number;
  left?: () => void;
  late?: () => void;
}

const closed: Socket = { send() {}, subscribe() {}, cast() {}, end() {} };

interface UserData {
  events: SocketEvents;
  socket: Socket;
}

/** For uWebSockets, to which a string is made bytes at each call. */
const bytes = (text: string) => new TextEncoder().encode(text).buffer as ArrayBuffer;

const named = (...names: string[]) => names.map((name) => ({ name, key: bytes(name) }));
/** The headers of any request: to look for one costs a call, there or not. */
const ofAll = named(
  'x-service-token',
  'x-ingle-principal',
  'idempotency-key',
  'last-event-id',
  'content-length',
);
/** Says that there is a body where no length does. */
const ofUnknownLength = named('transfer-encoding');
const ofSockets = named('sec-websocket-key', 'sec-websocket-protocol', 'sec-websocket-extensions');
/** What only paths below one read. The router takes these words as they stand, so no other spelling leads there. */
const ofPaths = [
  { below: '/api/mcp', names: named('origin', 'mcp-protocol-version', 'mcp-method', 'mcp-name') },
  { below: '/hooks/', names: named('webhook-id', 'webhook-timestamp', 'webhook-signature') },
];
const noQuery = new URLSearchParams();

function readHead(req: HttpRequest, isSocket = false): Head {
  const headers: Record<string, string> = {};
  const read = (some: ReturnType<typeof named>) => {
    for (const { name, key } of some) {
      const value = req.getHeader(key);
      if (value !== '') headers[name] = value;
    }
  };
  read(ofAll);
  if (headers['content-length'] === undefined) read(ofUnknownLength);
  if (isSocket) read(ofSockets);
  const path = req.getUrl();
  for (const { below, names } of ofPaths) if (path.startsWith(below)) read(names);
  const query = req.getQuery();
  return {
    method: req.getCaseSensitiveMethod(),
    path,
    query: query ? new URLSearchParams(query) : noQuery,
    headers,
  };
}

const common = Object.entries({
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});
/** The headers of an answer of JSON. With this very object they are made bytes once for all. */
export const ofJson: Readonly<Record<string, string>> = Object.freeze({ 'content-type': 'application/json' });
const linesOfJson = [...common, ...Object.entries(ofJson)].map((line) => line.map(bytes));

function writeHeaders(res: HttpResponse, headers: Readonly<Record<string, string>> = {}): void {
  if (headers === ofJson) {
    for (const [name, value] of linesOfJson) res.writeHeader(name!, value!);
    return;
  }
  for (const [name, value] of common) if (headers[name] === undefined) res.writeHeader(name, value);
  for (const name of Object.keys(headers)) res.writeHeader(name, headers[name]!);
}

/** The one error shape as a response. */
export function errorResponse(cause: unknown): Response {
  const e = toIngleError(cause);
  const after = e.details?.['retry_after'] ?? (e.code === 'rate_limited' ? 1 : undefined);
  const retry: Record<string, string> = after === undefined ? {} : { 'retry-after': String(after) };
  const allow = e.details?.['allow'];
  return {
    status: e.status,
    headers: { ...ofJson, ...retry, ...(typeof allow === 'string' ? { allow } : {}) },
    body: JSON.stringify(e.body()),
  };
}

const nothing = new Uint8Array();

/** Small ones share a slab, as memory of their own costs more than what is in them. */
function copyOf(chunk: ArrayBuffer): Uint8Array {
  const copy = Buffer.allocUnsafe(chunk.byteLength);
  copy.set(new Uint8Array(chunk));
  return copy;
}

/**
 * @param limits others than a hub's, where something else is measured
 * @throws IngleError `conflict` when the address is taken.
 */
export function listen(
  host: string,
  port: number,
  service: Service,
  limits: { sockets: number; handshakes: Rate } = { sockets: MAX_SOCKETS, handshakes },
): Promise<Server> {
  const shaking = openBucket(limits.handshakes, Date.now());
  let requests = 0;
  let large = 0;
  let streams = 0;
  const byWho = new Map<string, number>();
  let closing = false;
  const sockets = new Set<{ end(code: number, reason: string): void }>();
  /** Requests whose bodies are still to come. */
  const arriving = new Set<Exchange>();
  let looking: NodeJS.Timeout | undefined;
  const app = App();

  /** One timer for all, as most bodies are there before one timer each were set. */
  function expect(state: Exchange, isLarge: boolean): void {
    state.due = performance.now() + (isLarge ? LARGE_MS : BODY_MS);
    arriving.add(state);
    looking ??= setTimeout(look, LOOK_MS);
  }
  function look(): void {
    looking = undefined;
    const now = performance.now();
    for (const state of arriving) if (state.due <= now) state.late?.();
    if (arriving.size > 0) looking = setTimeout(look, LOOK_MS);
  }

  /** @returns whether the answer goes on */
  function respond(res: HttpResponse, r: Response, state: Exchange): boolean {
    if (state.aborted) return false;
    const stream = state.isHead ? undefined : r.stream;
    const write = () => {
      // uWebSockets writes 200 by itself.
      if (r.status !== 200) res.writeStatus(String(r.status));
      writeHeaders(res, r.headers);
      // Who still sends hears the answer only once what is sent was read; without an end to it the connection ends.
      const isLast = r.status === 413 && !(state.size <= MAX_DROPPED);
      if (state.isHead) {
        // uWebSockets would wait for a length it is told, and the next request end the connection; it takes `undefined`
        // for one, too.
        if (!r.stream) res.writeHeader('content-length', String(Buffer.byteLength(r.body ?? '')));
        res.endWithoutBody();
      } else if (!stream) res.end(r.body ?? '', isLast);
    };
    if (state.isGathered) write();
    else res.cork(write);
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
    streams++;
    return true;
  }

  app.any('/*', (res, req) => {
    const head = readHead(req);
    const state: Exchange = {
      isHead: head.method === 'HEAD',
      isGathered: true,
      aborted: false,
      size: 0,
      due: 0,
    };
    let counted = true;
    let admitted: Admitted | undefined;
    let most = MAX_BODY;
    requests++;
    const done = () => {
      if (!counted) return;
      counted = false;
      requests--;
      if (state.streaming) streams--;
      if (most > MAX_BODY) large--;
      if (!admitted) return;
      const left = byWho.get(admitted.who)! - 1;
      if (left > 0) byWho.set(admitted.who, left);
      else byWho.delete(admitted.who);
    };
    /** For what is not answered at once. */
    const wait = () => {
      state.isGathered = false;
      res.onAborted(() => {
        state.aborted = true;
        state.streaming?.stop();
        state.left?.();
        done();
        arriving.delete(state);
      });
    };
    const answer = (r: Response) => {
      arriving.delete(state);
      respond(res, r, state);
      done();
      // What else comes of this body is read and dropped.
      state.aborted = true;
    };
    const refuse = (cause: unknown) => answer(errorResponse(cause));
    /** Refuses a body that is larger than this endpoint takes, or than there is room for. */
    const makeRoom = (size: number) => {
      if (!(size > most)) return;
      const largest = admitted!.maxBody;
      if (size > largest) throw new IngleError('too_large', `A body may have at most ${largest} bytes.`);
      if (large >= MAX_LARGE)
        throw new IngleError('rate_limited', 'Too many large bodies at once.', { retry_after: 2 });
      large++;
      most = largest;
      state.due += LARGE_MS - BODY_MS;
    };
    try {
      if (closing) throw new IngleError('unavailable', 'The hub is stopping.');
      if (requests > MAX_REQUESTS)
        throw new IngleError('rate_limited', 'Too many requests at once.', { retry_after: 1 });
      const letIn = service.admit(head);
      if (letIn instanceof Promise) {
        wait();
        return void letIn.catch(errorResponse).then(answer);
      }
      if (!('handle' in letIn)) return answer(letIn);
      const mine = byWho.get(letIn.who) ?? 0;
      if (mine >= MAX_OF_ONE)
        throw new IngleError('rate_limited', 'Too many requests of one browser at once.', { retry_after: 1 });
      admitted = letIn;
      byWho.set(letIn.who, mine + 1);
      state.size = Number(head.headers['content-length'] ?? Number.NaN);
      makeRoom(state.size);
    } catch (e) {
      return refuse(e);
    }
    const { handle, isReadAtOnce = false } = admitted;
    const left = (f: () => void) => {
      if (state.aborted) f();
      else state.left = f;
    };
    const end = (r: Response) => {
      if (!respond(res, r, state)) done();
    };
    /** @returns whether there is no more to come */
    const perform = (body: Uint8Array): boolean => {
      let r: Response | Promise<Response>;
      try {
        r = handle(body, left);
      } catch (e) {
        r = errorResponse(e);
      }
      if (r instanceof Promise) r.catch(errorResponse).then(end);
      else end(r);
      return !counted;
    };
    // Without these two a request has no body (RFC 9112, 6.3), and nothing is to be waited for.
    if (!head.headers['content-length'] && !head.headers['transfer-encoding']) {
      if (!perform(nothing)) wait();
      return;
    }
    wait();
    state.late = () => refuse(new IngleError('timeout', 'The request took too long to arrive.'));
    expect(state, most > MAX_BODY);
    const parts: Uint8Array[] = [];
    let size = 0;
    res.onData((chunk, isLast) => {
      if (state.aborted) return;
      size += chunk.byteLength;
      try {
        makeRoom(size);
      } catch (e) {
        return refuse(e);
      }
      // uWebSockets takes the chunk back when this returns.
      const isAll = isLast && isReadAtOnce && parts.length === 0;
      if (chunk.byteLength > 0) parts.push(isAll ? new Uint8Array(chunk) : copyOf(chunk));
      if (!isLast) return;
      arriving.delete(state);
      state.isGathered = true;
      perform(parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? nothing));
      state.isGathered = false;
    });
  });

  app.ws<UserData>('/sync/*', {
    maxPayloadLength: MAX_MESSAGE,
    maxBackpressure: MAX_UNSENT,
    closeOnBackpressureLimit: true,
    idleTimeout: 60,
    sendPingsAutomatically: true,
    upgrade(res, req, context) {
      const head = readHead(req, true);
      const keys = ['key', 'protocol', 'extensions'].map((n) => head.headers[`sec-websocket-${n}`] ?? '');
      try {
        if (closing) throw new IngleError('unavailable', 'The hub is stopping.');
        if (!take(shaking, limits.handshakes, Date.now()))
          throw new IngleError('rate_limited', 'Too many sockets are being opened.', { retry_after: 1 });
        if (sockets.size >= limits.sockets)
          throw new IngleError('rate_limited', 'Too many sockets at once.', { retry_after: 5 });
        const events = service.upgrade(head);
        res.upgrade({ events, socket: closed }, keys[0]!, keys[1]!, keys[2]!, context);
      } catch (e) {
        respond(res, errorResponse(e), { isHead: false, isGathered: false, aborted: false, size: 0, due: 0 });
      }
    },
    open(ws) {
      const data = ws.getUserData();
      let gone = false;
      data.socket = {
        send(bytes) {
          if (!gone) ws.send(bytes, true);
        },
        subscribe(topic) {
          if (!gone) ws.subscribe(topic);
        },
        cast(topic, bytes) {
          if (!gone) ws.publish(topic, bytes, true);
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
      Object.assign(data.socket, closed);
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
        counts: () => ({ requests, streams, sockets: sockets.size }),
        async close(graceMs) {
          closing = true;
          us_listen_socket_close(token);
          for (const s of [...sockets]) s.end(1001, 'The hub is stopping.');
          const end = Date.now() + graceMs;
          while (requests > 0 && Date.now() < end) await new Promise((r) => setTimeout(r, 20));
          clearTimeout(looking);
        },
      });
    });
  });
}
