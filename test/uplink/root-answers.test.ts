// What root may answer: what has its shape is read, all else is nothing.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { DEVICE_CODE_TTL } from '../../firmware/protocol/limits.ts';
import { certificateOf, deviceCodeOf, hubIdOf, keysOf, offerOf } from '../../firmware/uplink/root-answers.ts';

const test = suite('answers of root');
const part = (o: object) => toBase64url(utf8(JSON.stringify(o)));
const jwt = (claims: object) => `${part({ alg: 'EdDSA' })}.${part(claims)}.AA`;
const certificate = jwt({ iat: 100, exp: 200 });
const place = { owner_id: 'own_a', subnet_id: 'net_a', hub_id: 'hub_a', app_url: 'https://app.example' };
const said = { ...place, certificate };
const root_url = 'https://root.example';

test('an offer is a place with a certificate and its times', () => {
  assert.equal(offerOf(said, root_url), { ...said, root_url, issued_at: 100, expires_at: 200 });
  assert.is(offerOf({ ...said, parted: 'signed' }, root_url)?.note, 'signed');
});

test('a note that is none, or too long for one, is left out of an offer', () => {
  assert.is(offerOf({ ...said, parted: 'x'.repeat(512) }, root_url)?.note?.length, 512);
  for (const parted of [undefined, 1, 'x'.repeat(513)])
    assert.not(Object.hasOwn(offerOf({ ...said, parted }, root_url)!, 'note'));
});

test('an offer of another shape is no offer', () => {
  const bad: Record<string, unknown[]> = {
    owner_id: [undefined, 1, '', 'a b', 'a/b', 'x'.repeat(65), 'own\n'],
    subnet_id: [null, '../net'],
    hub_id: [['hub_a'], ''],
    app_url: [
      ...[undefined, 'app.example', 'https://app.example/', 'https://app.example/path', 'http://app.example'],
      ...['ftp://app.example', 'http://notlocalhost', `https://${'a'.repeat(250)}.example`],
    ],
    certificate: [
      undefined,
      '',
      'a.b.c',
      'x'.repeat(4097),
      jwt({ iat: 1 }),
      jwt({ exp: 1 }),
      jwt({ iat: 'now', exp: 1 }),
    ],
  };
  for (const [field, values] of Object.entries(bad))
    for (const v of values)
      assert.is(offerOf({ ...said, [field]: v }, root_url), undefined, `${field}: ${JSON.stringify(v)}`);
});

test('an application may be on localhost without TLS', () => {
  for (const app_url of ['http://localhost', 'http://localhost:8080', 'http://ingle.localhost:3000'])
    assert.is(offerOf({ ...said, app_url }, root_url)?.app_url, app_url);
});

test('a certificate is taken alone when it is renewed', () => {
  assert.equal(certificateOf({ certificate }), { certificate, issued_at: 100, expires_at: 200 });
  assert.is(certificateOf({}), undefined);
});

test('a device code is shown in two groups, and lives no longer than any', () => {
  const code = { device_code: '123456', expires_in: 60 };
  assert.equal(deviceCodeOf(code), { device_code: '123-456', expires_in: 60, taken_ago: undefined });
  assert.equal(deviceCodeOf({ ...code, device_code: '123-456', expires_in: 10 ** 9, taken_ago: 0 }), {
    ...{ device_code: '123-456', expires_in: DEVICE_CODE_TTL, taken_ago: 0 },
  });
  for (const taken_ago of [-1, '5', null])
    assert.is(deviceCodeOf({ ...code, taken_ago })?.taken_ago, undefined);
});

test('a device code of another shape is none', () => {
  for (const device_code of [undefined, 123456, '12345', '1234567', '12-3456', '123 456', '123456\n'])
    assert.is(deviceCodeOf({ device_code, expires_in: 60 }), undefined, JSON.stringify(device_code));
  for (const expires_in of [undefined, '60', 0, -1, 1.5, Infinity])
    assert.is(deviceCodeOf({ device_code: '123456', expires_in }), undefined, String(expires_in));
});

test('a hub is named by an id, and keys come as a list', () => {
  assert.is(hubIdOf({ hub_id: 'hub_b' }), 'hub_b');
  for (const hub_id of [undefined, '', 'a b']) assert.is(hubIdOf({ hub_id }), undefined);
  assert.equal(keysOf({ keys: [] }), { keys: [] });
  for (const other of [null, undefined, [], 'keys', { keys: {} }]) assert.is(keysOf(other), undefined);
});

test.run();
