// How root is asked: with a proof by root's clock, once more when that or a puzzle stood in between, and refusals in our
// words.
import { type ErrorCode, fromBody, IngleError } from '../protocol/errors.ts';
import { MAX_BODY } from '../protocol/limits.ts';
import { POW_HEADER, solvePow } from '../protocol/pairing/pow.ts';
import { puzzleOf } from '../protocol/pairing/puzzle.ts';
import { exchange } from '../system/http.ts';
import type { UplinkText } from '../text/uplink.ts';
import type { HubKeys } from './keys.ts';
import { makeProof, type ProofClaims } from './proof.ts';
import type { Identity } from './rows.ts';

const TIMEOUT = 10_000;
/** A hub's clock may stand at the day its image was made; more than ten years off is no time at all, seconds. */
const MOST_SKEW = 10 * 365 * 86_400;

export interface RootOptions {
  root_url: string;
  keys(): HubKeys;
  /** Unix seconds. */
  now(): number;
  text(key: UplinkText, values?: Record<string, string>): string;
}

/** What root answered, or what it refused with. */
type Answer = { said: Record<string, unknown> } | { refusal: IngleError };

export type Refusals = Partial<Record<ErrorCode, UplinkText>>;

export function rootCalls(o: RootOptions) {
  const audience = new URL(o.root_url).origin;
  const named = { root: o.root_url };
  /**
   * Root's clock less ours, seconds: many hubs have no battery behind theirs. It dates proofs, nothing else. Whoever
   * answers at root's address may lie about the time and so collect proofs that become valid later; each holds for a
   * minute, once, for one purpose, and at this very address: it can be used there to pose as this hub before an honest
   * root, which passes on frames and can open none.
   */
  let skew = 0;

  const improper = () => new IngleError('unavailable', o.text('improper', named));
  const unanswered = () => new IngleError('unavailable', o.text('noAnswer', named));

  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await exchange(o.root_url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      timeoutMs: TIMEOUT,
      maxBytes: MAX_BODY,
    }).catch(() => undefined);
    // Root sends nobody elsewhere.
    if (!answer || (answer.status >= 300 && answer.status < 400)) throw unanswered();
    const said = jsonOf(answer.body);
    if (answer.status >= 400) return { refusal: fromBody(said, answer.status) };
    if (said === null || typeof said !== 'object') throw improper();
    return { said: said as Record<string, unknown> };
  }

  /** Learns from a refusal what time it is at root; true when that may have been the reason. */
  function learnTime(e: IngleError): boolean {
    if (e.code !== 'unauthenticated') return false;
    const theirs = e.details?.['now'];
    if (typeof theirs !== 'number' || !Number.isSafeInteger(theirs)) return false;
    if (Math.abs(theirs - o.now()) > MOST_SKEW) return false;
    const before = skew;
    skew = theirs - o.now();
    return Math.abs(skew - before) > 5;
  }

  /** A refusal in our words, with what to do about it; of root's own only the names it goes by, as origins. */
  function explained(e: IngleError): IngleError {
    if (e.code === 'rate_limited') return new IngleError('rate_limited', o.text('rootBusy', named));
    if (e.code !== 'unauthenticated')
      return new IngleError('unavailable', o.text('refused', { ...named, code: e.code }));
    const names = originsOf(e.details?.['audience']);
    if (names.length > 0 && !names.includes(audience))
      return new IngleError(
        'unauthenticated',
        o.text('wrongAddress', { ...named, audience, names: names.join(', ') }),
      );
    return new IngleError('unauthenticated', o.text('refused', { ...named, code: e.code }));
  }

  /**
   * Asks; once more each if root's clock was the trouble, and if it wants work done first, as while very many enrol.
   * @param own refusals that mean something to who asks, and what is said of them
   * @throws IngleError in our words
   */
  async function ask(
    attempt: (headers?: Record<string, string>) => Promise<Answer>,
    own: Refusals = {},
  ): Promise<Record<string, unknown>> {
    let answer = await attempt();
    for (let again = 0; again < 2 && 'refusal' in answer; again++) {
      const puzzle = puzzleOf(answer.refusal);
      if (puzzle) answer = await attempt({ [POW_HEADER]: await solvePow(puzzle.challenge, puzzle.bits) });
      else if (learnTime(answer.refusal)) answer = await attempt();
      else break;
    }
    if (!('refusal' in answer)) return answer.said;
    const { code } = answer.refusal;
    const meant = own[code];
    throw meant ? new IngleError(code, o.text(meant)) : explained(answer.refusal);
  }
  /** Root's clock as far as it is known, Unix seconds. */
  const time = () => o.now() + skew;
  const proof = (claims: ProofClaims) => makeProof(o.keys(), audience, time(), claims);

  return {
    learnTime,
    explained,
    time,
    proof,
    /** What was read of an answer. @throws IngleError `unavailable` where nothing could be */
    proper<T>(read: T | undefined): T {
      if (read === undefined) throw improper();
      return read;
    },
    /** Asks as nobody yet. @param body made anew at each try, as a proof in it must be */
    ask: (path: string, body: () => Promise<object>) =>
      ask(async (headers) => post(path, await body(), headers)),
    /** Asks as the hub that root knows. @param own see `ask` */
    proven: (path: string, body: object, i: Identity, claims: ProofClaims, own?: Refusals) =>
      ask(
        async (headers) =>
          post(path, body, {
            ...headers,
            authorization: `Bearer ${await proof({ sub: i.hub_id, ...claims })}`,
            'x-ingle-certificate': i.certificate,
          }),
        own,
      ),
    /** What root tells everybody. @throws IngleError `unavailable` */
    async get(path: string): Promise<unknown> {
      const answer = await exchange(o.root_url + path, {
        ...{ timeoutMs: TIMEOUT, maxBytes: MAX_BODY },
      }).catch(() => undefined);
      if (answer?.status !== 200) throw unanswered();
      return jsonOf(answer.body);
    },
  };
}

/** The JSON of an answer, null when it is none. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** The origins in what root says of its names, a few at most. */
function originsOf(names: unknown): string[] {
  return (Array.isArray(names) ? names : [names])
    .filter((n): n is string => typeof n === 'string' && n.length <= 256 && URL.canParse(n))
    .map((n) => new URL(n).origin)
    .slice(0, 8);
}
