// A member that leaves: root is asked once, though it has the hub come back meanwhile.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Membership } from '../../firmware/subnet/membership.ts';
import type { Core } from '../../firmware/uplink/core.ts';
import { openMember } from '../../firmware/uplink/member.ts';

const test = suite('leaving a subnet');
const membership: Membership = {
  ...{ stage: 'leaving', owner_id: 'own_a', subnet_id: 'net_a', via: 'hub_a', via_static: '', via_sign: '' },
  ...{ bond: '', key: '', alone_owner: 'own_b', alone_subnet: 'net_b' },
};

/** A hub whose root answers when it is told to. */
function leaving() {
  const kept: (string | undefined)[] = [];
  const asked: { answer(e?: IngleError): void }[] = [];
  const core = {
    store: {
      setMembership: async (m: Membership | undefined) => void kept.push(m?.stage),
      membership: async () => membership,
    },
    root: {
      part: () =>
        new Promise<void>((resolve, reject) => asked.push({ answer: (e) => (e ? reject(e) : resolve()) })),
    },
    place: { identity: { hub_id: 'hub_b' }, refused() {}, enrol: async () => ({}) },
    log: { error() {} },
    outside: { warn() {} },
    text: String,
  } as unknown as Core;
  return { member: openMember(core, membership), kept, asked };
}
const turn = () => new Promise((done) => setTimeout(done));

test('however often it comes back meanwhile, one question is asked, and who waits hears the one answer', async () => {
  const { member, kept, asked } = leaving();
  const all = [member.leave(), member.came(), member.came()];
  await turn();
  assert.is(asked.length, 1);
  asked[0]!.answer();
  await Promise.all(all);
  assert.equal([kept, member.membership?.stage], [['left'], 'left']);
  await member.came();
  assert.is(asked.length, 1, 'what is over is not asked again');
});

test('where root could not be asked, it is asked again when the hub comes back', async () => {
  const { member, asked } = leaving();
  const left = member.leave().then(
    () => 'left',
    (e: IngleError) => e.code,
  );
  await turn();
  asked[0]!.answer(new IngleError('unavailable', 'No answer.'));
  assert.is(await left, 'unavailable');
  assert.is(member.membership?.stage, 'leaving');
  const came = member.came();
  await turn();
  // It had heard the first one, and its answer was lost.
  asked[1]!.answer(new IngleError('not_found', 'No member.'));
  await came;
  assert.is(member.membership?.stage, 'left');
});

test.run();
