// A hub that is taking its place in a subnet while the leading hub shakes hands with it once more.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Membership } from '../../firmware/subnet/membership.ts';
import type { Core } from '../../firmware/uplink/core.ts';
import { enrolment } from '../../firmware/uplink/enrolment.ts';
import { makeKeys, showPapers } from '../../firmware/uplink/keys.ts';
import { openMember } from '../../firmware/uplink/member.ts';
import { membershipRecord, papersFor } from '../../firmware/uplink/member-way.ts';
import type { Identity } from '../../firmware/uplink/rows.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import { place as here } from './admitting.ts';
import { certificates } from './certificates.ts';

const test = suite('a place that is being taken');
const NOW = 1_800_000_000;
const alone = { owner_id: 'own_alone', subnet_id: 'net_alone' };
const subnet = { owner_id: 'own_led', subnet_id: 'net_led' };
const mine: Identity = { ...here, ...alone };
const led = { ...mine, ...subnet, certificate: 'new' };
const leader = makeKeys(NOW);
const joining: Membership = {
  ...{ stage: 'joining', ...subnet, via: 'hub_led', via_static: 'S'.repeat(43), via_sign: leader.sign.x },
  ...{ bond: 'B'.repeat(43), key: 'K'.repeat(43) },
  ...{ alone_owner: alone.owner_id, alone_subnet: alone.subnet_id },
};

/** Everything is real but root, which answers when it is told to, and the way to the hub that leads. */
async function hub(identity: Identity) {
  const store = await openUplinkStore(':memory:');
  await store.adopt(identity, joining);
  const record = membershipRecord(store, await store.membership());
  const { keys, certify } = certificates(NOW);
  let answers = () => {};
  let enrolled = 0;
  const quiet = () => {};
  const root = {
    keys: async () => keys,
    time: () => NOW,
    enrol: () => {
      enrolled++;
      return new Promise<Identity>((resolve) => {
        answers = () => resolve(led);
      });
    },
  };
  const log = { info: quiet, notice: quiet, warn: quiet, error: quiet, debug: quiet };
  const place = enrolment({
    ...{ config: { root_url: mine.root_url, app_url: '' }, store, log, text: String, identity },
    root: root as never,
    willing: () => (record.now ? { membership: { ...record.now, stage: 'in' as const } } : undefined),
    entered: quiet,
    async leave(write) {
      await write();
      await record.reload();
    },
  } as Parameters<typeof enrolment>[0]);
  const core = {
    ...{ config: {}, store, root, place, log, outside: log, text: String, ring: { keys: makeKeys(NOW) } },
    on: { work: quiet },
  } as unknown as Core;
  return {
    ...{ store, record, place, core, certify },
    answer: () => answers(),
    enrolled: () => enrolled,
    close: () => store.close(),
  };
}

test('a handshake meanwhile waits for the place, and does not make a member one that still joins', async () => {
  const h = await hub(mine);
  h.place.refused();
  const taken = h.place.enrol();
  const hash = new Uint8Array(32).fill(7);
  const leads = {
    hub_id: 'hub_led',
    ...subnet,
    certificate: await h.certify('hub_led', subnet, leader.sign.x),
  };
  const shown = papersFor(
    h.core,
    h.record,
    showPapers(leader, leads, 'hub', hash),
    { hash, remoteStatic: new Uint8Array(32).fill(8) },
    { via: 'hub_led', key: joining.key },
  );
  // Everything that can go on without root has gone on.
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 1));
  h.answer();
  await taken;
  assert.is((await shown).certificate, 'new');
  const kept = await h.store.membership();
  assert.equal([kept?.stage, kept?.bond], ['in', joining.bond]);
  assert.equal(h.record.now, kept);
  await h.close();
});

test('a hub that has its place and was written down as joining is a member, and asks root for nothing', async () => {
  const h = await hub(led);
  const member = openMember(h.core, await h.store.membership());
  await member.came();
  assert.is(member.membership?.stage, 'in');
  assert.is((await h.store.membership())?.stage, 'in');
  assert.is(h.enrolled(), 0);
  member.stop();
  await h.close();
});

test.run();
