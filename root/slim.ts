// What Socket.IO and Engine.IO keep of a connection, for as long as it rests: only what tells it from another one.
// They give each connection listeners, closures, queues, maps and a decoder of its own, which take most of its memory
// and say the same of every connection. Here the classes themselves say it: once a namespace has taken a connection,
// its objects become heirs of classes that know each other without listeners, and what they no longer need goes.
// Root's connections are WebSockets of uWebSockets.js with one namespace each; a packet is written as it comes, so none
// ever waits in Engine.IO.
import type { Namespace, Socket } from 'socket.io';

/** Of Engine.IO's packets. */
interface EnginePacket {
  type: string;
  data: unknown;
}
/** Of Engine.IO's connection (engine.io/build/socket.js). */
interface Line {
  readyState: string;
  id: string;
  transport: Transport;
  server: { clients: Record<string, Line>; clientsCount: number };
  request: unknown;
  client: SlimClient;
  close(): void;
  pingTimeoutTimer: unknown;
  onPacket(packet: EnginePacket): void;
  onClose(reason: string, description?: unknown): void;
  onError(e: unknown): void;
}
/** Of what carries it (engine.io/build/transport.js, transports-uws/websocket.js). */
interface Transport {
  line: Line;
  send(packets: object[]): void;
}
/** Of Socket.IO's packets (socket.io-parser). */
interface Packet {
  type: number;
  nsp: string;
}
/** Packets that ask for a namespace, or refuse one; all others are of one that is there. */
const [CONNECT, CONNECT_ERROR] = [0, 4];
interface Decoder {
  add(data: unknown): void;
  on(event: 'decoded', listener: (packet: Packet) => void): void;
  destroy(): void;
  /** What has come of a packet whose attachments are missing. */
  reconstructor?: unknown;
}
/** Of Socket.IO's client (socket.io/dist/client.js). */
interface Client {
  decoder: Decoder;
  conn: Line;
  server: unknown;
  encoder: unknown;
  id: string;
  close(): void;
}
interface Inner {
  client: Client | SlimClient;
  conn: Line;
  handshake: unknown;
  acks: Map<number, unknown>;
  fns: unknown;
  _onpacket(packet: Packet): void;
  _onclose(reason: string, description?: unknown): void;
  registerAckCallback(id: number, ack: unknown): void;
  onack(packet: Packet): void;
}
/** Of node:events; an emitter without `_events` has no listener. */
interface Emitter {
  _events: object | undefined;
  _eventsCount: number;
  emit(type: string, ...args: unknown[]): boolean;
}
type Own<T> = T & Emitter;

/** Handshake data after the handshake: the token and headers of 5,000 browsers are not worth keeping. */
const forgotten = Object.freeze({});
/** In place of lists that stay empty, and of acknowledgements where none is awaited. */
const none = Object.freeze([]);
const noAcks = new Map<number, unknown>();

const unheard = (emitter: unknown) => {
  const e = emitter as Emitter;
  e._events = undefined;
  e._eventsCount = 0;
};

/** A class as it is here, made once for each of theirs. */
function heirs(make: (theirs: object) => object) {
  const made = new Map<object, object>();
  return <T extends object>(one: T): T => {
    const theirs = Object.getPrototypeOf(one) as object;
    const ours = made.get(theirs) ?? make(theirs);
    made.set(theirs, ours);
    return Object.setPrototypeOf(one, ours) as T;
  };
}
const heir = <T>(theirs: object, own: T & ThisType<Own<T & Record<string, unknown>>>): object =>
  Object.setPrototypeOf(own, theirs) as object;

const slimTransport = heirs((theirs) => {
  const more = (theirs as Emitter).emit;
  return heir(theirs, {
    onPacket(this: Transport, packet: EnginePacket): void {
      this.line.onPacket(packet);
    },
    emit(this: Own<Transport>, type: string, said?: unknown): boolean {
      if (type === 'close') this.line.onClose('transport close', said);
      else if (type === 'error') this.line.onError(said);
      else if (this._events) return more.call(this, type, said);
      return true;
    },
  });
});

const slimLine = heirs((theirs) => {
  const [more, onPacket] = [(theirs as Emitter).emit, (theirs as Line).onPacket];
  return heir(theirs, {
    onPacket(this: Line, packet: EnginePacket): void {
      // A message while no answer to a ping is awaited, which nearly all packets are.
      if (packet.type === 'message' && this.pingTimeoutTimer === null && this.readyState === 'open')
        this.client.ondata(packet.data);
      else onPacket.call(this, packet);
    },
    emit(this: Own<Line>, type: string, said?: unknown, description?: unknown): boolean {
      if (type === 'data') this.client.ondata(said);
      else if (type === 'close') {
        delete this.server.clients[this.id];
        this.server.clientsCount--;
        this.client.onclose(said as string, description);
      } else if (this._events) return more.call(this, type, said, description);
      return true;
    },
    /** What is there to send goes: uWebSockets.js keeps what the network does not take yet. */
    sendPacket(this: Own<Line>, type: string, data?: unknown, options: object = {}): void {
      if (this.readyState === 'closing' || this.readyState === 'closed') return;
      this.transport.send([data ? { type, options, data } : { type, options }]);
    },
  });
});

/** A decoder is had for a message, and kept while attachments are missing. */
type SharedDecoder = Decoder & { of: SlimClient | undefined };
const RESTING = 16;
const resting: SharedDecoder[] = [];
function takeDecoder(make: new () => Decoder): SharedDecoder {
  const kept = resting.pop();
  if (kept) return kept;
  const decoder = Object.assign(new make(), { of: undefined }) as SharedDecoder;
  decoder.on('decoded', (packet) => decoder.of!.ondecoded(packet));
  return decoder;
}
function giveBack(decoder: SharedDecoder): void {
  decoder.of = undefined;
  if (resting.length < RESTING) resting.push(decoder);
}

/** The client of a connection with its one namespace. */
interface SlimClient extends Omit<Client, 'decoder'> {
  socket: Inner | undefined;
  decoder: SharedDecoder | undefined;
  ondata(data: unknown): void;
  ondecoded(packet: Packet): void;
  onerror(e: unknown): void;
  onclose(reason: string, description?: unknown): void;
}

/** Stands in for Socket.IO's own client, whose methods it has but those below. */
const clientOf = (() => {
  const made = new Map<object, object>();
  const own = (theirs: Client) => {
    const make = theirs.decoder.constructor as new () => Decoder;
    return heir(Object.getPrototypeOf(theirs) as object, {
      server: theirs.server,
      encoder: theirs.encoder,
      ondata(this: SlimClient, data: unknown): void {
        const decoder = this.decoder ?? takeDecoder(make);
        decoder.of = this;
        this.decoder = decoder;
        try {
          decoder.add(data);
        } catch (e) {
          this.onerror(e);
        }
        // It waits for the bytes that the packet announced.
        if (decoder.reconstructor) return;
        this.decoder = undefined;
        giveBack(decoder);
      },
      ondecoded(this: SlimClient, packet: Packet): void {
        const { socket } = this;
        const isEvent = packet.type !== CONNECT && packet.type !== CONNECT_ERROR;
        if (socket && isEvent && packet.nsp === (socket as unknown as Socket).nsp.name)
          // At once, while the bytes of a frame are valid.
          socket._onpacket(packet);
        // A second namespace has no business on a connection, nor has anything for another one.
        else this.close();
      },
      onerror(this: SlimClient, _: unknown): void {
        this.conn.close();
      },
      onclose(this: SlimClient, reason: string, description?: unknown): void {
        const { socket, decoder } = this;
        this.socket = undefined;
        this.decoder = undefined;
        decoder?.destroy();
        socket?._onclose(reason, description);
      },
      _disconnect(this: SlimClient): void {
        (this.socket as unknown as Socket | undefined)?.disconnect();
        this.close();
      },
      _remove(this: SlimClient): void {
        this.socket = undefined;
      },
    });
  };
  return (theirs: Client, socket: Inner): SlimClient => {
    const { server } = theirs as { server: object };
    const ours = made.get(server) ?? own(theirs);
    made.set(server, ours);
    const client = Object.create(ours) as SlimClient;
    client.conn = theirs.conn;
    client.id = theirs.id;
    client.socket = socket;
    client.decoder = undefined;
    return client;
  };
})();

/** Nobody is told by rooms here, so none is kept for each socket. */
export function withoutRooms(space: Namespace): void {
  Object.assign(space.adapter, { addAll() {}, delAll() {} });
}

/**
 * Makes sockets of one namespace slim.
 * @param dispatch takes their events, with the acknowledgement last where one is asked for
 * @param gone is told when one has ended
 * @returns a function for each socket that has connected; false: its connection has one already, and is closed
 */
export function slimmer(
  dispatch: (this: Socket, args: unknown[]) => void,
  gone: (this: Socket) => void,
): (socket: Socket) => boolean {
  const slimSocket = heirs((theirs) => {
    const { registerAckCallback, onack } = theirs as Inner;
    return heir(theirs, {
      dispatch,
      emitReserved(this: Socket, type: string): boolean {
        if (type === 'disconnect') gone.call(this);
        return true;
      },
      registerAckCallback(this: Inner, id: number, ack: unknown): void {
        if (this.acks === noAcks) this.acks = new Map();
        registerAckCallback.call(this, id, ack);
      },
      onack(this: Inner, packet: Packet): void {
        onack.call(this, packet);
        if (this.acks.size === 0) this.acks = noAcks;
      },
    });
  });
  return (one) => {
    const socket = one as unknown as Inner;
    const line = socket.conn;
    if (line.client) {
      one.disconnect();
      line.close();
      return false;
    }
    const { transport } = line;
    line.request = undefined;
    line.client = clientOf(socket.client as Client, socket);
    transport.line = line;
    socket.client = line.client;
    socket.handshake = forgotten;
    socket.acks = noAcks;
    socket.fns = none;
    Object.assign(line, { writeBuffer: none, packetsFn: none, sentCallbackFn: none, cleanupFn: none });
    for (const emitter of [transport, line, socket]) unheard(emitter);
    slimTransport(transport);
    slimLine(line);
    slimSocket(socket);
    return true;
  };
}
