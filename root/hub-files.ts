// Files below a skill's /v1/ui/, asked of a hub over its socket: a piece at a time, so that a hub that floods, is slow or
// goes away costs root one piece and a timer.
import type { Socket } from 'socket.io';
import * as T from 'typebox';
import { random, toBase64url } from '../firmware/protocol/bytes.ts';
import { checked } from '../firmware/protocol/endpoint/check.ts';
import { fromBody, IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { pageWay } from '../firmware/protocol/skill-page.ts';
import type { PageAsked } from '../firmware/protocol/wire.ts';
import type { Pieces } from './http.ts';

export interface HubFiles {
  /**
   * Begins a file.
   * @returns its type as the hub says it, and all of its pieces
   * @throws IngleError what the hub said; `hub_offline`, `timeout`, `rate_limited` when the hub has enough under way
   */
  get(hubId: string, of: Omit<PageAsked, 'id'>): Promise<{ type: string; pieces: Pieces }>;
}

/** Bounds of `pageWay`, which says their units. */
type Way = Record<'open' | 'file' | 'head' | 'next', number>;

/** What a hub may say of a file; other words of its own do not go further. */
const passed = ['not_found', 'forbidden', 'assertion_required', 'rate_limited', 'too_large', 'unavailable'];
const answered = T.Object({
  type: T.Optional(T.String({ maxLength: 100 })),
  end: T.Boolean(),
});

interface Piece {
  type: string;
  bytes: Uint8Array;
  end: boolean;
}

const offline = () => new IngleError('hub_offline', 'The hub has no open connection to root.');

/** What a hub answered, as it may be used. @throws IngleError */
function pieceOf(said: unknown): Piece {
  const { ok, bytes, ...rest } = Object(said) as Record<string, unknown>;
  if (ok !== true) {
    const error = fromBody(said, 503);
    throw new IngleError(
      passed.includes(error.code) ? error.code : 'unavailable',
      error.message.slice(0, 200),
    );
  }
  if (!(bytes instanceof Uint8Array) || bytes.length > pageWay.piece)
    throw new IngleError('unavailable', "The hub's answer is not one.");
  const { type = '', end } = checked(answered, rest);
  // uWebSockets.js takes the bytes back after this turn.
  return { type, bytes: Uint8Array.from(bytes), end };
}

/** Asks a hub, once. @throws IngleError */
function ask(socket: Socket, event: string, message: object, ms: number): Promise<Piece> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(offline());
    socket.once('disconnect', gone);
    socket.timeout(ms).emit(event, message, (late: unknown, said: unknown) => {
      socket.off('disconnect', gone);
      try {
        if (late) throw new IngleError('timeout', 'The hub took too long to answer.');
        resolve(pieceOf(said));
      } catch (e) {
        reject(e instanceof IngleError ? e : toIngleError(e));
      }
    });
  });
}

/** @param hubOf the socket of a hub that is there @param way its bounds, for tests */
export function openHubFiles(hubOf: (hubId: string) => Socket | undefined, way: Way = pageWay): HubFiles {
  const open = new Map<Socket, number>();
  function count(socket: Socket, by: 1 | -1): void {
    const n = (open.get(socket) ?? 0) + by;
    if (n > 0) open.set(socket, n);
    else open.delete(socket);
  }

  return {
    async get(hubId, of) {
      const socket = hubOf(hubId);
      if (!socket) throw offline();
      if ((open.get(socket) ?? 0) >= way.open)
        throw new IngleError('rate_limited', 'Too many pages of this hub are on their way.', {
          retry_after: 1,
        });
      const id = toBase64url(random(12));
      let stopped = false;
      count(socket, 1);
      function stop(over = false): void {
        if (stopped) return;
        stopped = true;
        count(socket!, -1);
        if (!over && socket!.connected) socket!.emit('page.stop', { id });
      }
      try {
        const first = await ask(socket, 'page.get', { ...of, id }, way.head);
        return { type: first.type, pieces: pieces(socket, id, first, way, stop) };
      } catch (e) {
        stop();
        throw e;
      }
    },
  };
}

/** @param stop ends the file; `over`: the hub knows */
function pieces(socket: Socket, id: string, first: Piece, way: Way, stop: (over?: boolean) => void): Pieces {
  let waiting: Piece | undefined = first;
  let [bytes, ended] = [0, false];
  async function next(): Promise<Uint8Array | null> {
    if (ended) return null;
    const piece = waiting ?? (await ask(socket, 'page.next', { id }, way.next));
    waiting = undefined;
    bytes += piece.bytes.length;
    if (bytes > way.file) throw new IngleError('too_large', 'The file is too large for this way.');
    // Without end or bytes it would be asked for again and again.
    if (!piece.end && piece.bytes.length === 0)
      throw new IngleError('unavailable', "The hub's answer is not one.");
    ended = piece.end;
    if (ended) stop(true);
    return piece.bytes;
  }
  return {
    next: () =>
      next().catch((e) => {
        ended = true;
        stop();
        throw e;
      }),
    stop: () => stop(),
  };
}
