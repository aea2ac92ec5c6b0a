// The gate between uWebSockets.js and Engine.IO. Packets are counted here before anything parses them: a connection over
// its budget is closed, and when there is more to do than fits, connections take turns.
import type { TemplatedApp, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { openTurns, type Source } from '../firmware/protocol/turns.ts';
import type { Backlog, Receiver } from './backlog.ts';
import { budgets, type Purse, pay, quick, refillWhole } from './budget.ts';
import { type Guest, openAway, openCrowd } from './crowd.ts';
import { type DoorOptions, openDoor } from './door.ts';
import { log } from './log.ts';

type Data = string | ArrayBuffer;

/** What Engine.IO keeps for a connection; `gate` is ours. */
interface Transport {
  onData(data: Data): void;
  key?: string;
  gate?: Conn;
}
type Ws = WebSocket<{ transport: Transport }>;

/** A connection as the gate sees it. Small, as each connected browser has one. */
export interface Conn extends Source<Data>, Receiver, Purse, Guest {
  /** What it is known by once it is let in: cookie or hub_id. */
  name: string;
  /** Namespaces it may still ask for. */
  connects: number;
  /** Bytes of its packets that wait for their turn. */
  held: number;
  transport: Transport;
}

/** How a request for a namespace begins: Engine.IO message (4), Socket.IO connect (0). */
const CONNECT = '40';
/** How Engine.IO's packet `close` begins. */
const CLOSE = '1';
/** Namespaces a connection may ask for: a client tries again on the same one after a refusal. */
const CONNECTS = 8;
/** Bytes of packets of all connections that may wait for their turn. */
const HELD = 32 * 1024 * 1024;
/** How long packets are done as they come before the rest waits for its turn, and how long turns take, milliseconds. */
const SLICE = 2;
const TURN = 1;

export interface GateOptions extends DoorOptions {
  backlog: Backlog;
}

export type Gate = ReturnType<typeof openGate>;

export function openGate(o: GateOptions) {
  const crowd = openCrowd();
  const away = openAway();
  let floods = 0;
  const queue = openQueue(flood);
  const door = openDoor(o, crowd, away);

  function flood(c: Conn): void {
    floods++;
    log('debug', 'a connection sent too much', { kind: c.kind });
    if (c.kind !== 'stranger') away.shut(c.name);
    c.cut();
  }

  function message(ws: Ws, message: ArrayBuffer, isBinary: boolean): void {
    const { transport } = ws.getUserData();
    const c = transport.gate!;
    if (!pay(c, message.byteLength, performance.now() | 0)) {
      flood(c);
      return;
    }
    const data = isBinary ? message : Buffer.from(message).toString();
    if (typeof data === 'string' && data.startsWith(CONNECT) && c.connects-- <= 0) {
      flood(c);
      return;
    }
    if (c.waiting === null && (queue.free || quick(c))) hand(c, data);
    // uWebSockets.js takes the bytes back when this returns.
    else queue.push(c, typeof data === 'string' ? data : data.slice(0));
  }

  /** A ping or pong of WebSocket: nothing parses it, and uWebSockets.js answers by itself, read or not. */
  function control(ws: Ws, message: ArrayBuffer): void {
    const c = ws.getUserData().transport.gate!;
    if (!pay(c, message.byteLength, performance.now() | 0)) flood(c);
    else o.backlog.note(c, ws.getBufferedAmount());
  }

  function opened(ws: Ws): void {
    const { transport } = ws.getUserData();
    transport.gate = connOf(transport);
    crowd.came(transport.gate);
  }
  function closed(ws: Ws): void {
    const c = ws.getUserData().transport.gate;
    if (!c) return;
    queue.forget(c);
    o.backlog.note(c, 0);
    crowd.left(c);
  }

  return {
    /** Stands between an application and what is attached to it. */
    before: (app: TemplatedApp): TemplatedApp =>
      between(app, (b) => ({
        ...b,
        message,
        ping: control,
        pong: control,
        drain: (ws) => void o.backlog.note(ws.getUserData().transport.gate!, ws.getBufferedAmount()),
        upgrade: (res, req, context) => {
          if (door.lets(res, req)) b.upgrade!(res, req, context);
        },
        open(ws) {
          opened(ws);
          b.open!(ws);
        },
        close(ws, code, reason) {
          closed(ws);
          b.close!(ws, code, reason);
        },
      })),
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
      crowd.known(c, kind);
      c.owner = owner;
      c.name = name;
      refillWhole(c);
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
    away: away.seconds,
    /** Something else than a frame was written: it counts as waiting, too. */
    wrote(conn: object): void {
      const { transport } = conn as { transport: Transport & { socket?: Ws } };
      try {
        if (transport.gate) o.backlog.note(transport.gate, transport.socket!.getBufferedAmount());
      } catch {
        // uWebSockets.js throws on a socket that has just closed.
      }
    },
    sweep: away.sweep,
    /** Connections by kind (strangers: nobody has signed in on them), bytes that wait, and who was closed or turned away. */
    counts: () => ({
      connections: crowd.counts(),
      held: queue.held(),
      behind: o.backlog.bytes(),
      floods,
      refused: door.refused(),
    }),
  };
}

/** A new connection: a stranger's. Written out, as what is put together of others takes several times the memory. */
function connOf(transport: Transport): Conn {
  const key = transport.key ?? '';
  const c: Conn = {
    kind: 'stranger',
    key,
    name: '',
    owner: key,
    packets: 0,
    bytes: 0,
    quick: 0,
    at: performance.now() | 0,
    connects: CONNECTS,
    held: 0,
    waiting: null,
    behind: 0,
    transport,
    cut,
  };
  refillWhole(c);
  return c;
}

/** Packets that wait for their turn. @param flood closes a connection of which too much waits */
function openQueue(flood: (c: Conn) => void) {
  let held = 0;
  const turns = openTurns<Data, Conn>({
    slice: TURN,
    atOnce: SLICE,
    quantum: (c) => budgets[c.kind].turn,
    work(c, data) {
      const n = sizeOf(data);
      c.held -= n;
      held -= n;
      hand(c, data);
    },
  });
  return {
    /** Whether a packet may be done as it comes. */
    get free() {
      return turns.free;
    },
    push(c: Conn, data: Data): void {
      const b = budgets[c.kind];
      const n = sizeOf(data);
      c.held += n;
      held += n;
      turns.push(c, data);
      if (c.waiting!.length > b.waiting || c.held > b.held) flood(c);
      while (held > HELD) flood([...turns.sources()].reduce((x, y) => (y.held > x.held ? y : x)));
    },
    forget(c: Conn): void {
      turns.forget(c);
      held -= c.held;
      c.held = 0;
    },
    held: () => held,
  };
}

/** Engine.IO does nothing on a packet `close`; its protocol lets the client go. */
function hand(c: Conn, data: Data): void {
  if (typeof data === 'string' && data.startsWith(CLOSE)) c.cut();
  else c.transport.onData(data);
}

type Behavior = WebSocketBehavior<{ transport: Transport }>;

/** The application as it is for what is attached to it: what that does with sockets is `gated` first. */
function between(app: TemplatedApp, gated: (b: Behavior) => Behavior): TemplatedApp {
  const front = {
    any: (path: string, handler: Parameters<TemplatedApp['any']>[1]) => {
      app.any(path, handler);
      return front;
    },
    publish: app.publish.bind(app),
    ws(path: string, b: Behavior) {
      app.ws<{ transport: Transport }>(path, gated(b));
      return front;
    },
  };
  return front as unknown as TemplatedApp;
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
