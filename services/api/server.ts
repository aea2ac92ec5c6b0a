// HTTP and WebSocket on uWebSockets.js, the only importer of it on the hub. Bounded in bodies, requests and sockets.
import {
  App,
  type TemplatedApp,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocket,
} from 'uWebSockets.js';
import { openBucket, type Rate, rate, take } from '../../firmware/protocol/bucket.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openExchanges } from './exchange.ts';
import { type Admit, errorResponse, type Head, readHead, writeAnswer } from './http.ts';

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
  admit: Admit;
  /** Refuses the upgrade by throwing. */
  upgrade(head: Head): SocketEvents;
}

export interface Server {
  readonly port: number;
  /** Requests under way, those of them that are streams, and open sockets. */
  counts(): { requests: number; streams: number; sockets: number };
  /** Requests since the start. */
  begun(): number;
  /** Refuses new ones, ends sockets with 1001, and settles when requests under way are answered or `graceMs` is over. */
  close(graceMs: number): Promise<void>;
}

const MAX_SOCKETS = 256;
/** Handshakes at once, and a second, whoever asks: looked at before the token is. */
const handshakes = rate(2 * MAX_SOCKETS, 50);
/** How many sockets, and how often another. */
export interface Limits {
  sockets: number;
  handshakes: Rate;
}
const MAX_MESSAGE = 256 * 1024;
const MAX_UNSENT = 2 * 1024 * 1024;

const closed: Socket = { send() {}, subscribe() {}, cast() {}, end() {} };

interface UserData {
  events: SocketEvents;
  socket: Socket;
}

/** Sockets of `/sync/`, as far as there is room. */
function openSockets(app: TemplatedApp, upgrade: Service['upgrade'], limits: Limits) {
  const shaking = openBucket(limits.handshakes, Date.now());
  const sockets = new Set<Socket>();
  let closing = false;

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
        const events = upgrade(head);
        res.upgrade({ events, socket: closed }, keys[0]!, keys[1]!, keys[2]!, context);
      } catch (e) {
        res.cork(() => writeAnswer(res, errorResponse(e), false));
      }
    },
    open(ws) {
      const data = ws.getUserData();
      data.socket = socketOf(ws);
      sockets.add(data.socket);
      data.events.open(data.socket);
    },
    message(ws, message, isBinary) {
      // A copy, as it is theirs during this call only; from a pool, as most are small.
      ws.getUserData().events.message(Buffer.from(new Uint8Array(message)), isBinary);
    },
    close(ws) {
      const data = ws.getUserData();
      sockets.delete(data.socket);
      Object.assign(data.socket, closed);
      data.events.close();
    },
  });
  return {
    size: () => sockets.size,
    /** Refuses new ones and ends those there are. */
    close(): void {
      closing = true;
      for (const s of [...sockets]) s.end(1001, 'The hub is stopping.');
    },
  };
}

function socketOf(ws: WebSocket<UserData>): Socket {
  let gone = false;
  return {
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
}

/**
 * @param limits others than a hub's, where something else is measured
 * @throws IngleError `conflict` when the address is taken.
 */
export function listen(
  host: string,
  port: number,
  service: Service,
  limits: Limits = { sockets: MAX_SOCKETS, handshakes },
): Promise<Server> {
  const app = App();
  const exchanges = openExchanges(service.admit);
  app.any('/*', exchanges.begin);
  const sockets = openSockets(app, service.upgrade, limits);

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
        // Written out: spread together, it would have a new hidden class in V8 for each call (D126).
        counts: () => ({
          requests: exchanges.requests(),
          streams: exchanges.streams(),
          sockets: sockets.size(),
        }),
        begun: exchanges.begun,
        close(graceMs) {
          us_listen_socket_close(token);
          sockets.close();
          return exchanges.close(graceMs);
        },
      });
    });
  });
}
