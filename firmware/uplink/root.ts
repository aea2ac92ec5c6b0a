// Root's HTTP endpoints for a hub. What root answers is checked for shape, and no word of its own reaches a person.
import { toBase64url } from '../protocol/bytes.ts';
import { type ErrorCode, fromBody, IngleError } from '../protocol/errors.ts';
import { DEVICE_CODE_TTL, MAX_BODY } from '../protocol/limits.ts';
import { rotationMessage } from '../protocol/noise/rotation.ts';
import { POW_HEADER, solvePow } from '../protocol/pairing/pow.ts';
import { puzzleOf } from '../protocol/pairing/puzzle.ts';
import { exchange } from '../system/http.ts';
import type { UplinkText } from '../text/uplink.ts';
import { type HubKeys, signWith } from './keys.ts';
import { makeProof, type ProofClaims, readCertificate } from './proof.ts';
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

/** What root offers to a hub's key; `note`: what the hub that led its subnet has signed. */
export type Offered = Identity & { note?: string };

/** Root's public keys (RFC 7517). */
export type RootKeys = { keys: Record<string, unknown>[] };

type Refusals = Partial<Record<ErrorCode, UplinkText>>;
const subnetRefusals: Refusals = {
  invalid_device_code: 'subnetCode',
  conflict: 'subnetBusy',
  not_found: 'subnetNone',
};

export interface DeviceCode {
  device_code: string;
  /** Seconds. */
  expires_in: number;
  /** Seconds since somebody took the code before, if somebody did. */
  taken_ago: number | undefined;
}

export function rootClient(o: RootOptions) {
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

  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await exchange(o.root_url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      timeoutMs: TIMEOUT,
      maxBytes: MAX_BODY,
    }).catch(() => undefined);
    // Root sends nobody elsewhere.
    if (!answer || (answer.status >= 300 && answer.status < 400))
      throw new IngleError('unavailable', o.text('noAnswer', named));
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
  const proofFor = (claims: ProofClaims) => makeProof(o.keys(), audience, o.now() + skew, claims);
  const proven = (path: string, body: unknown, i: Identity, claims: ProofClaims, own?: Refusals) =>
    ask(
      async (headers) =>
        post(path, body, {
          ...headers,
          authorization: `Bearer ${await proofFor({ sub: i.hub_id, ...claims })}`,
          'x-ingle-certificate': i.certificate,
        }),
      own,
    );
  const ofSubnet = (what: 'join' | 'admit' | 'part', i: Identity, body: object) =>
    proven(`/v1/hub/subnet/${what}`, body, i, { purpose: `subnet-${what}` }, subnetRefusals);
  const e2ePub = () => o.keys().e2e[0]!.x;

  return {
    learnTime,
    explained,
    /** Credentials of one socket handshake. */
    auth: async (i: Identity) => ({
      hub_id: i.hub_id,
      certificate: i.certificate,
      proof: await proofFor({ purpose: 'socket', sub: i.hub_id }),
    }),

    /**
     * The place root offers to this hub's key: a new one, or the one it has. Whether it is taken is for the caller.
     * @throws IngleError `unavailable`, `rate_limited`, `unauthenticated`
     */
    async enrol(): Promise<Offered> {
      const said = await ask(async (headers) => {
        const keys = { sign_pub: o.keys().sign.x, e2e_pub: e2ePub() };
        return post('/v1/hub/enrol', { ...keys, proof: await proofFor({ purpose: 'enrol' }) }, headers);
      });
      const { owner_id, subnet_id, hub_id, app_url, parted } = said;
      if (!isId(owner_id) || !isId(subnet_id) || !isId(hub_id) || !isOrigin(app_url)) throw improper();
      const note = typeof parted === 'string' && parted.length <= 512 ? { note: parted } : {};
      return {
        ...certified(said),
        ...{ owner_id, subnet_id, hub_id, app_url },
        root_url: o.root_url,
        ...note,
      };
    },

    /** Credentials of a socket that leads to the hub of the subnet. */
    wayAuth: async (i: Identity) => ({
      certificate: i.certificate,
      proof: await proofFor({ purpose: 'subnet-route', sub: i.hub_id }),
    }),
    /** Root's clock as far as it is known, Unix seconds. */
    time: () => o.now() + skew,
    /** @throws IngleError `unavailable` */
    async keys(): Promise<RootKeys> {
      const answer = await exchange(`${o.root_url}/.well-known/jwks.json`, {
        ...{ timeoutMs: TIMEOUT, maxBytes: MAX_BODY },
      }).catch(() => undefined);
      if (answer?.status !== 200) throw new IngleError('unavailable', o.text('noAnswer', named));
      const said = jsonOf(answer.body) as RootKeys | null;
      if (!Array.isArray(said?.keys)) throw improper();
      return said;
    },
    /**
     * Takes a code for a hub; root then leads to the hub whose code it is.
     * @throws IngleError `invalid_device_code`, `conflict` when this hub is in a subnet, and those of any call
     */
    async join(i: Identity, code: string, ticket?: string): Promise<string> {
      const said = await ofSubnet('join', i, { device_code: code, ...(ticket ? { ticket } : {}) });
      if (!isId(said['hub_id'])) throw improper();
      return said['hub_id'];
    },
    /** Lets a hub into the subnet that took our code. @throws IngleError `not_found` */
    admit: (i: Identity, hub_id: string, sign_pub: string) => ofSubnet('admit', i, { hub_id, sign_pub }),
    /** Lets a member go, with what is signed for it; or leaves. @throws IngleError `not_found` */
    part: (i: Identity, gone: { hub_id: string; note: string } | Record<string, never>) =>
      ofSubnet('part', i, gone),

    /** A fresh certificate for the same keys. */
    async renew(i: Identity): Promise<Identity> {
      return { ...i, ...certified(await proven('/v1/hub/renew', {}, i, { purpose: 'renew' })) };
    },

    /** Tells root of the present static key, signed by the identity key. */
    async rotate(i: Identity): Promise<Identity> {
      const signPub = o.keys().sign.x;
      const signature = toBase64url(signWith(o.keys(), rotationMessage(i.hub_id, e2ePub(), signPub)));
      const body = { e2e_pub: e2ePub(), sign_pub: signPub, signature };
      return { ...i, ...certified(await proven('/v1/hub/rotate', body, i, { purpose: 'rotate' })) };
    },

    /** @throws IngleError `unavailable`, `rate_limited`, `unauthenticated` */
    async deviceCode(i: Identity, wishes: Omit<ProofClaims, 'purpose'>): Promise<DeviceCode> {
      const claims: ProofClaims = { purpose: 'device-code', ...wishes };
      const said = await proven('/v1/owner/login/device-code', {}, i, claims);
      const { device_code, expires_in, taken_ago } = said;
      if (typeof device_code !== 'string' || !/^\d{3}-?\d{3}$/.test(device_code)) throw improper();
      if (!Number.isSafeInteger(expires_in) || (expires_in as number) < 1) throw improper();
      return {
        device_code: device_code.replace(/^(\d{3})-?/, '$1-'),
        expires_in: Math.min(expires_in as number, DEVICE_CODE_TTL),
        taken_ago: typeof taken_ago === 'number' && taken_ago >= 0 ? taken_ago : undefined,
      };
    },
  };

  function certified(said: Record<string, unknown>) {
    const { certificate } = said;
    if (typeof certificate !== 'string' || certificate.length > 4096) throw improper();
    try {
      return { certificate, ...readCertificate(certificate) };
    } catch {
      throw improper();
    }
  }
}

export type RootClient = ReturnType<typeof rootClient>;

/** The JSON of an answer, null when it is none. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** Ids go into files, logs and terminals: letters, digits, - and _ only. */
function isId(v: unknown): v is string {
  return typeof v === 'string' && /^[\w-]{1,64}$/.test(v);
}

/** The address of an application: an origin at which passkeys work. */
function isOrigin(v: unknown): v is string {
  if (typeof v !== 'string' || v.length > 256 || !URL.canParse(v)) return false;
  const { origin, protocol, hostname } = new URL(v);
  return (
    origin === v && (protocol === 'https:' || (protocol === 'http:' && /(^|\.)localhost$/.test(hostname)))
  );
}

/** The origins in what root says of its names, a few at most. */
function originsOf(names: unknown): string[] {
  return (Array.isArray(names) ? names : [names])
    .filter((n): n is string => typeof n === 'string' && n.length <= 256 && URL.canParse(n))
    .map((n) => new URL(n).origin)
    .slice(0, 8);
}
