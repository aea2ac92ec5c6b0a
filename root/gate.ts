// The gate between uWebSockets.js and Engine.IO. Packets are counted here before anything parses them: a connection over
// its budget is closed, and when there is more to do than fits, connections take turns.
import type { TemplatedApp, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { elapsed, refill } from '../firmware/protocol/bucket.ts';
import { openTurns, type Source } from '../firmware/protocol/turns.ts';
import type { Backlog, Receiver } from './backlog.ts';
import { clientKey, type Limit } from './limit.ts';
import { log } from './log.ts';

type Data = string | ArrayBuffer;
type Kind = keyof typeof budgets;

/** What Engine.IO keeps for a connection; `gate` is ours. */
interface Transport {
  onData(data: Data): void;
  key?: string;
  gate?: Conn;
}
type Ws = WebSocket<{ transport: Transport }>;

/** A connection as the gate sees it. Small, as each connected browser has one. */
export interface Conn extends Source<Data>, Receiver {
  kind: Kind;
  /** The client it came from (`clientKey`), and what it is known by once it is let in: cookie or hub_id. */
  key: string;
  name: string;
  /** What it may still send, packets and bytes, and when that was counted (ms). */
  packets: number;
  bytes: number;
  /** Packets, times four, that it may have done before its turn. */
  quick: number;
  at: number;
  /** Namespaces it may still ask for. */
  connects: number;
  /** Bytes of its packets that wait for their turn. */
  held: number;
  transport: Transport;
}

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Packets and bytes it may send, and packets, times four, that it may have done before its turn; packets and bytes that
 * may wait for a turn; packets a turn.
 * A download at 8 MiB/s is 512 frames a second with as many of credit, two packets each; a hub has many browsers.
 */
const budgets = {
  stranger: {
    packets: { burst: 8, perMs: 0 },
    bytes: { burst: 256 * KIB, perMs: 0 },
    quick: { burst: 0, perMs: 0 },
    waiting: 8,
    held: 256 * KIB,
    turn: 1,
  },
  browser: {
    packets: { burst: 4096, perMs: 4 },
    bytes: { burst: 32 * MIB, perMs: 16 * KIB },
    quick: { burst: 128, perMs: 1 },
    waiting: 2048,
    held: 8 * MIB,
    turn: 2,
  },
  hub: {
    packets: { burst: 32_768, perMs: 32 },
    bytes: { burst: 64 * MIB, perMs: 64 * KIB },
    quick: { burst: 512, perMs: 4 },
    waiting: 8192,
    held: 16 * MIB,
    turn: 16,
  },
} as const;

/** How a request for a namespace begins: Engine.IO message (4), Socket.IO connect (0). */
const CONNECT = '40';
/** Namespaces a connection may ask for: a client tries again on the same one after a refusal. */
const CONNECTS = 8;
/** Bytes of packets of all connections that may wait for their turn. */
const HELD = 32 * MIB;
/** How long packets are done as they come before the rest waits for its turn, and how long turns take, milliseconds. */
const SLICE = 2;
const TURN = 1;
/** Connections nobody has signed in on: of one client, and of all (the oldest gives way to a new one). */
const STRANGERS_OF_KEY = 64;
const STRANGERS = 2048;
/** Connections of one client at once: a household, or a provider's shared address. */
const OF_KEY = 1024;
/** Who was closed for a flood stays out for so long, milliseconds. */
const AWAY = 10_000;

export interface GateOptions {
  limit: Limit;
  backlog: Backlog;
  ipOf(header: (name: string) => string, peer: string): string;
  cookieOf(header: string): string;
}

export type Gate = ReturnType<typeof openGate>;

export function openGate(o: GateOptions) {
  const strangers = new Set<Conn>();
  const keys = new Map<string, { all: number; strangers: number }>();
  const away = new Map<string, number>();
  const floods = { closed: 0 };
  let held = 0;

  const turns = openTurns<Data, Conn>({
    slice: TURN,
    atOnce: SLICE,
    quantum: (c) => budgets[c.kind].turn,
    work(c, data) {
      const n = sizeOf(data);
      c.held -= n;
      held -= n;
      c.transport.onData(data);
    },
  });

  function flood(c: Conn): void {
    floods.closed++;
    log('debug', 'a connection sent too much', { kind: c.kind });
    if (c.kind !== 'stranger') away.set(c.name, Date.now() + AWAY);
    c.cut();
  }
  /** Whether the connection may send this packet at all. */
  function counts(c: Conn, bytes: number, now: number): boolean {
    const b = budgets[c.kind];
    // A quiet minute fills everything; more would only leave the range of small integers.
    const ms = Math.min(elapsed(c.at, now), 60_000) | 0;
    c.packets = refill(c.packets, b.packets, ms);
    c.bytes = refill(c.bytes, b.bytes, ms);
    c.quick = refill(c.quick, b.quick, ms);
    c.at = now;
    c.packets--;
    c.bytes -= bytes;
    return c.packets >= 0 && c.bytes >= 0;
  }
  /** Who sends little does not wait behind those who send much. */
  function quick(c: Conn): boolean {
    if (c.quick < 4) return false;
    c.quick -= 4;
    return true;
  }
  function wait(c: Conn, data: Data): void {
    const b = budgets[c.kind];
    const n = sizeOf(data);
    c.held += n;
    held += n;
    turns.push(c, data);
    if (c.waiting!.length > b.waiting || c.held > b.held) flood(c);
    while (held > HELD) flood([...turns.sources()].reduce((x, y) => (y.held > x.held ? y : x)));
  }

  function message(ws: Ws, message: ArrayBuffer, isBinary: boolean): void {
    const { transport } = ws.getUserData();
    const c = transport.gate!;
    if (!counts(c, message.byteLength, performance.now() | 0)) {
      flood(c);
      return;
    }
    const data = isBinary ? message : Buffer.from(message).toString();
    if (typeof data === 'string' && data.startsWith(CONNECT) && c.connects-- <= 0) {
      flood(c);
      return;
    }
    if (c.waiting === null && (turns.free || quick(c))) transport.onData(data);
    // uWebSockets.js takes the bytes back when this returns.
    else wait(c, typeof data === 'string' ? data : data.slice(0));
  }

  /** Seconds until a client may connect; 0 = now. */
  function refused(key: string, cookie: string): number {
    const until = away.get(cookie) ?? 0;
    if (until > Date.now()) return Math.ceil((until - Date.now()) / 1000);
    const k = keys.get(key);
    if (k && (k.all >= OF_KEY || k.strangers >= STRANGERS_OF_KEY)) return 5;
    try {
      o.limit.take(key);
      return 0;
    } catch {
      return 10;
    }
  }
  function opened(ws: Ws): void {
    const { transport } = ws.getUserData();
    const { packets, bytes } = budgets.stranger;
    const key = transport.key ?? '';
    const c: Conn = {
      ...{ kind: 'stranger', key, name: '', owner: key },
      ...{ packets: packets.burst, bytes: bytes.burst, quick: 0 },
      ...{ at: performance.now() | 0, connects: CONNECTS, held: 0, waiting: null, behind: 0, transport },
      cut,
    };
    transport.gate = c;
    strangers.add(c);
    const k = keys.get(key);
    if (k) {
      k.all++;
      k.strangers++;
    } else keys.set(key, { all: 1, strangers: 1 });
    if (strangers.size > STRANGERS)
      for (const oldest of strangers) {
        oldest.cut();
        break;
      }
  }
  function closed(ws: Ws): void {
    const c = ws.getUserData().transport.gate;
    if (!c) return;
    turns.forget(c);
    held -= c.held;
    c.held = 0;
    o.backlog.note(c, 0);
    const k = keys.get(c.key)!;
    if (strangers.delete(c)) k.strangers--;
    if (--k.all === 0) keys.delete(c.key);
  }

  return {
    /** Stands between an application and what is attached to it. */
    before(app: TemplatedApp): TemplatedApp {
      const gated = {
        any: (path: string, handler: Parameters<TemplatedApp['any']>[1]) => {
          app.any(path, handler);
          return gated;
        },
        publish: app.publish.bind(app),
        ws(path: string, b: WebSocketBehavior<{ transport: Transport }>) {
          app.ws<{ transport: Transport }>(path, {
            ...b,
            message,
            drain: (ws) => void o.backlog.note(ws.getUserData().transport.gate!, ws.getBufferedAmount()),
            upgrade(res, req, context) {
              const header = (name: string) => req.getHeader(name);
              const key = clientKey(o.ipOf(header, Buffer.from(res.getRemoteAddressAsText()).toString()));
              const seconds = refused(key, o.cookieOf(header('cookie')));
              if (seconds > 0) {
                res.writeStatus('429 Too Many Requests').writeHeader('retry-after', String(seconds));
                res.end('', true);
                return;
              }
              Object.assign(req, { key });
              b.upgrade!(res, req, context);
            },
            open(ws) {
              opened(ws);
              b.open!(ws);
            },
            close(ws, code, reason) {
              closed(ws);
              b.close!(ws, code, reason);
            },
          });
          return gated;
        },
      };
      return gated as unknown as TemplatedApp;
    },
    /** Engine.IO made a connection: its transport carries the client's key to the gate. */
    connection(e: { transport: object; request: object }): void {
      (e.transport as Transport).key = (e.request as { key?: string }).key;
    },
    /**
     * A namespace took the connection: from now on it has the budget of a browser or of a hub.
     * @param name its cookie or hub_id
     */
    admit(conn: object, kind: 'browser' | 'hub', owner: string, name: string): void {
      const c = (conn as { transport: Transport }).transport.gate;
      if (!c) return;
      o.backlog.note(c, 0);
      const { packets, bytes, quick } = budgets[kind];
      Object.assign(c, { kind, owner, name });
      Object.assign(c, { packets: packets.burst, bytes: bytes.burst, quick: quick.burst });
      if (strangers.delete(c)) keys.get(c.key)!.strangers--;
    },
    /** Says whose a connection is. */
    owns(conn: object, owner: string): void {
      const c = (conn as { transport: Transport }).transport.gate;
      if (!c) return;
      const { behind } = c;
      o.backlog.note(c, 0);
      c.owner = owner;
      o.backlog.note(c, behind);
    },
    /** Seconds somebody closed for a flood must stay away. */
    away(name: string): number {
      return Math.max(0, Math.ceil(((away.get(name) ?? 0) - Date.now()) / 1000));
    },
    /** Something else than a frame was written: it counts as waiting, too. */
    wrote(conn: object): void {
      const { transport } = conn as { transport: Transport & { socket?: Ws } };
      try {
        if (transport.gate) o.backlog.note(transport.gate, transport.socket!.getBufferedAmount());
      } catch {
        // uWebSockets.js throws on a socket that has just closed.
      }
    },
    sweep(): void {
      for (const [name, until] of away) if (until < Date.now()) away.delete(name);
    },
    /** Connections, those nobody has signed in on, and bytes that wait: read by humans and tests. */
    counts: () => ({ strangers: strangers.size, held, behind: o.backlog.bytes(), floods: floods.closed }),
  };
}

/** Closes at once: a closing handshake would go on taking what a flood sends. */
function cut(this: Conn): void {
  try {
    (this.transport as unknown as { socket: Ws }).socket.close();
  } catch {
    // It has just closed.
  }
}

function sizeOf(data: Data): number {
  return typeof data === 'string' ? data.length : data.byteLength;
}
