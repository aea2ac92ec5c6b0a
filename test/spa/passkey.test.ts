// What reaches the person's authenticator, whatever root answers.
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random, toBase64url } from '../../firmware/protocol/bytes.ts';
import { challengeOf } from '../../firmware/protocol/pairing/assertion.ts';
import { createPasskey, signForHub, signInAtRoot } from '../../spa/passkey.ts';
import { authenticator } from '../lab/authenticator.ts';
import { installCredentials } from '../lab/credentials.ts';

const origin = 'https://hub.example';
const test = suite('passkey');
const bytes = random(32);
const challenge = toBase64url(bytes);
const id = toBase64url(random(16));
const b64 = (b: unknown) => Buffer.from(b as ArrayBuffer).toString('base64url');
/** Everything a hostile root could wish for beside its challenge. */
const greed = {
  rpId: 'example',
  userVerification: 'discouraged',
  mediation: 'silent',
  hints: ['hybrid'],
  extensions: {
    prf: { eval: { first: challenge } },
    largeBlob: { read: true },
    appid: 'https://evil.example',
  },
  attestation: 'direct',
  authenticatorSelection: { userVerification: 'discouraged', residentKey: 'discouraged' },
  rp: { id: 'example', name: 'Bank' },
  pubKeyCredParams: [{ type: 'public-key', alg: -65535 }],
  user: { id: 'AAAA', name: 'Ingle', displayName: 'Your bank' },
};
const device = authenticator(origin);
device.make('AAAA');
const { asked } = installCredentials(origin, () => device);
const last = () => asked.at(-1)! as unknown as Record<string, unknown>;
const clientOf = (c: unknown) =>
  JSON.parse(
    Buffer.from(
      (c as { response: { clientDataJSON: string } }).response.clientDataJSON,
      'base64url',
    ).toString(),
  );

test('signing in takes of root its bytes, its time and whose passkey; all else is decided here', async () => {
  const given = { ...greed, challenge, timeout: 5000, allowCredentials: [{ id: device.keys[0]!.id, x: 1 }] };
  const made = await signInAtRoot(given, 'sid-1');
  assert.equal(Object.keys(last()).sort(), [
    'allowCredentials',
    'challenge',
    'rpId',
    'timeout',
    'userVerification',
  ]);
  assert.equal([last()['rpId'], last()['userVerification']], ['hub.example', 'required']);
  assert.is(last()['timeout'], 5000);
  const [allowed] = last()['allowCredentials'] as Record<string, unknown>[];
  assert.equal([Object.keys(allowed!).sort(), b64(allowed!['id'])], [['id', 'type'], device.keys[0]!.id]);
  const want = await challengeOf({ purpose: 'login', context: 'sid-1', bytes });
  assert.is(b64(last()['challenge']), want);
  assert.equal([clientOf(made).type, clientOf(made).challenge], ['webauthn.get', want]);
});

test('making a passkey is for our own host, with the person verified and nothing asked of the device', async () => {
  await createPasskey({ ...greed, challenge, excludeCredentials: [{ id, transports: ['usb', 5] }] }, 'sid-1');
  const { user, excludeCredentials, challenge: signed, timeout, ...rest } = last();
  assert.equal(rest, {
    rp: { id: 'hub.example', name: 'Ingle' },
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ alg, type: 'public-key' })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
    hints: ['client-device'],
  });
  assert.equal({ ...(user as object), id: 0 }, { id: 0, name: 'Ingle', displayName: 'Ingle' });
  assert.is(timeout, 120_000);
  assert.equal((excludeCredentials as { transports: unknown }[])[0]!.transports, ['usb', '5']);
  assert.is(b64(signed), await challengeOf({ purpose: 'registration', context: 'sid-1', bytes }));
});

test('a hub gets a signature over the handshake this browser has, by any passkey of this host', async () => {
  const hash = random(32);
  await signForHub('hub_1', hash);
  assert.is(b64(last()['challenge']), await challengeOf({ purpose: 'hub', context: 'hub_1', bytes: hash }));
  assert.equal([last()['rpId'], last()['userVerification']], ['hub.example', 'required']);
  assert.equal(last()['allowCredentials'], []);
});

test('options that are none reach no authenticator', async () => {
  const before = asked.length;
  const bad = [
    null,
    'x',
    {},
    { challenge: 'AAAA' },
    { challenge: '!' },
    { challenge: toBase64url(random(65)) },
    { challenge, allowCredentials: [{ id: '!' }] },
    { challenge, allowCredentials: 5 },
    { challenge, user: { id: toBase64url(random(65)) } },
  ];
  for (const options of bad)
    for (const ask of [signInAtRoot, createPasskey]) {
      const e = await Promise.resolve()
        .then(() => ask(options, 'sid-1'))
        .catch((x: { code?: string }) => x);
      assert.is((e as { code?: string }).code, 'unavailable', JSON.stringify(options));
    }
  assert.is(asked.length, before);
});

test('nothing else of the application speaks with an authenticator', () => {
  const speaks = readdirSync('spa')
    .filter((f) => f.endsWith('.ts'))
    .filter((f) => /navigator\.credentials/.test(readFileSync(`spa/${f}`, 'utf8')));
  assert.equal(speaks, ['passkey.ts']);
});

test('a time no person would wait is cut short', async () => {
  for (const [timeout, got] of [
    [1e12, 600_000],
    [-1, 120_000],
    ['soon', 120_000],
    [undefined, 120_000],
  ]) {
    await signInAtRoot({ challenge, timeout }, 'sid-1');
    assert.is(last()['timeout'], got);
  }
});

test.run();
