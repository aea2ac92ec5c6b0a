// What the hub takes of a passkey before any signature is looked at: ids and keys of a bounded size, and their fault named.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { claimedId, coseKey, relyingParty } from '../../firmware/uplink/passkey.ts';

const test = suite('passkey');

/** The pointer of a refusal; undefined when the value was taken. */
function refusedAt(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (e) {
    assert.instance(e, IngleError);
    assert.is((e as IngleError).code, 'invalid_request');
    return (e as IngleError).details!['pointer'] as string;
  }
}

test('an assertion names its passkey by 1 to 1400 characters', () => {
  for (const id of ['x', 'x'.repeat(1400)]) assert.is(claimedId({ id }), id);
  for (const credential of [null, undefined, {}, 'x', { id: '' }, { id: 5 }, { id: ['x'] }])
    assert.is(
      refusedAt(() => claimedId(credential)),
      '/credential/id',
    );
  assert.is(
    refusedAt(() => claimedId({ id: 'x'.repeat(1401) })),
    '/credential/id',
  );
});

test('a public key has 1 to 2048 bytes of base64url', () => {
  for (const length of [1, 77, 2048])
    assert.is(coseKey(toBase64url(new Uint8Array(length).fill(7))).length, length);
  for (const text of ['', '!', 'AA=', toBase64url(new Uint8Array(2049))])
    assert.is(
      refusedAt(() => coseKey(text)),
      '/public_key',
      text.slice(0, 10),
    );
});

test('a passkey speaks for the origin and the host of the application, whatever path its address has', () => {
  assert.equal(relyingParty('https://hub.example:8443/x?y#z'), {
    origin: 'https://hub.example:8443',
    id: 'hub.example',
  });
});

test.run();
