// Pins, one by one, as memory and as the database have them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ELEVATION_TTL, PAIRING_TRIES } from '../../firmware/protocol/limits.ts';
import { openPins, used } from '../../firmware/uplink/pins.ts';
import { PROVEN_TTL } from '../../firmware/uplink/proven.ts';
import type { Passkey } from '../../firmware/uplink/rows.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';

const test = suite('pins');
const passkey = (cred_id: string, counter = 0): Passkey => ({
  ...{ cred_id, public_key: Uint8Array.of(1), counter },
  ...{ label: 'Phone', pinned_at: 1, regressions: 0 },
});

async function opened() {
  let time = 1_000_000;
  const store = await openUplinkStore(':memory:');
  const now = () => time;
  return { store, now, pins: await openPins(store, now), tick: (s: number) => (time += s) };
}

test('a proven browser has ten minutes, and is swept when the next one comes', async () => {
  assert.is(PROVEN_TTL, 600);
  const { store, pins, tick, now } = await opened();
  await pins.prove('a', true);
  assert.equal(pins.proven('a'), {
    ...{ id: 'a', new_passkey: true, grant: { kind: 'owner' } },
    ...{ expires_at: now() + 600, failures: 0 },
  });
  assert.is(pins.proven('b'), undefined);
  tick(599);
  assert.ok(pins.proven('a'));
  tick(1);
  assert.is(pins.proven('a'), undefined);
  await pins.prove('b', false);
  assert.equal(
    (await store.proven()).map((p) => p.id),
    ['b'],
  );
});

test('sixteen browsers may owe their assertion at one time: the oldest gives way', async () => {
  const { store, pins } = await opened();
  for (let i = 0; i < 16; i++) await pins.prove(`p${i}`, false);
  assert.ok(pins.proven('p0'));
  await pins.prove('p0', false);
  await pins.prove('late', false);
  assert.is(pins.proven('p1'), undefined, 'proven anew, p0 is not the oldest any more');
  assert.ok(pins.proven('p0') && pins.proven('p2') && pins.proven('late'));
  assert.is((await store.proven()).length, 16);
});

test('wrong assertions count down, over a restart too, and the last one forgets the browser', async () => {
  const { store, pins, now } = await opened();
  assert.is(await pins.failProven('a'), 0, 'of nobody');
  await pins.prove('a', false);
  for (let left = PAIRING_TRIES - 1; left > 0; left--) {
    assert.is(await pins.failProven('a'), left);
    assert.is((await openPins(store, now)).proven('a')!.failures, PAIRING_TRIES - left);
  }
  assert.is(await pins.failProven('a'), 0);
  assert.is(pins.proven('a'), undefined);
  assert.equal(await store.proven(), []);
});

test('a browser that is admitted is pinned with its passkey, and owes nothing any more', async () => {
  const { store, pins, now, tick } = await opened();
  await pins.prove('a', false);
  assert.not(pins.hasPasskey);
  const b = await pins.admit('a', 'Phone', passkey('k'));
  assert.equal(b, {
    ...{ id: 'a', label: 'Phone', paired_at: now(), seen_at: now(), cred_id: 'k' },
    elevated_until: now() + ELEVATION_TTL,
  });
  assert.equal([pins.browsers(), pins.passkeys(), pins.hasPasskey], [[b], [passkey('k')], true]);
  assert.is(pins.proven('a'), undefined);
  tick(5);
  await pins.saw(b);
  const again = await openPins(store, now);
  assert.equal(again.browsers(), [{ ...b, seen_at: now() }]);
  assert.equal(
    again.passkeys().map((p) => ({ ...p, public_key: Uint8Array.from(p.public_key) })),
    [passkey('k')],
  );
  assert.is(again.passkey('k')!.cred_id, 'k');
  assert.equal(await store.proven(), []);
  tick(5);
  await pins.prove('a', true);
  await pins.elevate(b, passkey('k', 7));
  assert.is(pins.proven('a'), undefined);
  const later = await openPins(store, now);
  assert.is(later.browser('a')!.elevated_until, now() + ELEVATION_TTL);
  assert.is(later.passkey('k')!.counter, 7);
  assert.equal(await store.proven(), []);
});

test('what is forgotten is not written again by who still holds it', async () => {
  const { store, pins, now } = await opened();
  const b = await pins.admit('a', 'Phone', passkey('k'));
  await pins.prove('a', false);
  assert.is(await pins.forget('a'), true);
  assert.equal([pins.browser('a'), pins.proven('a')], [undefined, undefined]);
  await pins.saw(b);
  await pins.elevate(b, passkey('k'));
  assert.equal([await store.browsers(), await store.proven()], [[], []]);
  const after = await openPins(store, now);
  assert.equal([after.browser('a'), after.proven('a')], [undefined, undefined]);
  assert.is(await pins.forget('a'), false);
});

test('everybody is forgotten when that is durable, and nobody when it fails', async () => {
  const { pins } = await opened();
  const b = await pins.admit('a', 'Phone', passkey('k'));
  await pins.prove('c', false);
  let meanwhile: unknown;
  const failing = pins.forgetAll(async () => {
    meanwhile = [pins.browsers(), pins.passkeys(), pins.proven('c')];
    throw new Error('the disk is full');
  });
  assert.is((await failing.catch((e) => e)).message, 'the disk is full');
  assert.equal(meanwhile, [[], [], undefined], 'nobody is known meanwhile');
  assert.equal([pins.browsers(), pins.passkeys()], [[b], [passkey('k')]]);
  assert.ok(pins.proven('c'));
  await pins.forgetAll(async () => {});
  assert.equal([pins.browsers(), pins.passkeys(), pins.proven('c')], [[], [], undefined]);
});

test('who is admitted while everybody is forgotten stays out', async () => {
  const { store, now } = await opened();
  let resume = () => {};
  const slow = { ...store, admit: () => new Promise<void>((done) => (resume = done)) };
  const pins = await openPins(slow, now);
  const admitted = pins.admit('a', 'Phone', passkey('k')).catch((e) => e.code);
  await pins.forgetAll(async () => {});
  resume();
  assert.is(await admitted, 'pairing_failed');
  assert.equal([pins.browsers(), pins.passkeys()], [[], []]);
});

test('a counter that stays or goes back is noted, unless the passkey counts nothing', () => {
  const back = (was: number, is: number) => used(passkey('k', was), is).regressions;
  assert.equal([back(0, 0), back(0, 1), back(5, 6)], [0, 0, 0]);
  assert.equal([back(5, 5), back(5, 4), back(5, 0), back(1, 1)], [1, 1, 1, 1]);
  assert.is(used(passkey('k', 5), 9).counter, 9);
  assert.is(used({ ...passkey('k', 5), regressions: 3 }, 2).regressions, 4);
});

test('a new name that could not be stored is not the name', async () => {
  const { store, pins } = await opened();
  await pins.admit('a', 'Phone', passkey('p'));
  const { putBrowser } = store;
  store.putBrowser = async () => {
    throw new Error('disk full');
  };
  assert.is(await pins.rename('a', 'Kitchen').catch((e) => e.message), 'disk full');
  assert.is(pins.browser('a')?.label, 'Phone');
  store.putBrowser = putBrowser;
  assert.ok(await pins.rename('a', 'Kitchen'));
  assert.is((await store.browsers())[0]?.label, 'Kitchen');
  assert.not(await pins.rename('b', 'Kitchen'));
});

test.run();
