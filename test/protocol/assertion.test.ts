import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random, toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { challengeOf, inForeignFrame, type ToSign } from '../../firmware/protocol/pairing/assertion.ts';

const test = suite('assertion');
const bytes = Uint8Array.from({ length: 32 }, (_, i) => i);

// Made by hand with sha256sum over printf '<label>\0' | the length in 8 bytes | the context | the bytes.
const golden: [ToSign, string][] = [
  [{ purpose: 'login', context: 'sid-1', bytes }, 'YY3paXml6p9XsuhQxZFh5rIiX499fW0DfsuleFBfpXg'],
  [{ purpose: 'registration', context: 'sid-1', bytes }, 'A1SK7efecfzD3Tt6qcH4vNlzx6paztXXzUpiQT5_ylI'],
  [{ purpose: 'hub', context: 'hub_1', bytes }, 'R4iWY7jGkz7k-A_vBk0N8mLxwf2Gn7qDEQ_dlwCZ3lM'],
  [{ purpose: 'hub', context: '', bytes: new Uint8Array(0) }, 'ySSG-9gk_uWX-9Km-jTMlYZZKQOPG_iRYA14CDWXxLU'],
];
test('a challenge is the hash of its label, its context with its length, and the bytes', async () => {
  for (const [what, challenge] of golden) assert.is(await challengeOf(what), challenge);
});

test('no other purpose, context or bytes ever give the same challenge, however they are cut', async () => {
  const what = fc.record({
    purpose: fc.constantFrom('login', 'registration', 'hub') as fc.Arbitrary<ToSign['purpose']>,
    context: fc.string({ maxLength: 12 }),
    bytes: fc.uint8Array({ maxLength: 12 }),
  });
  const key = (w: ToSign) => JSON.stringify([w.purpose, w.context, [...w.bytes]]);
  await fc.assert(
    fc.asyncProperty(what, what, fc.nat(12), async (a, b, cut) => {
      assert.is((await challengeOf(a)) === (await challengeOf(b)), key(a) === key(b));
      // What stands before the cut moves from the bytes into the context.
      const head = new TextDecoder('latin1').decode(a.bytes.subarray(0, cut));
      const moved = { ...a, context: a.context + head, bytes: a.bytes.slice(cut) };
      assert.is((await challengeOf(a)) === (await challengeOf(moved)), key(a) === key(moved));
    }),
    { numRuns: 300 },
  );
});

test('the bytes that were given are never the challenge, nor their plain hash', async () => {
  for (const purpose of ['login', 'registration', 'hub'] as const) {
    const given = random(32);
    const challenge = await challengeOf({ purpose, context: 'x', bytes: given });
    assert.is.not(challenge, toBase64url(given));
    assert.is.not(challenge, createHash('sha256').update(given).digest('base64url'));
  }
});

test('a credential made in a frame of another site is known, and what cannot be read counts as one', () => {
  const made = (client: unknown) => ({
    response: { clientDataJSON: toBase64url(utf8(JSON.stringify(client))) },
  });
  assert.not(inForeignFrame(made({ type: 'webauthn.get' })));
  assert.not(inForeignFrame(made({ crossOrigin: false })));
  for (const foreign of [
    made({ crossOrigin: true }),
    made({ crossOrigin: 'true' }),
    made({ crossOrigin: 1 }),
    made({ crossOrigin: false, topOrigin: 'https://evil.example' }),
    made(null),
    { response: { clientDataJSON: '!' } },
    { response: {} },
    {},
    null,
  ])
    assert.ok(inForeignFrame(foreign), JSON.stringify(foreign));
});

test.run();
