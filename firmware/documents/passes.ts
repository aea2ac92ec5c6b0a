// Room tokens: a browser's WebSocket sends no headers, so for some minutes a parameter says who joins one room.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { IngleError } from '../protocol/errors.ts';
import type { Caller } from './acl.ts';
import { type DocumentKey, parseKey } from './key.ts';

/** How long one is good, milliseconds. */
export const PASS_MS = 5 * 60_000;
/** Good ones, in all and of one caller; the oldest make room. */
const MOST = 256;
const MOST_OF_ONE = 16;

interface Pass {
  /** Its text, as bytes: base64url has several texts for the same bytes, and one of them is the token. */
  secret: Buffer;
  room: string;
  caller: Caller;
  until: number;
}

export interface Passes {
  /** @param room canonical key. @returns the token, and until when it is good, milliseconds since 1970 */
  give(room: string, caller: Caller): { token: string; until: number };
  /**
   * Whom a token was given to. It may be shown again while it is good, as a provider comes back after a lost line.
   * @throws IngleError `unauthenticated` for one that is unknown, over, or of another room
   */
  check(token: string, room: string): { caller: Caller; until: number };
  /** Those of some rooms and callers are good no more. */
  revoke(which: (key: DocumentKey, who: string) => boolean): void;
}

/** In memory alone: a restart ends them all, and whoever may join asks for another. */
export function openPasses(now: () => number = Date.now): Passes {
  const passes = new Map<string, Pass>();
  const secretText = () => Buffer.from(randomBytes(32).toString('base64url'));
  const nobody = { secret: secretText(), room: '', caller: null, until: 0 };

  function drop(which: (p: Pass) => boolean, keep = 0): void {
    const some = [...passes].filter(([, p]) => which(p));
    for (const [id] of some.slice(0, Math.max(0, some.length - keep))) passes.delete(id);
  }
  const whose = (c: Caller) => (c ? `${c.owner_id}/${c.browser}` : '');
  return {
    give(room, caller) {
      const id = randomBytes(9).toString('base64url');
      const secret = secretText();
      const until = now() + PASS_MS;
      drop((p) => p.until <= now());
      drop((p) => whose(p.caller) === whose(caller), MOST_OF_ONE - 1);
      drop(() => true, MOST - 1);
      passes.set(id, { secret, room, caller, until });
      return { token: `${id}${secret}`, until };
    },
    check(token, room) {
      const pass = passes.get(token.slice(0, 12)) ?? nobody;
      const given = Buffer.from(token.slice(12));
      // Of another length it is none, and a length is no secret.
      const isSame = given.length === pass.secret.length && timingSafeEqual(given, pass.secret);
      if (!isSame || pass.room !== room || pass.until <= now())
        throw new IngleError(
          'unauthenticated',
          'This room token is not good, or no longer. Ask for another.',
        );
      return { caller: pass.caller, until: pass.until };
    },
    revoke: (which) => drop((p) => which(parseKey(p.room), p.caller?.owner_id ?? '')),
  };
}
