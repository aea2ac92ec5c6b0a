// What the hub says to whoever answers at root's address, and what it makes of the answers.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { translator } from '../../firmware/text/i18n.ts';
import { uplinkTexts } from '../../firmware/text/uplink.ts';
import { identityKey, makeKeys } from '../../firmware/uplink/keys.ts';
import { rootClient } from '../../firmware/uplink/root.ts';
import type { Identity } from '../../firmware/uplink/rows.ts';

interface Asked {
  path: string;
  proof: Record<string, unknown>;
  pow: unknown;
}
type Say = (asked: Asked, response: ServerResponse) => void;
const keys = makeKeys(1);
const now = 1_800_000_000;
const certificate = await new SignJWT({ iss: 'https://another.example' })
  .setProtectedHeader({ alg: 'EdDSA' })
  .setIssuedAt(now)
  .setExpirationTime(now + 90 * 86_400)
  .sign(identityKey(keys));
const offered = {
  owner_id: 'own_a',
  subnet_id: 'net_a',
  hub_id: 'hub_a',
  app_url: 'https://app.example',
  certificate,
};

const test = suite<{ say: Say; asked: Asked[]; url: string; close(): void }>('root’s endpoints');
test.before.each(async (c) => {
  c.asked = [];
  const server = createServer(async (q, s) => {
    let text = '';
    for await (const part of q) text += part;
    const token = /^Bearer (.*)$/.exec(q.headers.authorization ?? '')?.[1] ?? JSON.parse(text).proof;
    const asked = {
      path: q.url!,
      proof: decodeJwt(token) as Record<string, unknown>,
      pow: q.headers['x-ingle-pow'],
    };
    c.asked.push(asked);
    c.say(asked, s);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  c.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  c.close = () => {
    server.closeAllConnections();
    server.close();
  };
});
test.after.each((c) => c.close());

const text = translator(uplinkTexts, 'en');
const client = (url: string) => rootClient({ root_url: url, keys: () => keys, now: () => now, text });
const json = (s: ServerResponse, body: unknown, status = 200) => {
  s.writeHead(status, { 'content-type': 'application/json' });
  s.end(JSON.stringify(body));
};
const refusal = (details: object, error = 'unauthenticated') => ({
  error,
  message: 'Go to https://evil.example and type your code',
  details,
});
const failure = (work: Promise<unknown>): Promise<IngleError> =>
  work.then(
    () => assert.unreachable('it was taken'),
    (e) => e,
  ) as never;
const identity = (url: string): Identity => ({
  ...offered,
  root_url: url,
  issued_at: now,
  expires_at: now + 90 * 86_400,
});

test('each proof says its one purpose and the address the hub was configured with', async (c) => {
  c.say = ({ path }, s) =>
    json(
      s,
      path.endsWith('device-code')
        ? { device_code: '123-456', expires_in: 600, taken_ago: undefined }
        : offered,
    );
  const root = client(c.url);
  const i = identity(c.url);
  await root.enrol();
  await root.renew(i);
  await root.rotate(i);
  await root.deviceCode(i, { scope: 'new_passkey' });
  const socket = decodeJwt((await root.auth(i)).proof) as Record<string, unknown>;
  const proofs = [...c.asked.map((a) => a.proof), socket];
  assert.equal(
    proofs.map((p) => p['purpose']),
    ['enrol', 'renew', 'rotate', 'device-code', 'socket'],
  );
  for (const p of proofs) assert.is(p['aud'], c.url);
  assert.is(c.asked[3]!.proof['scope'], 'new_passkey');
});

test('whatever name root gives itself, the hub signs for its own alone, and says what to do', async (c) => {
  for (const audience of ['https://bank.example', ['https://bank.example', 'https://b.example'], [c.url]]) {
    c.asked.length = 0;
    c.say = (_, s) => json(s, refusal({ audience, now }), 401);
    const e = await failure(client(c.url).enrol());
    for (const { proof } of c.asked) assert.is(proof['aud'], c.url);
    assert.is(e.code, 'unauthenticated');
    assert.not.match(e.message, /evil|type your code/);
    if (audience[0] === c.url) assert.match(e.message, /refused the hub/);
    else assert.match(e.message, /goes by other names: https:\/\/b.*set root_url.*--audience http/);
  }
});

test('names that are none, or many, or long, do not reach a person', async (c) => {
  for (const audience of ['\u001b[2J', 7, null, {}, ['x y', `https://${'a'.repeat(300)}`]]) {
    c.say = (_, s) => json(s, refusal({ audience }), 401);
    assert.match((await failure(client(c.url).enrol())).message, /refused the hub \(unauthenticated\)/);
  }
  const many = Array.from({ length: 100 }, (_, n) => `https://n${n}.example/\u001b]0;x`);
  c.say = (_, s) => json(s, refusal({ audience: many }), 401);
  const { message } = await failure(client(c.url).enrol());
  assert.ok(message.length < 600);
  assert.not.match(message, /n8\./);
  assert.not.ok(message.includes('\u001b'));
});

test('a clock that lies makes no proof that lives longer than a minute, and none beyond ten years', async (c) => {
  const year = 365 * 86_400;
  for (const [theirs, believed] of [
    [now + 3600, true],
    [now - 3600, true],
    [now + 9 * year, true],
    [now + 11 * year, false],
    [Number.MAX_SAFE_INTEGER, false],
    [-1, false],
    [now + 0.5, false],
    ['soon', false],
  ] as const) {
    c.asked.length = 0;
    c.say = (_, s) => json(s, refusal({ now: theirs, audience: [c.url] }), 401);
    await failure(client(c.url).enrol());
    assert.is(c.asked.length, believed ? 2 : 1, String(theirs));
    for (const { proof } of c.asked) {
      assert.is((proof['exp'] as number) - (proof['iat'] as number), 60);
      assert.ok(Math.abs((proof['iat'] as number) - now) <= 10 * year);
    }
    assert.is(c.asked.at(-1)!.proof['iat'], believed ? theirs : now);
  }
});

test('an enrolment that is not whole, or names what is no id or no origin, is no answer', async (c) => {
  const bad: Record<string, unknown>[] = [
    { app_url: undefined },
    { app_url: 'https://app.example/path' },
    { app_url: 'http://app.example' },
    { app_url: 'javascript:alert(1)' },
    { app_url: `https://${'a'.repeat(300)}.example` },
    { owner_id: undefined },
    { owner_id: 'own\u001b[2J' },
    { subnet_id: 7 },
    { hub_id: 'x'.repeat(65) },
    { certificate: undefined },
    { certificate: 'x.y.z' },
    { certificate: 'x'.repeat(5000) },
    { certificate: await new SignJWT({}).setProtectedHeader({ alg: 'EdDSA' }).sign(identityKey(keys)) },
  ];
  for (const b of bad) {
    c.say = (_, s) => json(s, { ...offered, ...b });
    const e = await failure(client(c.url).enrol());
    assert.is(e.code, 'unavailable', JSON.stringify(b));
    assert.match(e.message, /no root service of this version/);
  }
  c.say = (_, s) => json(s, offered);
  // The certificate's issuer is nobody's address but root's.
  assert.is((await client(c.url).enrol()).app_url, 'https://app.example');
});

test('a code lives as long as the hub thinks right, and a time that is none is no answer', async (c) => {
  const code = (expires_in: unknown) => {
    c.say = (_, s) => json(s, { device_code: '123456', expires_in, verify_uri: 'https://evil.example/' });
    return client(c.url).deviceCode(identity(c.url), {});
  };
  assert.equal(await code(1e9), { device_code: '123-456', expires_in: 600, taken_ago: undefined });
  assert.equal(await code(30), { device_code: '123-456', expires_in: 30, taken_ago: undefined });
  for (const t of [0, -1, 0.5, Number.NaN, '600', undefined])
    assert.is((await failure(code(t))).code, 'unavailable', String(t));
});

test('root’s other refusals come in the hub’s words', async (c) => {
  for (const [error, code, words] of [
    ['rate_limited', 'rate_limited', /too many requests/],
    ['conflict', 'unavailable', /refused the hub \(conflict\)/],
    ['unavailable', 'unavailable', /refused the hub \(unavailable\)/],
    ['made_up', 'unavailable', /refused the hub \(internal\)/],
  ] as const) {
    c.say = (_, s) => json(s, refusal({}, error), 400);
    const e = await failure(client(c.url).enrol());
    assert.is(e.code, code);
    assert.match(e.message, words);
    assert.not.match(e.message, /evil/);
    assert.is(e.details, undefined);
  }
});

test('what root refuses of a subnet is told for what it is, in the hub’s words', async (c) => {
  for (const [error, code, words] of [
    ['invalid_device_code', 'invalid_device_code', /invitation is not valid/],
    ['conflict', 'conflict', /in a subnet already/],
    ['not_found', 'not_found', /no such member/],
    ['forbidden', 'unavailable', /refused the hub \(forbidden\)/],
  ] as const) {
    c.say = (_, s) => json(s, refusal({}, error), 400);
    const e = await failure(client(c.url).join(identity(c.url), '123456'));
    assert.equal([e.code, e.details], [code, undefined]);
    assert.match(e.message, words);
    assert.not.match(e.message, /evil/);
  }
});

test('a hub that joins while root asks for work does it', async (c) => {
  const solved: unknown[] = [];
  const challenge = toBase64url(new Uint8Array(37));
  c.say = (q, s) => {
    solved.push(q.pow);
    if (solved.length === 1) json(s, refusal({ pow: { challenge, bits: 1 } }, 'rate_limited'), 429);
    else json(s, { hub_id: 'hub_a' });
  };
  assert.is(await client(c.url).join(identity(c.url), '123456'), 'hub_a');
  assert.is(solved[0], undefined);
  assert.ok(String(solved[1]).startsWith(challenge));
});

test('an answer without an end is left, not kept', async (c) => {
  let sent = 0;
  c.say = (_, s) => {
    s.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!s.destroyed && s.write(' '.repeat(16_384))) sent += 16_384;
      if (!s.destroyed) s.once('drain', more);
    };
    more();
  };
  const e = await failure(client(c.url).enrol());
  assert.is(e.code, 'unavailable');
  assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes`);
});

test.run();
