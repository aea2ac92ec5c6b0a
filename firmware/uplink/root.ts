// Root's HTTP endpoints for a hub. What root answers is checked for shape and used for nothing but reaching root.
import { toBase64url } from '../protocol/bytes.ts';
import { fromBody, IngleError } from '../protocol/errors.ts';
import { rotationMessage } from '../protocol/rotation.ts';
import { type HubKeys, signWith } from './keys.ts';
import { makeProof, type ProofClaims, readCertificate } from './proof.ts';
import type { Identity } from './store.ts';

const TIMEOUT = 10_000;

export interface RootOptions {
  root_url: string;
  keys(): HubKeys;
  /** Unix seconds. */
  now(): number;
}

export interface DeviceCode {
  device_code: string;
  verify_uri: string;
  /** Seconds. */
  expires_in: number;
  /** Seconds since somebody took the code before, if somebody did. */
  taken_ago: number | undefined;
}

export function rootClient(o: RootOptions) {
  /** Root's clock less ours, seconds: many hubs have no battery behind theirs. It dates proofs, nothing else. */
  let skew = 0;

  async function post(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    let answer: Response;
    try {
      answer = await fetch(o.root_url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT),
      });
    } catch {
      throw new IngleError('unavailable', `The root service at ${o.root_url} does not answer.`);
    }
    const said = (await answer.json().catch(() => null)) as Record<string, unknown> | null;
    if (!answer.ok) throw fromBody(said, answer.status);
    if (said === null || typeof said !== 'object')
      throw new IngleError('unavailable', `The root service at ${o.root_url} gave no proper answer.`);
    return said;
  }

  /** Learns from a refusal what time it is at root; true when that may have been the reason. */
  function learnTime(e: unknown): boolean {
    if (!(e instanceof IngleError) || e.code !== 'unauthenticated') return false;
    const theirs = e.details?.['now'];
    if (typeof theirs !== 'number' || !Number.isSafeInteger(theirs)) return false;
    const before = skew;
    skew = theirs - o.now();
    return Math.abs(skew - before) > 5;
  }

  async function proven(
    path: string,
    body: unknown,
    i: Identity,
    claims: ProofClaims = {},
  ): Promise<Record<string, unknown>> {
    const attempt = async () =>
      post(path, body, {
        authorization: `Bearer ${await proofFor(i, claims)}`,
        'x-ingle-certificate': i.certificate,
      });
    try {
      return await attempt();
    } catch (e) {
      if (learnTime(e)) return attempt();
      throw e;
    }
  }
  const proofFor = (i: Identity, claims: ProofClaims = {}) =>
    makeProof(o.keys(), i.app_url, o.now() + skew, { sub: i.hub_id, ...claims });
  const e2ePub = () => o.keys().e2e[0]!.x;

  return {
    learnTime,
    /** Credentials of one socket handshake. */
    auth: async (i: Identity) => ({
      hub_id: i.hub_id,
      certificate: i.certificate,
      proof: await proofFor(i),
    }),

    /**
     * Enrols, or finds the place of an already enrolled key. Root's public origin is learned here, over the address
     * the hub was configured with, and pinned.
     * @throws IngleError `unavailable`, `rate_limited`, `conflict`
     */
    async enrol(): Promise<Identity> {
      let audience = new URL(o.root_url).origin;
      const attempt = async () =>
        post('/v1/hub/enrol', {
          sign_pub: o.keys().sign.x,
          e2e_pub: e2ePub(),
          proof: await makeProof(o.keys(), audience, o.now() + skew),
        });
      const said = await attempt().catch((e) => {
        const named = e instanceof IngleError ? e.details?.['audience'] : undefined;
        const other = typeof named === 'string' && URL.canParse(named) && new URL(named).origin !== audience;
        if (other) audience = new URL(named).origin;
        if (learnTime(e) || other) return attempt();
        throw e;
      });
      return identityOf(said, o.root_url);
    },

    /** A fresh certificate for the same keys. */
    async renew(i: Identity): Promise<Identity> {
      return certified(i, await proven('/v1/hub/renew', {}, i));
    },

    /** Tells root of the present static key, signed by the identity key. */
    async rotate(i: Identity): Promise<Identity> {
      const signPub = o.keys().sign.x;
      const signature = toBase64url(signWith(o.keys(), rotationMessage(i.hub_id, e2ePub(), signPub)));
      const body = { e2e_pub: e2ePub(), sign_pub: signPub, signature };
      return certified(i, await proven('/v1/hub/rotate', body, i));
    },

    /** @throws IngleError `unavailable`, `rate_limited` */
    async deviceCode(i: Identity, claims: ProofClaims): Promise<DeviceCode> {
      const said = await proven('/v1/owner/login/device-code', {}, i, claims);
      const { device_code, verify_uri, expires_in, taken_ago } = said;
      if (typeof device_code !== 'string' || !/^\d{3}-?\d{3}$/.test(device_code)) throw improper();
      return {
        device_code: device_code.replace(/^(\d{3})-?/, '$1-'),
        verify_uri: typeof verify_uri === 'string' ? verify_uri : i.app_url,
        expires_in: typeof expires_in === 'number' && expires_in > 0 ? expires_in : 0,
        taken_ago: typeof taken_ago === 'number' && taken_ago >= 0 ? taken_ago : undefined,
      };
    },
  };
}

export type RootClient = ReturnType<typeof rootClient>;

const improper = () => new IngleError('unavailable', 'The root service gave no proper answer.');

function certified(i: Identity, said: Record<string, unknown>): Identity {
  const { certificate } = said;
  if (typeof certificate !== 'string') throw improper();
  try {
    const { issued_at, expires_at } = readCertificate(certificate);
    return { ...i, certificate, issued_at, expires_at };
  } catch {
    throw improper();
  }
}

function identityOf(said: Record<string, unknown>, rootUrl: string): Identity {
  const text = (name: string): string => {
    const v = said[name];
    if (typeof v !== 'string' || v === '' || v.length > 4096) throw improper();
    return v;
  };
  const certificate = text('certificate');
  try {
    const { origin, issued_at, expires_at } = readCertificate(certificate);
    return {
      ...{ owner_id: text('owner_id'), subnet_id: text('subnet_id'), hub_id: text('hub_id') },
      ...{ certificate, issued_at, expires_at, root_url: rootUrl, app_url: origin },
    };
  } catch {
    throw improper();
  }
}
