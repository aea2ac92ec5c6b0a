// The sockets: who knocks, and at which of the two namespaces, /hub and /owner.
import type { Server, Socket } from 'socket.io';
import { type ErrorBody, IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import type { Restart } from '../firmware/protocol/wire.ts';
import { dispatcher, type Side } from './events.ts';
import type { Gate } from './gate.ts';
import { hubSide } from './hub-side.ts';
import { log } from './log.ts';
import { ownerSide } from './owner-side.ts';
import type { Root } from './root.ts';
import { slimmer, withoutRooms } from './slim.ts';

export function openSockets(
  io: Server,
  root: Root,
  gate: Gate,
  ipOf: (header: (n: string) => string, peer: string) => string,
) {
  // The default namespace is open to everybody in Socket.IO; nobody has business there.
  io.use((_, go) => go(refusal(new IngleError('forbidden', 'Connect to /hub or /owner.'))));

  function serve(namespace: string, side: Side): void {
    const space = io.of(namespace);
    withoutRooms(space);
    space.use(async (socket, go) => {
      try {
        const header = headerOf(socket);
        root.limits.socket.take(ipOf(header, socket.handshake.address));
        await side.admit(socket, header);
        go();
      } catch (e) {
        go(refusal(e));
      }
    });
    const dispatch = dispatcher(side.events, () => root.relay.unknown(), gate.wrote);
    const slim = slimmer(dispatch, side.gone);
    space.on('connection', (socket) => {
      if (!slim(socket)) return;
      side.came(socket);
      if (root.health.draining) noticeOf(root, socket);
    });
  }
  serve('/hub', hubSide(root, gate));
  serve('/owner', ownerSide(root, gate));
}

/** Tells a client that root ends, and within what time to come back. */
function noticeOf(root: Root, socket: Socket): void {
  socket.emit('restart', { in_ms: root.config.drain * 1000 } satisfies Restart);
}

/** Tells all that are connected. */
export function announceRestart(io: Server, root: Root): void {
  for (const namespace of ['/hub', '/owner'])
    for (const socket of io.of(namespace).sockets.values()) noticeOf(root, socket);
}

/** What a refused handshake says: the one error shape, in `err.data`. */
function refusal(e: unknown): Error & { data: ErrorBody } {
  if (!(e instanceof IngleError)) log('error', 'a handshake failed', { cause: e });
  const error = toIngleError(e);
  return Object.assign(new Error(error.code), { data: error.body() });
}

function headerOf(socket: Socket): (name: string) => string {
  return (name) => {
    const v = socket.handshake.headers[name];
    return typeof v === 'string' ? v : '';
  };
}
