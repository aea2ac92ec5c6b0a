// gate: out, 8 s
// A member of a subnet under a root that lies: whatever root offers, the member takes no place but the one it was shown
// or had, and holds to the hub it has met.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorCode, IngleError } from '../../firmware/protocol/errors.ts';
import type { Membership } from '../../firmware/subnet/membership.ts';
import { partingMessage } from '../../firmware/subnet/papers.ts';
import type { Core } from '../../firmware/uplink/core.ts';
import { enrolment } from '../../firmware/uplink/enrolment.ts';
import { makeKeys, signWith } from '../../firmware/uplink/keys.ts';
import { openMember } from '../../firmware/uplink/member.ts';
import type { Identity } from '../../firmware/uplink/rows.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import { place as here } from './admitting.ts';

const test = suite<{ dir: string }>('a member under a lying root');
test.before((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-lying-'));
});
test.after((c) => rmSync(c.dir, { recursive: true }));

const NOW = 1_800_000_000;
const [leader, stranger] = [makeKeys(NOW), makeKeys(NOW)];
const alone = { owner_id: 'own_alone', subnet_id: 'net_alone' };
const subnet = { owner_id: 'own_led', subnet_id: 'net_led' };
const mine: Identity = { ...here, ...alone };
const bond = 'B'.repeat(43);
const begun = (stage: Membership['stage']): Membership => ({
  ...{ stage, ...subnet, via: 'hub_led', via_static: 'S'.repeat(43), via_sign: leader.sign.x, bond },
  ...{ key: 'K'.repeat(43), alone_owner: alone.owner_id, alone_subnet: alone.subnet_id },
});
const note = (by = leader, hub = mine.hub_id, of = bond) =>
  Buffer.from(signWith(by, partingMessage(hub, of))).toString('base64url');
const truth = note();

/** What a root may say: places it has, mixes and inventions, and notes it has seen, kept from before or made up. */
const places = fc.oneof(
  fc.constantFrom(alone, alone, subnet, subnet, { ...alone, subnet_id: subnet.subnet_id }),
  fc.record({ owner_id: fc.stringMatching(/^[\w-]{1,64}$/), subnet_id: fc.constantFrom('net_led', 'net_x') }),
);
const notes = fc.oneof(
  fc.constantFrom(
    '',
    truth,
    note(stranger),
    note(leader, 'hub_2'),
    note(leader, mine.hub_id, 'C'.repeat(43)),
  ),
  fc.base64String(),
);
const named = fc.constantFrom(
  {},
  {},
  {},
  {},
  {},
  {},
  { hub_id: 'hub_2' },
  { app_url: 'https://evil.example' },
);
const refusals = fc.constantFrom<ErrorCode[]>(
  'not_found',
  'conflict',
  'unavailable',
  'internal',
  'forbidden',
);
/** No refusal, that many times as often as one. */
const mostly = (weight: number) =>
  fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: refusals });
const says = fc.record({
  offered: fc.tuple(places, named, notes).map(([p, n, note]) => ({ ...mine, ...p, ...n, note })),
  enrols: mostly(8),
  parts: mostly(2),
  joins: refusals,
});
const steps = fc.array(fc.record({ does: fc.constantFrom('enrol', 'came', 'leave', 'join'), says }), {
  minLength: 1,
  maxLength: 6,
});

/** A member as it would be after a start, with everything real but root and the way to the hub that leads. */
async function started(file: string, stage: Membership['stage']) {
  const store = await openUplinkStore(file);
  const at = { ...mine, ...(stage === 'in' || stage === 'leaving' ? subnet : alone) };
  await store.adopt(at, begun(stage));
  let said: Parameters<typeof refusing>[0];
  function refusing(s: {
    offered: Identity & { note: string };
    enrols: ErrorCode | null;
    parts: ErrorCode | null;
    joins: ErrorCode;
  }) {
    said = s;
  }
  const refuse = (code: ErrorCode | null) => {
    if (code) throw new IngleError(code, 'Root says so.');
  };
  const quiet = () => {};
  const log = { info: quiet, notice: quiet, warn: quiet, error: quiet, debug: quiet };
  const root = {
    async enrol() {
      refuse(said.enrols);
      return said.offered;
    },
    part: async () => refuse(said.parts),
    join: async () => refuse(said.joins),
  };
  const text = String;
  const place = enrolment({
    ...{ config: { root_url: mine.root_url, app_url: '' }, store, log, text, identity: at },
    root: root as never,
    willing: (offered, given) => member.willing(offered, given),
    entered: quiet,
    async leave(write) {
      await write();
      await member.moved();
    },
  } as Parameters<typeof enrolment>[0]);
  const core = {
    ...{ config: {}, store, root, place, log, outside: log, text, now: () => NOW },
    ...{ ring: { keys: makeKeys(NOW) }, nodes: { leads: () => false }, on: { work() {} } },
    ...{ pins: { browsers: () => [] }, people: { all: () => [] } },
  } as unknown as Core;
  const member = openMember(core, await store.membership());
  return {
    ...{ store, place, member, refusing },
    async stop() {
      member.stop();
      await store.close();
    },
  };
}

/** Whether a hub with this membership may go from one place to another by itself, on what root says. */
function may(m: Membership | undefined, to: Identity, given: string): boolean {
  const is = (p: typeof alone) => p.owner_id === to.owner_id && p.subnet_id === to.subnet_id;
  if (m?.stage === 'joining') return is(subnet);
  if (m?.stage === 'leaving') return is(alone);
  return m?.stage === 'in' && is(alone) && given === truth;
}
const whom = (m: Membership | undefined) =>
  m && [
    m.via,
    m.via_static,
    m.via_sign,
    m.bond,
    m.key,
    m.owner_id,
    m.subnet_id,
    m.alone_owner,
    m.alone_subnet,
  ];

test('no word of root takes it to another place than shown, and none makes it hold to another hub', async ({
  dir,
}) => {
  let n = 0;
  let moves = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('joining', 'in', 'leaving', 'left', 'removed'),
      steps,
      async (stage, all) => {
        const c = await started(join(dir, `${n++}.sqlite`), stage as Membership['stage']);
        try {
          const first = c.member.membership;
          for (const { does, says } of all) {
            c.refusing(says);
            const [was, at] = [c.member.membership, c.place.identity!];
            const own = does === 'leave' && was && ['joining', 'in'].includes(was.stage);
            c.place.refused();
            await Promise.resolve(
              does === 'enrol'
                ? c.place.enrol()
                : does === 'came'
                  ? c.member.came()
                  : does === 'leave'
                    ? c.member.leave()
                    : c.member.join(`482-913 507-226`, true),
            ).catch((e) => assert.instance(e, IngleError, String(e?.stack)));
            const now = c.place.identity!;
            assert.equal([now.hub_id, now.app_url, now.root_url], [mine.hub_id, mine.app_url, mine.root_url]);
            if (now.owner_id !== at.owner_id || now.subnet_id !== at.subnet_id) {
              moves++;
              assert.ok(
                may(own ? { ...was, stage: 'leaving' } : was, now, says.offered.note),
                JSON.stringify({ was, does, says }),
              );
            }
            assert.equal(whom(c.member.membership), whom(first));
            assert.equal(await c.store.membership(), c.member.membership, 'what is stored is what is true');
            assert.equal((await c.store.identity())?.owner_id, now.owner_id);
          }
        } finally {
          await c.stop();
        }
      },
    ),
    { numRuns: 150 },
  );
  assert.ok(moves > 0, `some of it was allowed: ${moves}, ${n} runs`);
});

test.run();
