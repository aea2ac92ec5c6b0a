// Root's HTTP endpoints for a hub. What root answers is checked for shape, and no word of its own reaches a person.
import { toBase64url } from '../protocol/bytes.ts';
import { rotationMessage } from '../protocol/noise/rotation.ts';
import { signWith } from './keys.ts';
import type { ProofClaims } from './proof.ts';
import {
  certificateOf,
  type DeviceCode,
  deviceCodeOf,
  hubIdOf,
  keysOf,
  type Offered,
  offerOf,
  type RootKeys,
} from './root-answers.ts';
import { type Refusals, type RootOptions, rootCalls } from './root-calls.ts';
import type { Identity } from './rows.ts';

const subnetRefusals: Refusals = {
  invalid_device_code: 'subnetCode',
  conflict: 'subnetBusy',
  not_found: 'subnetNone',
};

export function rootClient(o: RootOptions) {
  const { ask, proven, get, proof, proper, ...rest } = rootCalls(o);
  const ofSubnet = (what: 'join' | 'admit' | 'part', i: Identity, body: object) =>
    proven(`/v1/hub/subnet/${what}`, body, i, { purpose: `subnet-${what}` }, subnetRefusals);
  const e2ePub = () => o.keys().e2e[0]!.x;

  return {
    ...rest,
    /** Credentials of one socket handshake. */
    auth: async (i: Identity) => ({
      hub_id: i.hub_id,
      certificate: i.certificate,
      proof: await proof({ purpose: 'socket', sub: i.hub_id }),
    }),

    /**
     * The place root offers to this hub's key: a new one, or the one it has. Whether it is taken is for the caller.
     * @throws IngleError `unavailable`, `rate_limited`, `unauthenticated`
     */
    async enrol(): Promise<Offered> {
      const said = await ask('/v1/hub/enrol', async () => ({
        ...{ sign_pub: o.keys().sign.x, e2e_pub: e2ePub() },
        proof: await proof({ purpose: 'enrol' }),
      }));
      return proper(offerOf(said, o.root_url));
    },

    /** Credentials of a socket that leads to the hub of the subnet. */
    wayAuth: async (i: Identity) => ({
      certificate: i.certificate,
      proof: await proof({ purpose: 'subnet-route', sub: i.hub_id }),
    }),
    /** @throws IngleError `unavailable` */
    keys: async (): Promise<RootKeys> => proper(keysOf(await get('/.well-known/jwks.json'))),
    /**
     * Takes a code for a hub; root then leads to the hub whose code it is.
     * @throws IngleError `invalid_device_code`, `conflict` when this hub is in a subnet, and those of any call
     */
    join: async (i: Identity, code: string, ticket?: string): Promise<string> =>
      proper(hubIdOf(await ofSubnet('join', i, { device_code: code, ...(ticket ? { ticket } : {}) }))),
    /** Lets a hub into the subnet that took our code. @throws IngleError `not_found` */
    admit: (i: Identity, hub_id: string, sign_pub: string) => ofSubnet('admit', i, { hub_id, sign_pub }),
    /** Lets a member go, with what is signed for it; or leaves. @throws IngleError `not_found` */
    part: (i: Identity, gone: { hub_id: string; note: string } | Record<string, never>) =>
      ofSubnet('part', i, gone),

    /** A fresh certificate for the same keys. */
    renew: async (i: Identity): Promise<Identity> => ({
      ...i,
      ...proper(certificateOf(await proven('/v1/hub/renew', {}, i, { purpose: 'renew' }))),
    }),

    /** Tells root of the present static key, signed by the identity key. */
    async rotate(i: Identity): Promise<Identity> {
      const signPub = o.keys().sign.x;
      const signature = toBase64url(signWith(o.keys(), rotationMessage(i.hub_id, e2ePub(), signPub)));
      const body = { e2e_pub: e2ePub(), sign_pub: signPub, signature };
      return {
        ...i,
        ...proper(certificateOf(await proven('/v1/hub/rotate', body, i, { purpose: 'rotate' }))),
      };
    },

    /** @throws IngleError `unavailable`, `rate_limited`, `unauthenticated` */
    async deviceCode(i: Identity, wishes: Omit<ProofClaims, 'purpose'>): Promise<DeviceCode> {
      const claims: ProofClaims = { purpose: 'device-code', ...wishes };
      return proper(deviceCodeOf(await proven('/v1/owner/login/device-code', {}, i, claims)));
    },
  };
}

export type RootClient = ReturnType<typeof rootClient>;
