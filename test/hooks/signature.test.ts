// Signatures of Standard Webhooks: its own vector, and what is none.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestOf, holds, readSigned, secretText } from '../../firmware/hooks/signature.ts';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('signature');

/** The example of the reference libraries (github.com/standard-webhooks/standard-webhooks). */
const vector = {
  secret: new Uint8Array(Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')),
  body: utf8('{"test": 2432232314}'),
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};

test('the message of the specification holds, and with any byte changed it does not', () => {
  const { secret, body, headers } = vector;
  assert.ok(holds(secret, readSigned(headers), body));
  assert.is(secretText(secret), 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const other = Uint8Array.from(body, (b, i) => (i === at ? b ^ by : b));
      assert.not(holds(secret, readSigned(headers), other));
    }),
  );
  assert.not(holds(secret, readSigned({ ...headers, 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' }), body));
  assert.not(holds(secret, readSigned({ ...headers, 'webhook-timestamp': '1614265331' }), body));
  assert.not(holds(utf8('another'), readSigned(headers), body));
});

test('of several signatures one is enough, wherever it stands, and other schemes count for nothing', () => {
  const right = vector.headers['webhook-signature'];
  const wrong = `v1,${'A'.repeat(43)}=`;
  const heldWith = (signature: string) =>
    holds(vector.secret, readSigned({ ...vector.headers, 'webhook-signature': signature }), vector.body);
  for (const fine of [`${right} ${wrong}`, `${wrong} ${right}`, `v1a,xyz ${right}`, `${right} ${right}`])
    assert.ok(heldWith(fine), fine);
  for (const not of [wrong, right.replace('v1', 'v2'), right.slice(3), `${right}x`, `v1,${right}`, 'v1,'])
    assert.not(heldWith(not), not);
  assert.not(heldWith(`${`${wrong} `.repeat(8)}${right}`), 'only so many are looked at');
});

test('headers that are none are refused by name', () => {
  const bad: [string, string[]][] = [
    ['webhook-id', ['', 'a.b', 'a b', 'x'.repeat(129), 'ä', 'a\n']],
    ['webhook-timestamp', ['', '0', '-1', '1.5', '1e9', ' 1614265330', '16142653300000', 'now', '0x10']],
    ['webhook-signature', ['', 'x'.repeat(2049), 'v1,\n']],
  ];
  for (const [name, values] of bad)
    for (const value of [...values, undefined])
      try {
        readSigned({ ...vector.headers, [name]: value });
        assert.unreachable(`${name} ${value}`);
      } catch (e) {
        assert.instance(e, IngleError);
        assert.is((e as IngleError).details?.['header'], name);
      }
});

test('id and time cannot be moved into each other', () => {
  const body = utf8('{}');
  const a = digestOf(vector.secret, { id: 'a1', at: 2 }, body);
  assert.not.equal(a, digestOf(vector.secret, { id: 'a', at: 12 }, body));
  assert.not.equal(a, digestOf(vector.secret, { id: 'a1', at: 2 }, utf8('.{}')));
});

test.run();
