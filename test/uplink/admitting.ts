// The hub's judgement of browsers in memory: pins in a database, people, and a browser's end of each handshake.
import { fromBase64url, random, toBase64url } from '../../firmware/protocol/bytes.ts';
import { challengeOf } from '../../firmware/protocol/pairing/assertion.ts';
import type { Control } from '../../firmware/protocol/wire.ts';
import { admission } from '../../firmware/uplink/admission.ts';
import { relyingParty } from '../../firmware/uplink/passkey.ts';
import { openPeople } from '../../firmware/uplink/people.ts';
import { openPins } from '../../firmware/uplink/pins.ts';
import type { Identity } from '../../firmware/uplink/rows.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import { authenticator, type Misbehaviour } from '../lab/authenticator.ts';

export const origin = 'http://localhost:8080';
export const place: Identity = {
  ...{ owner_id: 'own_1', subnet_id: 'sub_1', hub_id: 'hub_1', certificate: 'c' },
  ...{ issued_at: 1, expires_at: 9e9, root_url: origin, app_url: origin },
};

/** A device with one passkey. */
export function passkey() {
  const device = authenticator(origin);
  const { id, cose } = device.make('AAAA');
  return {
    device,
    id,
    publicKey: cose,
    assert: ({ challenge, ...wrong }: Misbehaviour & { challenge: string }) =>
      device.get({ challenge, rpId: new URL(origin).hostname }, wrong),
  };
}

export async function hub() {
  let time = 1_000_000;
  const store = await openUplinkStore(':memory:');
  await store.setIdentity(place);
  let pins = await openPins(store, () => time);
  let people = await openPeople(
    store,
    () => place,
    () => time,
  );
  const failures: [string, number][] = [];
  const paired: string[] = [];
  function browser(id = toBase64url(random(32))) {
    const said: Control[] = [];
    let hash = random(32);
    const a = admission({
      get pins() {
        return pins;
      },
      get people() {
        return people;
      },
      hub: { hub_id: 'hub_1', hub_name: 'Home', version: '1', owner_id: 'own_1', sign_pub: 'x' },
      party: relyingParty(origin),
      now: () => time,
      send: (c) => said.push(c),
      paired: (b) => paired.push(b.id),
      failed: (e, left) => failures.push([e.code, left]),
    });
    return {
      id,
      a,
      said,
      shake(mode: 'known' | 'link' = 'known') {
        said.length = 0;
        hash = random(32);
        a.opened({
          hash,
          remoteStatic: fromBase64url(id),
          epoch: 1,
          mode,
          first: true,
        });
        return said[0] as Control & { t: 'welcome' };
      },
      get hash() {
        return hash;
      },
      /** What this browser has its passkey sign now. */
      challenge: () => challengeOf({ purpose: 'hub', context: 'hub_1', bytes: hash }),
      async assert(p: ReturnType<typeof passkey>, { key, ...wrong }: Misbehaviour & { key?: string } = {}) {
        const credential = p.assert({ challenge: await this.challenge(), ...wrong });
        await a.control({ t: 'assertion', credential, ...(key ? { public_key: key } : {}) });
        return said.at(-1) as Control & { t: 'admitted' | 'refused'; error?: string };
      },
    };
  }
  const now = () => time;
  return {
    ...{ store, browser, failures, paired, now },
    get pins() {
      return pins;
    },
    get people() {
      return people;
    },
    tick: (s: number) => (time += s),
    /** What is in memory goes; what is stored stays. */
    async restart() {
      pins = await openPins(store, now);
      people = await openPeople(store, () => place, now);
    },
  };
}
