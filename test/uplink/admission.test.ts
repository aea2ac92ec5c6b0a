// Who is let in: the hub's own check of passkeys over the handshake hash.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random, toBase64url } from '../../firmware/protocol/bytes.ts';
import { openPins } from '../../firmware/uplink/pins.ts';
import { signForHub, signInAtRoot } from '../../spa/passkey.ts';
import type { Misbehaviour } from '../lab/authenticator.ts';
import { installCredentials } from '../lab/credentials.ts';
import { hub, origin, passkey } from './admitting.ts';

const test = suite('admission');

test('a browser nobody knows is told so and can open nothing', async () => {
  const h = await hub();
  const b = h.browser();
  const w = b.shake();
  assert.is(w.admitted, false);
  assert.is(w.need, null);
  assert.is((b.said[1] as { error: string }).error, 'pairing_failed');
  const p = passkey();
  assert.is((await b.assert(p, { key: p.publicKey })).error, 'pairing_failed');
  assert.is(b.a.admitted(), false);
  assert.throws(
    () => b.a.principal(),
    (e: { code: string }) => e.code === 'assertion_required',
  );
  assert.equal(h.paired, []);
});

test('the first proven browser pins its passkey with its assertion and is elevated', async () => {
  const h = await hub();
  const b = h.browser();
  await h.pins.prove(b.id, false);
  const w = b.shake();
  assert.equal([w.admitted, w.need, w.first], [false, 'assertion', true]);
  const p = passkey();
  const answer = await b.assert(p, { key: p.publicKey });
  assert.is(answer.t, 'admitted');
  assert.ok(b.a.admitted());
  assert.equal(h.paired, [b.id]);
  assert.equal(b.a.principal(), {
    owner_id: 'own_1',
    browser: b.id,
    role: 'owner',
    elevated_until: h.now() + 12 * 3600,
  });
  const again = b.shake();
  assert.equal([again.admitted, again.need], [true, null]);
  h.tick(13 * 3600);
  assert.is(b.a.principal().elevated_until, 0);
});

test('a second browser needs a passkey the hub has pinned, unless the code was issued for a new one', async () => {
  const h = await hub();
  const [first, second, third] = [h.browser(), h.browser(), h.browser()];
  const [p, stranger] = [passkey(), passkey()];
  await h.pins.prove(first.id, false);
  first.shake();
  await first.assert(p, { key: p.publicKey });

  await h.pins.prove(second.id, false);
  assert.is(second.shake().first, false);
  assert.is((await second.assert(stranger, { key: stranger.publicKey })).error, 'assertion_failed');
  assert.is(second.a.admitted(), false);
  assert.is((await second.assert(p)).t, 'admitted');

  await h.pins.prove(third.id, true);
  assert.is(third.shake().first, true);
  assert.is((await third.assert(stranger, { key: stranger.publicKey })).t, 'admitted');
  assert.is(h.pins.browsers().length, 3);
});

test('root cannot swap the key of a pinned passkey', async () => {
  const h = await hub();
  const p = passkey();
  const impostor = { ...passkey(), id: p.id };
  const first = h.browser();
  await h.pins.prove(first.id, false);
  first.shake();
  await first.assert(p, { key: p.publicKey });
  const b = h.browser();
  await h.pins.prove(b.id, true);
  b.shake();
  const signed = impostor.assert({ challenge: await b.challenge() });
  const forged = { ...signed, id: p.id, rawId: p.id };
  await b.a.control({ t: 'assertion', credential: forged, public_key: impostor.publicKey });
  assert.is((b.said.at(-1) as { error: string }).error, 'assertion_failed');
});

for (const [what, spoil] of [
  ['a bogus signature', { bogusSignature: true }],
  ['another origin', { origin: 'http://evil.example' }],
  ['another rpId', { rpId: 'evil.example' }],
  ['no user verification', { noUserVerification: true }],
  ['another site around the page', { crossOrigin: true }],
  ['another handshake', { challenge: toBase64url(random(32)) }],
] as [string, Partial<Misbehaviour>][])
  test(`an assertion with ${what} is refused and counted; three shut the browser out`, async () => {
    const h = await hub();
    const b = h.browser();
    const p = passkey();
    await h.pins.prove(b.id, false);
    b.shake();
    for (const left of [2, 1, 0]) {
      const answer = await b.assert(p, { key: p.publicKey, ...spoil });
      assert.is(answer.error, 'assertion_failed');
      assert.equal(h.failures.at(-1), ['assertion_failed', left]);
    }
    assert.is((await b.assert(p, { key: p.publicKey })).error, 'pairing_failed');
    assert.is(b.a.admitted(), false);
    assert.equal(h.pins.browsers(), []);
  });

test('an assertion counts once: replayed in its own handshake or in the next it is refused', async () => {
  const h = await hub();
  const b = h.browser();
  const p = passkey();
  await h.pins.prove(b.id, false);
  b.shake();
  const credential = p.assert({ challenge: await b.challenge() });
  await b.a.control({ t: 'assertion', credential, public_key: p.publicKey });
  const until = h.pins.browser(b.id)!.elevated_until;
  h.tick(100);
  await b.a.control({ t: 'assertion', credential });
  assert.is((b.said.at(-1) as { error: string }).error, 'assertion_failed');
  b.shake();
  await b.a.control({ t: 'assertion', credential });
  assert.is((b.said.at(-1) as { error: string }).error, 'assertion_failed');
  assert.is(h.pins.browser(b.id)!.elevated_until, until);
  assert.is((await b.assert(p)).t, 'admitted');
  assert.is(h.pins.browser(b.id)!.elevated_until, h.now() + 12 * 3600);
});

test('two assertions at the same moment elevate once', async () => {
  const h = await hub();
  const b = h.browser();
  const p = passkey();
  await h.pins.prove(b.id, false);
  b.shake();
  const credential = p.assert({ challenge: await b.challenge() });
  const m = { t: 'assertion', credential, public_key: p.publicKey } as const;
  await Promise.all([b.a.control(m), b.a.control(m)]);
  assert.equal(
    b.said.slice(1).map((c) => c.t),
    ['admitted', 'refused'],
  );
});

/** The same credential; `then` happens while the hub looks at it. */
const midway = (credential: object, then: () => void) =>
  Object.defineProperty({ ...credential }, 'response', {
    get() {
      then();
      return (credential as { response: unknown }).response;
    },
  });

test('an assertion whose handshake ends while it is looked at lets nobody in and elevates nobody', async () => {
  const h = await hub();
  const b = h.browser();
  const p = passkey();
  const refused = () => (b.said.at(-1) as { error?: string }).error === 'assertion_failed';
  await h.pins.prove(b.id, false);
  b.shake();
  const early = midway(p.assert({ challenge: await b.challenge() }), b.shake);
  await b.a.control({ t: 'assertion', credential: early, public_key: p.publicKey });
  assert.ok(refused());
  assert.equal([h.pins.browsers(), h.pins.hasPasskey], [[], false]);

  assert.is((await b.assert(p, { key: p.publicKey })).t, 'admitted');
  const until = h.pins.browser(b.id)!.elevated_until;
  h.tick(100);
  b.shake();
  const late = midway(p.assert({ challenge: await b.challenge() }), b.shake);
  await b.a.control({ t: 'assertion', credential: late });
  assert.ok(refused());
  assert.is(h.pins.browser(b.id)!.elevated_until, until);
});

test('a browser forgotten while its assertion is looked at stays forgotten', async () => {
  const h = await hub();
  const b = h.browser();
  const p = passkey();
  await h.pins.prove(b.id, false);
  b.shake();
  await b.assert(p, { key: p.publicKey });
  b.shake();
  const credential = midway(p.assert({ challenge: await b.challenge() }), () => void h.pins.forget(b.id));
  await b.a.control({ t: 'assertion', credential });
  assert.is((b.said.at(-1) as { error?: string }).error, 'assertion_failed');
  assert.equal(h.pins.browsers(), []);
});

test('what root has signed at login is worth nothing at the hub, whatever it gave as challenge', async () => {
  const h = await hub();
  const p = passkey();
  const { asked } = installCredentials(origin, () => p.device);
  const root = h.browser();
  // Root knows the secret of a window; the passkey is what is left between it and the hub.
  await h.pins.prove(root.id, true);
  for (const given of [() => toBase64url(root.hash), () => root.challenge()])
    for (const context of ['sid-1', 'hub_1', '']) {
      root.shake();
      const challenge = await given();
      const credential = await signInAtRoot({ challenge, rpId: 'localhost' }, context);
      await h.pins.prove(root.id, true);
      await root.a.control({ t: 'assertion', credential, public_key: p.publicKey });
      assert.is((root.said.at(-1) as { error?: string }).error, 'assertion_failed');
    }
  assert.is(asked.length, 6);
  assert.equal(h.pins.browsers(), []);
  // Nor does one made for another hub open this one.
  const elsewhere = await signForHub('hub_2', root.hash);
  await root.a.control({ t: 'assertion', credential: elsewhere, public_key: p.publicKey });
  assert.is((root.said.at(-1) as { error?: string }).error, 'assertion_failed');
  const right = await signForHub('hub_1', root.hash);
  await root.a.control({ t: 'assertion', credential: right, public_key: p.publicKey });
  assert.is(root.said.at(-1)!.t, 'admitted');
});

test('a counter that goes back is noted, not refused', async () => {
  const h = await hub();
  const b = h.browser();
  const p = passkey();
  await h.pins.prove(b.id, false);
  b.shake();
  await b.assert(p, { key: p.publicKey, count: 7 });
  b.shake();
  assert.is((await b.assert(p, { count: 3 })).t, 'admitted');
  assert.equal([h.pins.passkey(p.id)!.counter, h.pins.passkey(p.id)!.regressions], [3, 1]);
  const kept = (await h.store.passkeys())[0]!;
  assert.equal([kept.counter, kept.regressions], [3, 1]);
});

test('what a browser may not say gets a clear answer', async () => {
  const h = await hub();
  const b = h.browser();
  await h.pins.prove(b.id, false);
  b.shake();
  await b.a.control({ t: 'admitted', elevated_until: 9e9 });
  assert.is((b.said.at(-1) as { error: string }).error, 'invalid_request');
  for (const credential of [
    {},
    { id: 5 },
    { id: 'x' },
    { id: 'x', response: { clientDataJSON: '{' } },
    null,
  ]) {
    await b.a.control({ t: 'assertion', credential, public_key: '!!' });
    assert.is(b.said.at(-1)!.t, 'refused');
  }
  assert.is(b.a.admitted(), false);
});

test('pins, elevation and half-done pairings survive a restart', async () => {
  const h = await hub();
  const [b, half] = [h.browser(), h.browser()];
  const p = passkey();
  await h.pins.prove(b.id, false);
  b.shake();
  await b.assert(p, { key: p.publicKey });
  await h.pins.prove(half.id, true);
  const after = await openPins(h.store, h.now);
  assert.equal(after.browsers(), h.pins.browsers());
  assert.is(after.proven(half.id)!.new_passkey, true);
  assert.ok(await after.forget(b.id));
  assert.not(await after.forget(b.id));
  assert.equal(await h.store.browsers(), []);
});

test('a browser is called what it says, without control characters, in 64 characters', async () => {
  for (const [given, kept] of [
    [' Ann\u0007\u202e’s phone ', 'Ann’s phone'],
    ['x'.repeat(70), 'x'.repeat(64)],
    ['\u0000 ', 'Browser'],
    [undefined, 'Browser'],
  ] as const) {
    const h = await hub();
    const b = h.browser();
    const p = passkey();
    await h.pins.prove(b.id, false);
    b.shake();
    const credential = p.assert({ challenge: await b.challenge() });
    await b.a.control({ t: 'assertion', credential, public_key: p.publicKey, label: given });
    assert.equal([h.pins.browser(b.id)!.label, h.pins.passkey(p.id)!.label], [kept, kept]);
  }
});

test('a paired browser may be wrong five times in one handshake, and stays paired', async () => {
  const h = await hub();
  const b = h.browser();
  const [p, other] = [passkey(), passkey()];
  await h.pins.prove(b.id, false);
  b.shake();
  await b.assert(p, { key: p.publicKey });
  b.shake();
  for (let i = 0; i < 5; i++) assert.is((await b.assert(other)).error, 'assertion_failed');
  assert.is((await b.assert(p)).error, 'rate_limited');
  assert.equal([h.failures, b.a.admitted()], [[], true]);
  b.shake();
  assert.is((await b.assert(p)).t, 'admitted');
});

test('an assertion whose failure cannot be counted does not keep the next one from its answer', async () => {
  const h = await hub();
  const b = h.browser();
  const [p, other] = [passkey(), passkey()];
  await h.pins.prove(b.id, false);
  b.shake();
  const { putProven } = h.store;
  h.store.putProven = () => Promise.reject(new Error('the disk is full'));
  const e = await b.assert(other).catch((e: Error) => e.message);
  assert.is(e, 'the disk is full');
  h.store.putProven = putProven;
  assert.is((await b.assert(p, { key: p.publicKey })).t, 'admitted');
});

test.run();
