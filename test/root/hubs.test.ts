// timeout: 300 s
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rotationMessage } from '../../firmware/protocol/noise/rotation.ts';
import { must } from '../../firmware/system/exec.ts';
import { call, heard, newHub, newTab, type RootProcess, refusal, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('hubs');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

test('the same key enrols to the same identity, also after kill -9', async ({ root }) => {
  const hub = await newHub(root);
  const first = [hub.owner_id, hub.subnet_id, hub.hub_id];
  await root.kill();
  await root.again();
  const r = await hub.enrol();
  assert.is(r.status, 200);
  assert.equal([r.body.owner_id, r.body.subnet_id, r.body.hub_id], first);
  assert.ok(r.body.expires_at - Date.now() / 1000 > 89 * 86400);
});

test('a certificate names the key and verifies with the published one', async ({ root }) => {
  const { createLocalJWKSet, jwtVerify } = await import('jose');
  const hub = await newHub(root);
  const jwks = (await call(root, 'GET', '/.well-known/jwks.json')).body;
  const { payload } = await jwtVerify(hub.certificate, createLocalJWKSet(jwks), {
    issuer: root.origin,
    audience: 'hub',
  });
  assert.is(payload.sub, hub.hub_id);
  assert.is((payload['cnf'] as { jwk: { x: string } }).jwk.x, hub.pub());
});

test('a proof is refused when it is used again, too old, too long, for another root or by another key', async ({
  root,
}) => {
  const hub = await newHub(root);
  const now = Math.floor(Date.now() / 1000);
  const send = async (proof: string) =>
    call(
      root,
      'POST',
      '/v1/owner/login/device-code',
      {},
      {
        ...hub.from,
        authorization: `Bearer ${proof}`,
        'x-ingle-certificate': hub.certificate,
      },
    );
  const proof = (claims?: Record<string, unknown>, key?: KeyObject) => hub.proof('device-code', claims, key);
  const good = await proof();
  assert.is((await send(good)).status, 200);
  assert.is((await send(good)).status, 401, 'used again');
  const other = generateKeyPairSync('ed25519').privateKey;
  for (const [why, bad] of [
    ['too old', await proof({ iat: now - 400, exp: now - 340 })],
    ['too long', await proof({ exp: now + 3600 })],
    ['from the future', await proof({ iat: now + 600, exp: now + 660 })],
    ['another root', await proof({ aud: 'https://evil.example' })],
    ['another key', await proof({}, other)],
    ['another hub', await proof({ sub: 'hub_x' })],
    ['no jti', await proof({ jti: undefined })],
    ['another purpose', await hub.proof('renew')],
    ['no purpose', await proof({ purpose: undefined })],
    ['not a token', 'x'],
  ] as const) {
    const r = await send(bad);
    assert.is(r.status, 401, why);
    assert.is(r.body.error, 'unauthenticated');
  }
});

test('a proof may name any address root was told of, and no other', async ({ root }) => {
  const hub = await newHub(root);
  const code = async (aud: string) =>
    call(root, 'POST', '/v1/owner/login/device-code', {}, await hub.headers('device-code', { aud }));
  for (const aud of [root.origin, root.url, `http://127.0.0.1:${root.frontPort}`])
    assert.is((await code(aud)).status, 200, aud);
  for (const aud of ['http://127.0.0.1:1', 'https://evil.example', `${root.origin}.evil.example`, '']) {
    const r = await code(aud);
    assert.is(r.status, 401, aud);
    assert.equal(r.body.details.audience, [root.origin, root.url, `http://127.0.0.1:${root.frontPort}`]);
  }
});

test('a proof for one purpose opens nothing else, not even the socket', async ({ root }) => {
  const hub = await newHub(root);
  const paths = {
    'device-code': '/v1/owner/login/device-code',
    renew: '/v1/hub/renew',
    rotate: '/v1/hub/rotate',
    'pairing-accept': '/v1/hub/pairing/accept',
  } as const;
  const bodies = {
    'device-code': {},
    renew: {},
    rotate: { e2e_pub: hub.e2e(), signature: 'AAAA' },
    'pairing-accept': { sid: 'x', hub_id: hub.hub_id },
  } as const;
  const purposes = ['enrol', 'socket', 'device-code', 'renew', 'rotate', 'pairing-accept'] as const;
  for (const at of Object.keys(paths) as (keyof typeof paths)[])
    for (const purpose of purposes) {
      const r = await call(root, 'POST', paths[at], bodies[at], await hub.headers(purpose));
      assert.is(r.status === 401, purpose !== at, `${purpose} at ${at}: ${r.status}`);
    }
  for (const purpose of purposes) {
    const s = io(`${root.url}/hub`, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      auth: { hub_id: hub.hub_id, certificate: hub.certificate, proof: await hub.proof(purpose) },
    });
    assert.is((await refusal(s)) === undefined, purpose === 'socket', purpose);
    s.close();
  }
});

test('enrolment tells the address of the application', async ({ root }) => {
  const hub = await newHub(root);
  assert.is(hub.app_url, root.origin);
});

test('a used proof stays used over kill -9', async ({ root }) => {
  const hub = await newHub(root);
  const headers = await hub.headers('renew');
  assert.is((await call(root, 'POST', '/v1/hub/renew', {}, headers)).status, 200);
  await root.kill();
  await root.again();
  assert.is((await call(root, 'POST', '/v1/hub/renew', {}, headers)).status, 401);
});

test('enrolment is refused without a proof by the very key', async ({ root }) => {
  const hub = await newHub(root);
  const other = generateKeyPairSync('ed25519').privateKey;
  const good = { sign_pub: hub.pub(other), e2e_pub: hub.e2e(), proof: await hub.proof('enrol', {}, other) };
  for (const [bad, code] of [
    [{ ...good, proof: await hub.proof('enrol') }, 'unauthenticated'],
    [{ ...good, proof: await hub.proof('renew', {}, other) }, 'unauthenticated'],
    [{ ...good, sign_pub: 'AAAA' }, 'invalid_request'],
    [{ ...good, e2e_pub: '' }, 'invalid_request'],
    [{ ...good, extra: 1 }, 'invalid_request'],
  ] as const) {
    const r = await call(root, 'POST', '/v1/hub/enrol', bad, hub.from);
    assert.is(r.body.error, code);
  }
  assert.is((await call(root, 'POST', '/v1/hub/enrol', good, hub.from)).status, 200);
});

test('a hub renews its certificate, and rotates its keys under the same name', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const renewed = await call(root, 'POST', '/v1/hub/renew', {}, await hub.headers('renew'));
  assert.is(renewed.body.hub_id, hub.hub_id);
  hub.certificate = renewed.body.certificate;

  const line = hub.socket();
  await tab.offer();
  const owner = tab.socket();
  await until(() => owner.last?.route === 'bound');
  const before = owner.last!.generation;

  const e2e = hub.e2e();
  const signed = (message: Uint8Array) => sign(null, message, hub.key()).toString('base64url');
  const forged = signed(rotationMessage('hub_other', e2e, hub.pub()));
  const refused = await call(
    root,
    'POST',
    '/v1/hub/rotate',
    { e2e_pub: e2e, signature: forged },
    await hub.headers('rotate'),
  );
  assert.is(refused.body.error, 'forbidden');

  const signature = signed(rotationMessage(hub.hub_id, e2e, hub.pub()));
  const r = await call(
    root,
    'POST',
    '/v1/hub/rotate',
    { e2e_pub: e2e, signature },
    await hub.headers('rotate'),
  );
  assert.is(r.body.hub_id, hub.hub_id);
  await until(() => (owner.last?.generation ?? 0) > before, 'the route to be bound anew');

  const next = generateKeyPairSync('ed25519').privateKey;
  const body = {
    e2e_pub: e2e,
    sign_pub: hub.pub(next),
    signature: signed(rotationMessage(hub.hub_id, e2e, hub.pub(next))),
  };
  const rotated = await call(root, 'POST', '/v1/hub/rotate', body, await hub.headers('rotate'));
  assert.is(rotated.status, 200);
  assert.is(
    (await call(root, 'POST', '/v1/hub/renew', {}, await hub.headers('renew'))).status,
    401,
    'the old key is over',
  );
  hub.setKey(next);
  hub.certificate = rotated.body.certificate;
  assert.is((await call(root, 'POST', '/v1/hub/renew', {}, await hub.headers('renew'))).status, 200);
  assert.is((await hub.enrol()).body.hub_id, hub.hub_id);
  line.close();
  const back = hub.socket();
  await until(() => owner.last?.route === 'bound' && owner.last.hub_online);
  back.close();
  owner.close();
});

test('pairing is accepted over HTTP by the hub of the route alone', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const other = await newHub(root);
  const body = { sid: tab.sid, hub_id: hub.hub_id };
  const accept = async (h: typeof hub, b: object) =>
    call(root, 'POST', '/v1/hub/pairing/accept', b, await h.headers('pairing-accept'));
  assert.is((await accept(hub, body)).body.error, 'not_found', 'nothing was offered yet');
  await tab.offer({ e2e_pubkey: hub.e2e() });
  assert.is((await accept(hub, body)).body.error, 'hub_offline');
  assert.is((await accept(other, body)).body.error, 'forbidden');
  assert.is((await accept(other, { ...body, hub_id: other.hub_id })).body.error, 'not_found');
  const line = hub.socket({ accept: false });
  const asked = heard(line, 'pairing.request');
  line.on('connect', () => line.emit('hub.online', hub.online()));
  const [request] = (await asked) as [
    { sid: string; owner_id: string; subnet_id: string; browser_pub: string },
  ];
  assert.equal([request.sid, request.owner_id, request.subnet_id], [tab.sid, hub.owner_id, hub.subnet_id]);
  assert.is(request.browser_pub.length, 43);
  assert.equal((await accept(hub, body)).body, { ok: true });
  assert.is(await tab.stage(), 'PAIRED');
  line.close();
});

test('a TLS certificate verified in front stands for the proof, but only of its own hub', async () => {
  const header = { INGLE_ROOT_MTLS_HEADER: 'x-client-cert' };
  const root = await startRoot({ ...header, INGLE_ROOT_TRUSTED_PROXIES: '127.0.0.0/8' });
  const dir = mkdtempSync(join(tmpdir(), 'ingle-tls-'));
  try {
    const hub = await newHub(root);
    const other = await newHub(root);
    const pem = async (h: typeof hub) => {
      const key = join(dir, 'key.pem');
      writeFileSync(key, h.key().export({ type: 'pkcs8', format: 'pem' }));
      const made = await must('openssl', [
        'req',
        '-x509',
        '-new',
        '-key',
        key,
        '-subj',
        '/CN=hub',
        '-days',
        '1',
      ]);
      return encodeURIComponent(made.toString());
    };
    const connect = (cert: string) =>
      io(`${root.url}/hub`, {
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
        auth: { hub_id: hub.hub_id, certificate: hub.certificate },
        extraHeaders: { 'x-client-cert': cert },
      });
    for (const cert of [await pem(other), 'junk', '']) {
      const s = connect(cert);
      const [e] = (await heard(s, 'connect_error')) as [Error & { data: { error: string } }];
      assert.is(e.data.error, 'unauthenticated');
      s.close();
    }
    const own = await pem(hub);
    const s = connect(own);
    await heard(s, 'connect');
    s.close();
    // The same from a peer that is no proxy of ours.
    await root.terminate();
    const { port, data, origin } = root;
    const at = { INGLE_ROOT_PORT: String(port), INGLE_ROOT_DATA: data, INGLE_ROOT_ORIGIN: origin };
    const strict = await startRoot({ ...header, ...at, INGLE_ROOT_TRUSTED_PROXIES: '192.0.2.0/24' });
    const refused = connect(own);
    const [e] = (await heard(refused, 'connect_error')) as [Error & { data: { error: string } }];
    assert.is(e.data.error, 'unauthenticated');
    refused.close();
    await strict.kill();
  } finally {
    rmSync(dir, { recursive: true, force: true });
    await root.stop();
  }
});

test('an offer needs the token of the very sid', async ({ root }) => {
  const { tab } = await signedIn(root);
  const other = await newTab(root, { cookie: tab.cookie });
  assert.is((await tab.offer({ sid: other.sid })).body.error, 'forbidden');
  assert.is((await other.offer()).body.error, 'unauthenticated');
  assert.is((await tab.offer({ e2e_pubkey: 'short' })).body.error, 'invalid_request');
});

test.run();
