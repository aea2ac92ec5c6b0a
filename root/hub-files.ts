// Files below a skill's /v1/ui/, asked of a hub over its socket: a piece at a time, so that a hub that floods, is slow or
// goes away costs root one piece and a timer.
import * as T from 'typebox';
import { random, toBase64url } from '../firmware/protocol/bytes.ts';
import { checked } from '../firmware/protocol/endpoint/check.ts';
import { fromBody, IngleError } from '../firmware/protocol/errors.ts';
import { pageWay } from '../firmware/protocol/skill-page.ts';
import type { PageAsked } from '../firmware/protocol/wire.ts';
import type { Pieces } from './http.ts';
import type { Ways } from './ways.ts';

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
  return { type, bytes, end };
}

/** @param way its bounds, for tests */
export function openHubFiles(ways: Pick<Ways, 'ask' | 'tell'>, way: Way = pageWay): HubFiles {
  const open = new Map<string, number>();
  function count(hubId: string, by: 1 | -1): void {
    const n = (open.get(hubId) ?? 0) + by;
    if (n > 0) open.set(hubId, n);
    else open.delete(hubId);
  }

  return {
    async get(hubId, of) {
      if ((open.get(hubId) ?? 0) >= way.open)
        throw new IngleError('rate_limited', 'Too many pages of this hub are on their way.', {
          retry_after: 1,
        });
      const id = toBase64url(random(12));
      const ask = async (event: string, message: object, ms: number) =>
        pieceOf(await ways.ask(hubId, event, message, ms));
      let stopped = false;
      count(hubId, 1);
      function stop(over = false): void {
        if (stopped) return;
        stopped = true;
        count(hubId, -1);
        if (!over) ways.tell(hubId, 'page.stop', { id });
      }
      try {
        const first = await ask('page.get', { ...of, id }, way.head);
        const next = () => ask('page.next', { id }, way.next);
        return { type: first.type, pieces: pieces(next, first, way, stop) };
      } catch (e) {
        stop();
        throw e;
      }
    },
  };
}

/** @param more asks for the next piece @param stop ends the file; `over`: the hub knows */
function pieces(more: () => Promise<Piece>, first: Piece, way: Way, stop: (over?: boolean) => void): Pieces {
  let waiting: Piece | undefined = first;
  let [bytes, ended] = [0, false];
  async function next(): Promise<Uint8Array | null> {
    if (ended) return null;
    const piece = waiting ?? (await more());
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
