// What a browser believes of its hub, message by message.
import { generateKeyPairSync, sign } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random, toBase64url } from '../../firmware/protocol/bytes.ts';
import type { Mode } from '../../firmware/protocol/noise/channel.ts';
import { rotationMessage } from '../../firmware/protocol/noise/rotation.ts';
import type { Control } from '../../firmware/protocol/wire.ts';
import type { Pin } from '../../spa/database.ts';
import { leadsHome, type Proven, trust } from '../../spa/trust.ts';

const test = suite('trust');
type Welcome = Control & { t: 'welcome' };
const identity = generateKeyPairSync('ed25519');
const signPub = String(identity.publicKey.export({ format: 'jwk' }).x);
const hello = (o: Partial<Welcome> = {}): Welcome => ({
  ...{ t: 'welcome', hub_id: 'hub_1', owner_id: 'own_1', hub_name: 'Home', version: '1' },
  ...{ admitted: false, need: 'assertion', first: false, sign_pub: signPub, elevated_until: 0 },
  ...o,
});
const admitted: Control = { t: 'admitted', elevated_until: 9 };
function rotate(e2e: Uint8Array, key = identity): Control {
  const [e2e_pub, sign_pub] = [toBase64url(e2e), String(key.publicKey.export({ format: 'jwk' }).x)];
  const signature = toBase64url(sign(null, rotationMessage('hub_1', e2e_pub, sign_pub), key.privateKey));
  return { t: 'rotate', e2e_pub, sign_pub, signature };
}
const known = (o: Partial<Pin> = {}): Pin => ({
  ...{ hub_id: 'hub_1', name: 'Home', owner_id: 'own_1', hubStatic: random(32), signPub, paired: 1 },
  ...o,
});

/** A browser that has `pin`, or is about to pair. */
function browser(o: { pin?: Pin; pairing?: boolean; proven?: Proven } = {}) {
  const kept = { pins: [] as Pin[], proven: [] as Proven[], paired: 0 };
  const t = trust({
    ...{ hubId: 'hub_1', pin: o.pin, proven: o.proven, pairing: o.pairing ?? false },
    keepPin: async (p) => void kept.pins.push(p),
    keepProven: (p) => void kept.proven.push(p),
    paired: () => void kept.paired++,
  });
  const open = (remoteStatic: Uint8Array, mode: Mode = 'known') =>
    t.opened({ hash: random(32), remoteStatic, epoch: 0, mode, first: true });
  return { t, kept, open };
}

test('a hub that knew the code is pinned once it lets this browser in, and not before', async () => {
  const b = browser({ pairing: true });
  const hub = random(32);
  b.open(hub, 'link');
  assert.equal(b.kept.proven, [{ hubStatic: toBase64url(hub), insecure: false }]);
  const said = await b.t.control(hello({ first: true }));
  assert.equal(said, { t: 'welcome', name: 'Home', admitted: false, asks: true });
  assert.equal([b.kept.pins, b.t.pairing], [[], true]);
  b.t.signed('cred-1');
  assert.equal(await b.t.control(admitted), { t: 'admitted' });
  const [pin] = b.kept.pins;
  assert.equal([pin!.hubStatic, pin!.signPub, pin!.owner_id], [hub, signPub, 'own_1']);
  assert.equal([pin!.passkeys, pin!.insecure, b.kept.paired, b.t.pairing], [['cred-1'], false, 1, false]);
});

test('a new pairing leaves the old pin alone until it succeeds, and then replaces all of it', async () => {
  const old = known({ signPub: toBase64url(random(32)), owner_id: 'own_0', insecure: true, passkeys: ['c'] });
  const b = browser({ pin: old, pairing: true });
  const hub = random(32);
  b.open(hub, 'typed');
  await b.t.control(hello());
  assert.equal(b.kept.pins, []);
  await b.t.control(admitted);
  const { paired: _, ...pin } = b.kept.pins[0]!;
  assert.equal(pin, {
    ...{ hub_id: 'hub_1', name: 'Home', owner_id: 'own_1', hubStatic: hub, signPub },
    ...{ insecure: false, passkeys: [] },
  });
});

test('a pairing that a reload broke goes on, also when the hub has let the browser in meanwhile', async () => {
  const hub = random(32);
  for (const word of [hello({ admitted: true, need: null }), hello()]) {
    const b = browser({ proven: { hubStatic: toBase64url(hub), insecure: true } });
    assert.ok(b.t.pairing);
    b.open(hub);
    assert.equal(b.kept.proven, []);
    await b.t.control(word);
    if (!word.admitted) await b.t.control(admitted);
    assert.equal([b.kept.pins[0]!.hubStatic, b.kept.pins[0]!.insecure, b.kept.paired], [hub, true, 1]);
  }
});

test('a code the hub says is spent, as this very browser had used it, pairs by the key of the link', async () => {
  const b = browser({ pairing: true });
  const hub = random(32);
  b.open(hub, 'known');
  await b.t.control(hello({ admitted: true, need: null }));
  assert.equal(b.kept.pins[0]!.hubStatic, hub);
});

test('nothing is pinned by a word that comes before the hub has said who it is, or in another handshake', async () => {
  const b = browser({ pairing: true });
  b.open(random(32), 'link');
  assert.is(await b.t.control(admitted), null);
  assert.is(await b.t.control(rotate(random(32))), null);
  await b.t.control(hello());
  b.open(random(32), 'link');
  assert.is(await b.t.control(admitted), null);
  assert.equal(b.kept.pins, []);
});

test('a hub that says it is another one, or another person’s, is not believed', async () => {
  const pinned = browser({ pin: known() });
  pinned.open(random(32));
  assert.equal(await pinned.t.control(hello({ hub_id: 'hub_2' })), { t: 'alarm', reason: 'hub_id' });
  assert.equal(await pinned.t.control(hello({ owner_id: 'own_2' })), { t: 'alarm', reason: 'owner' });
  assert.equal(await pinned.t.control(admitted), null);
  assert.equal(pinned.kept.pins, []);
  const fresh = browser({ pairing: true });
  fresh.open(random(32), 'link');
  assert.equal(await fresh.t.control(hello({ hub_id: 'hub_2' })), { t: 'alarm', reason: 'hub_id' });
  assert.equal(fresh.kept.pins, []);
});

test('a rotated key is followed when the pinned identity signed it, before and after the hub lets in', async () => {
  const [stranger, next, later] = [generateKeyPairSync('ed25519'), random(32), random(32)];
  const pin = known();
  const b = browser({ pin });
  b.open(pin.hubStatic);
  await b.t.control(hello({ admitted: true, need: null }));
  assert.equal(await b.t.control(rotate(next, stranger)), { t: 'alarm', reason: 'rotate' });
  assert.equal(b.kept.pins, []);
  assert.equal(await b.t.control(rotate(pin.hubStatic)), null);
  assert.equal(await b.t.control(rotate(next)), { t: 'rekey', hubStatic: next });
  assert.equal([b.kept.pins.at(-1)!.hubStatic, b.kept.pins.at(-1)!.signPub], [next, signPub]);

  const other = String(stranger.publicKey.export({ format: 'jwk' }).x);
  const half = browser({ pin: known({ signPub: other }), pairing: true });
  half.open(random(32), 'link');
  await half.t.control(hello());
  assert.equal(await half.t.control(rotate(next)), { t: 'rekey', hubStatic: next });
  assert.is(half.kept.proven.at(-1)!.hubStatic, toBase64url(next));
  assert.equal(half.kept.pins, []);
  // A hub that was paired with anew has another identity: the old one's word is nothing any more.
  const re = browser({ pin: known({ signPub: other }), pairing: true });
  re.open(next, 'link');
  await re.t.control(hello({ admitted: true, need: null }));
  assert.equal(await re.t.control(rotate(later, stranger)), { t: 'alarm', reason: 'rotate' });
  assert.equal(await re.t.control(rotate(later)), { t: 'rekey', hubStatic: later });
});

test('what the hub refuses is said as it says it, and an unknown code of it as forbidden', async () => {
  const b = browser({ pin: known() });
  b.open(random(32));
  await b.t.control(hello());
  for (const [error, code] of [
    ['assertion_failed', 'assertion_failed'],
    ['no_such_code', 'forbidden'],
  ] as const) {
    const said = await b.t.control({ t: 'refused', error, message: 'No.' });
    assert.is(said?.t === 'refused' && said.error.code, code);
  }
  assert.is(await b.t.control({ t: 'assertion', credential: {} }), null);
  assert.equal(b.kept.pins, []);
});

test('a known hub’s pin learns its new name and which passkeys it takes, and else stays', async () => {
  const pin = known({ passkeys: ['a'] });
  const b = browser({ pin });
  b.open(pin.hubStatic);
  await b.t.control(hello({ admitted: true, need: null }));
  assert.equal(b.kept.pins, []);
  b.t.signed('b');
  await b.t.control(admitted);
  assert.equal(b.kept.pins, [{ ...pin, passkeys: ['a', 'b'] }]);
  await b.t.control(hello({ admitted: true, need: null, hub_name: 'Cottage' }));
  assert.is(b.kept.pins.at(-1)!.name, 'Cottage');
});

test('root cannot lead a browser from the hub of its passkey to another one it knows', () => {
  const pins = [
    known({ hub_id: 'hub_1', passkeys: ['a', 'b'] }),
    known({ hub_id: 'hub_2', passkeys: ['c'] }),
    known({ hub_id: 'hub_3' }),
  ];
  const home = (hub: string, credential: string) => leadsHome(pins, hub, credential);
  assert.equal([home('hub_1', 'a'), home('hub_1', 'b'), home('hub_2', 'c')], [true, true, true]);
  assert.equal([home('hub_2', 'a'), home('hub_3', 'a'), home('hub_1', 'c')], [false, false, false]);
  // A passkey that no hub took from this browser: root may find where it belongs.
  assert.equal([home('hub_3', 'x'), leadsHome([], 'hub_9', 'x')], [true, true]);
});

test.run();
