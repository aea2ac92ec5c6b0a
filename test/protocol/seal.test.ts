// The sealed secret of the insecure debug mode: for one browser's key, one session, one hub.
import { createDecipheriv, hkdfSync } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random, toHex } from '../../firmware/protocol/bytes.ts';
import { insecureFeature, seal, unseal } from '../../firmware/protocol/noise/seal.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';

const test = suite('sealed secret');
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (e) => e.code,
  );
const secret = () => ({ hubStatic: random(32), psk: random(32) });

test('what is sealed to a browser is opened by it, and looks new each time', async () => {
  const browser = await generate();
  const s = secret();
  const [a, b] = await Promise.all([1, 2].map(() => seal(s, browser.publicKey, 's', 'h')));
  assert.equal(await unseal(a!, browser, 's', 'h'), s);
  assert.equal(await unseal(b!, browser, 's', 'h'), s);
  assert.is.not(toHex(a!), toHex(b!));
  assert.not(toHex(a!).includes(toHex(s.psk)));
});

test('another key, session or hub opens nothing', async () => {
  const browser = await generate();
  const sealed = await seal(secret(), browser.publicKey, 's', 'h');
  assert.is(await code(unseal(sealed, await generate(), 's', 'h')), 'pairing_failed');
  assert.is(await code(unseal(sealed, browser, 's2', 'h')), 'pairing_failed');
  assert.is(await code(unseal(sealed, browser, 's', 'h2')), 'pairing_failed');
});

test('a sealed secret that was altered, cut or made up is refused', async () => {
  const browser = await generate();
  const sealed = await seal(secret(), browser.publicKey, 's', 'h');
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
      // The highest bit of an X25519 public key means nothing (RFC 7748 section 5), but it is bound into the key.
      const altered = Uint8Array.from(sealed);
      altered[at]! ^= flip;
      assert.is(await code(unseal(altered, browser, 's', 'h')), 'pairing_failed');
    }),
    { numRuns: 60 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      assert.is(await code(unseal(bytes, browser, 's', 'h')), 'pairing_failed');
    }),
    { numRuns: 60 },
  );
});

test('the key of a sealed secret is HKDF over both keys, under its own label, session and hub', async () => {
  assert.is(insecureFeature, 'insecure-sealed-secret', 'as hubs have said it since');
  const browser = await generate();
  const s = secret();
  const sealed = await seal(s, browser.publicKey, 's', 'h');
  const ephemeral = sealed.slice(0, 32);
  const salt = Buffer.concat([ephemeral, browser.publicKey]);
  const info = 'ingle sealed_secret 1["s","h"]';
  const key = Buffer.from(hkdfSync('sha256', await browser.dh(ephemeral), salt, info, 32));
  const open = createDecipheriv('aes-256-gcm', key, Buffer.alloc(12));
  open.setAuthTag(sealed.subarray(96));
  assert.is(
    open.update(sealed.subarray(32, 96), undefined, 'hex') + open.final('hex'),
    toHex(s.hubStatic) + toHex(s.psk),
  );
});

test('nothing is sealed to a key of small order or of wrong length', async () => {
  for (const bad of [new Uint8Array(32), new Uint8Array(31), new Uint8Array(65)])
    assert.is(await code(seal(secret(), bad, 's', 'h')), 'forbidden');
});

test.run();
