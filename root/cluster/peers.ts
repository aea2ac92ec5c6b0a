// The lines between nodes: each node has one to every other, and one from it. TLS with a key that all nodes of a
// database share (RFC 4279), so a line is encrypted and both ends are known.
import { connect, createServer, type TLSSocket } from 'node:tls';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { log } from '../log.ts';
import type { Node } from './node.ts';
import type { Member } from './registry.ts';
import { frameHead, type Message, reader, say } from './wire.ts';

/** Milliseconds between beats, and after which a line that is silent is cut. */
const BEAT = 250;
const SILENT = 2000;
const DIAL_MS = 1000;
/** Bytes that may wait for a node before it is taken for gone. */
const MAX_WAITING = 64 * 1024 * 1024;

/** Only keys that are made anew for each connection: who learns the shared one later reads nothing. */
const crypt = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305:DHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;
const IDENTITY = 'ingle-root';

export const unreachable = () =>
  new IngleError('unavailable', 'Another node cannot be reached. Try again in a moment.');

/** A line to, or from, another node. */
export interface Line {
  /** The other node. */
  readonly id: string;
  say(body: object): void;
  /** Copies the frame. @returns false when it did not go out */
  frame(end: number, ctr: number, frame: Uint8Array): boolean;
}

export interface Handlers {
  said(line: Line, body: object): void;
  framed(line: Line, end: number, ctr: number, frame: Uint8Array): void;
  lost(line: Line): void;
}

interface Options {
  node: Node;
  listen: { host: string; port: number };
  /** 32 bytes. */
  key: Buffer;
  /** Another node has said that Redis is gone for it; see `goneAt`. */
  confirmed(): void;
  /** The ends of lines that others have to us, and of ours to them. */
  from: Handlers;
  to: Handlers;
}

type Hello = { hello: string; to?: string };
type Beat = { beat: number } | { beaten: number; gone: boolean };

function lineOf(socket: TLSSocket, id: string): Line {
  let waiting: Buffer[] = [];
  const flush = () => {
    const all = waiting;
    waiting = [];
    if (socket.destroyed) return;
    socket.write(all.length === 1 ? all[0]! : Buffer.concat(all));
    if (socket.writableLength > MAX_WAITING) socket.destroy();
  };
  // What is said in one turn is one record of TLS.
  const write = (...bytes: Buffer[]) => {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push(...bytes);
  };
  return {
    id,
    say: (body) => write(say(body)),
    frame(end, ctr, frame) {
      if (socket.destroyed) return false;
      write(frameHead(end, ctr, frame.length), Buffer.from(frame));
      return true;
    },
  };
}

/** What both ends of a line do: hello first, then messages, and an end when it is silent. */
function attend(
  socket: TLSSocket,
  o: { hello(h: Hello): Line | undefined; handlers: Handlers; beat(b: Beat, line: Line): void },
) {
  let line: Line | undefined;
  let heard = performance.now();
  const listening = setInterval(() => {
    if (performance.now() - heard > SILENT) socket.destroy();
  }, BEAT);
  socket.setNoDelay(true);
  const take = (m: Message) => {
    if (m.kind === 'frame') {
      if (line) o.handlers.framed(line, m.end, m.ctr, m.frame);
      return;
    }
    const body = Object(m.body) as object;
    if (!line) {
      line = o.hello(body as Hello);
      if (!line) socket.destroy();
    } else if ('beat' in body || 'beaten' in body) o.beat(body as Beat, line);
    else o.handlers.said(line, body);
  };
  const read = reader(take);
  socket.on('data', (piece: Buffer) => {
    heard = performance.now();
    try {
      read(piece);
    } catch (e) {
      log('error', 'a line between nodes is cut', { cause: e });
      socket.destroy();
    }
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(listening);
    if (line) o.handlers.lost(line);
  });
}

/** A line of ours, from the moment it is dialled. */
interface Entry {
  socket: TLSSocket;
  dialled: Promise<Line>;
  line: Line | undefined;
  /** When the question was asked to which the other node said that Redis is gone. */
  goneAt: number;
}

export type Peers = Awaited<ReturnType<typeof openPeers>>;

/** @throws Error with a sentence for the operator when the port is taken */
export async function openPeers(o: Options) {
  const { host, port } = o.listen;
  const ours = new Map<string, Entry>();
  const theirs = new Set<TLSSocket>();
  const now = () => performance.now();

  const server = createServer({
    ...crypt,
    pskCallback: (_, identity) => (identity === IDENTITY ? o.key : null),
    handshakeTimeout: DIAL_MS,
  });
  // Node tells of it, of a handshake that takes too long too, and leaves the connection open.
  server.on('tlsClientError', (_, socket) => socket.destroy());
  server.on('secureConnection', (socket) => {
    theirs.add(socket);
    socket.on('close', () => theirs.delete(socket));
    attend(socket, {
      hello(h) {
        if (h.to !== o.node.me.id || typeof h.hello !== 'string') return undefined;
        const line = lineOf(socket, h.hello);
        line.say({ hello: o.node.me.id } satisfies Hello);
        return line;
      },
      beat: (b, line) => 'beat' in b && line.say({ beaten: b.beat, gone: o.node.isGone } satisfies Beat),
      handlers: o.from,
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', () =>
      reject(new Error(`Port ${port} on ${host} is taken or not allowed. Choose another: --peer`)),
    );
    server.listen(port, host, resolve);
  });

  function dial(to: Member): void {
    const at = to.peer.lastIndexOf(':');
    const socket = connect({
      ...crypt,
      host: to.peer.slice(0, at).replace(/^\[|\]$/g, ''),
      port: Number(to.peer.slice(at + 1)),
      pskCallback: () => ({ identity: IDENTITY, psk: o.key }),
      // The key is the proof; there is no certificate and no name.
      checkServerIdentity: () => undefined,
    });
    let entry: Entry;
    const dialled = new Promise<Line>((resolve, reject) => {
      const late = setTimeout(() => socket.destroy(), DIAL_MS);
      socket.once('secureConnect', () => {
        socket.write(say({ hello: o.node.me.id, to: to.id } satisfies Hello));
      });
      socket.once('close', () => {
        clearTimeout(late);
        if (ours.get(to.id) === entry) ours.delete(to.id);
        reject(unreachable());
      });
      attend(socket, {
        hello(h) {
          if (h.hello !== to.id) return undefined;
          clearTimeout(late);
          entry.line = lineOf(socket, to.id);
          resolve(entry.line);
          return entry.line;
        },
        beat(b) {
          if (!('beaten' in b)) return;
          entry.goneAt = b.gone ? b.beaten : Number.NEGATIVE_INFINITY;
          if (b.gone) o.confirmed();
        },
        handlers: o.to,
      });
    });
    entry = { socket, line: undefined, goneAt: Number.NEGATIVE_INFINITY, dialled };
    ours.set(to.id, entry);
    dialled.catch(() => {});
  }
  function reset(): void {
    for (const { socket } of ours.values()) socket.destroy();
    for (const socket of theirs) socket.destroy();
  }
  const beating = setInterval(() => {
    for (const { line } of ours.values()) line?.say({ beat: now() } satisfies Beat);
  }, BEAT);

  return {
    /** Has a line to each of them, and to nobody else. */
    keep(members: readonly Member[]): void {
      for (const m of members) if (!ours.has(m.id)) dial(m);
      const ids = new Set(members.map((m) => m.id));
      for (const [id, { socket }] of ours) if (!ids.has(id)) socket.destroy();
    },
    /** @throws IngleError `unavailable` */
    async lineTo(id: string): Promise<Line> {
      const found = ours.get(id)?.dialled;
      if (!found) throw unreachable();
      return found;
    },
    /** Whether the node has answered, and is not silent now. */
    reaches: (id: string): boolean => ours.get(id)?.line !== undefined,
    /** When the node was last asked, by `performance.now()`, and answered that Redis is gone; -Infinity: not so. */
    goneAt: (id: string): number => ours.get(id)?.goneAt ?? Number.NEGATIVE_INFINITY,
    /** Those to nodes that have answered. */
    lines: (): Line[] => [...ours.values()].flatMap(({ line }) => line ?? []),
    /** Cuts all lines, as this node begins anew. */
    reset,
    close(): void {
      clearInterval(beating);
      server.close();
      reset();
    },
  };
}
