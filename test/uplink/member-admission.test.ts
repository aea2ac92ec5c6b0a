// Admission of a member's channel, by itself: what each handshake asks anew, and what a channel that goes on keeps.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import type { Opened } from '../../firmware/protocol/noise/channel.ts';
import type { Control } from '../../firmware/protocol/wire.ts';
import type { Node } from '../../firmware/subnet/node.ts';
import { makeKeys, showPapers } from '../../firmware/uplink/keys.ts';
import { memberAdmission } from '../../firmware/uplink/member-admission.ts';
import { certificates } from './certificates.ts';

const test = suite('admission of a member');
const NOW = 1_800_000_000;
const { keys: rootKeys, certify } = certificates(NOW);
const hub = { hub_id: 'hub_a', owner_id: 'own_a', subnet_id: 'net_a' };
const keys = makeKeys(NOW);
const fill = (n: number) => new Uint8Array(32).fill(n);
const id = (n: number) => toBase64url(fill(n));
const at = (hash: number, remote: number, first = true): Opened => ({
  ...{ hash: fill(hash), remoteStatic: fill(remote), epoch: 0, mode: 'known', first },
});

const certified = async (hub_id: string) => ({
  ...{ ...hub, hub_id },
  certificate: await certify(hub_id, hub, keys.sign.x),
});
const said = async (hub_id: string, hash: number): Promise<Control> => ({
  ...{ t: 'member', ...showPapers(keys, await certified(hub_id), 'member', fill(hash)) },
});

function admission(o: { known?: boolean; proven?: boolean; waits?: () => Promise<void> } = {}) {
  const sent: Control[] = [];
  const admitted: string[] = [];
  let entered = 0;
  const node = { hub_id: 'hub_b', sign_pub: keys.sign.x, state: 'here' } as Node;
  const a = memberAdmission({
    nodes: {
      known: (s) => (o.known !== false && s === id(1) ? node : undefined),
      isProven: (s) => o.proven === true && s === id(1),
      mayJoin() {},
      admit: async (of) => void admitted.push(`${of.hub_id} ${of.static_pub} ${of.bond}`),
    },
    hub,
    papers: () => ({ certificate: 'mine', signature: 'ours' }),
    async keys() {
      await o.waits?.();
      return rootKeys as never;
    },
    tell: async () => {},
    entered: () => void entered++,
    now: () => NOW,
    send: (c) => sent.push(c),
  });
  return { a, sent, admitted, entered: () => entered };
}
const words = (sent: Control[]) => sent.map((c) => (c.t === 'refused' ? c.error : c.t)).join(' ');

test('before the first handshake there is nobody', () => {
  const { a } = admission();
  assert.is(a.browser, '');
  assert.not(a.admitted());
  assert.throws(a.principal, (e: { code: string }) => e.code === 'unauthenticated');
});

test('a new handshake asks for papers anew, and new keys of a channel that goes on do not', async () => {
  const { a, sent, entered } = admission();
  a.opened(at(5, 1));
  assert.is(a.browser, id(1));
  assert.equal(sent, [{ t: 'member', certificate: 'mine', signature: 'ours' }]);
  await a.control(await said('hub_b', 5));
  assert.ok(a.admitted());
  assert.is(entered(), 1, 'and is told of a new static key');
  a.opened(at(6, 1, false));
  assert.ok(a.admitted(), 'new keys');
  assert.is(sent.length, 2);
  a.opened(at(7, 1));
  assert.not(a.admitted(), 'a new channel');
  await a.control(await said('hub_b', 7));
  assert.ok(a.admitted());
  a.opened(at(8, 2, false));
  assert.not(a.admitted(), 'new keys with somebody else');
  assert.is(a.browser, id(2));
});

test('a handshake that is over while its papers are looked at opens nothing', async () => {
  let go: () => void = () => {};
  const { a, sent } = admission({ waits: () => new Promise((resolve) => (go = resolve)) });
  a.opened(at(5, 1));
  const looking = a.control(await said('hub_b', 5));
  await Promise.resolve();
  a.opened(at(6, 1));
  go();
  await looking;
  assert.not(a.admitted());
  assert.is(words(sent), 'member member unauthenticated');
});

test('this very hub, a hub nobody invited, and other words are refused', async () => {
  const self = admission({ known: false, proven: true });
  self.a.opened(at(5, 1));
  await self.a.control(await said('hub_a', 5));
  assert.is(words(self.sent), 'member forbidden');
  const nobody = admission({ known: false });
  nobody.a.opened(at(5, 1));
  await nobody.a.control(await said('hub_b', 5));
  assert.is(words(nobody.sent), 'member pairing_failed');
  assert.equal([self.admitted, nobody.admitted], [[], []]);
  const browser = admission();
  browser.a.opened(at(5, 1));
  await browser.a.control({ t: 'assertion', credential: {} });
  assert.is(words(browser.sent), 'member invalid_request');
});

test('a hub that was invited is let in with its key and the bond of this handshake', async () => {
  const { a, sent, admitted } = admission({ known: false, proven: true });
  a.opened(at(5, 1));
  await a.control(await said('hub_b', 5));
  assert.equal(admitted, [`hub_b ${id(1)} ${id(5)}`]);
  assert.is(words(sent), 'member admitted');
});

test.run();
