// timeout: 300 s
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isErrorCode } from '../../firmware/protocol/errors.ts';
import { keepAlive } from '../lab/keepalive.ts';
import { type Answer, call, newAddress, newTab, type RootProcess, startRoot } from './kit.ts';

const test = suite<{ root: RootProcess; spa: string }>('api');
const script = 'console.log("the application")\n'.repeat(50);
test.before(async (c) => {
  c.spa = mkdtempSync(join(tmpdir(), 'ingle-spa-'));
  mkdirSync(join(c.spa, 'assets'));
  writeFileSync(join(c.spa, 'index.html'), '<!doctype html><title>Ingle</title>');
  writeFileSync(join(c.spa, 'sw.js'), '// worker');
  writeFileSync(join(c.spa, 'frame.html'), '<!doctype html><title>Frame</title>');
  writeFileSync(join(c.spa, 'assets', 'main-abc123.js'), script);
  writeFileSync(join(c.spa, 'assets', 'main-abc123.js.br'), brotliCompressSync(script));
  c.root = await startRoot({ INGLE_ROOT_SPA: c.spa });
});
test.after(async (c) => {
  await c.root.stop();
  rmSync(c.spa, { recursive: true, force: true });
});

const posts = [
  '/v1/session',
  '/v1/owner/login/device-code',
  '/v1/owner/login/verify',
  '/v1/owner/webauthn/registration/challenge',
  '/v1/owner/webauthn/registration/finish',
  '/v1/owner/webauthn/login/challenge',
  '/v1/owner/webauthn/login/finish',
  '/v1/owner/logout',
  '/v1/browser/pairing/offer',
  '/v1/hub/pairing/accept',
  '/v1/hub/enrol',
  '/v1/hub/renew',
  '/v1/hub/rotate',
  '/v1/hub/subnet/join',
  '/v1/hub/subnet/admit',
  '/v1/hub/subnet/part',
];
const from = () => ({ 'x-forwarded-for': newAddress() });

/** Refused in the one shape; never a failure inside. */
function refused(r: Answer, says = ''): void {
  assert.ok(r.status >= 400 && r.status < 500, `${says} ${r.status} ${JSON.stringify(r.body)}`);
  assert.ok(isErrorCode(r.body.error), says);
  assert.type(r.body.message, 'string');
  assert.match(r.headers.get('content-type')!, /^application\/json/);
  assert.is(r.headers.get('cache-control'), 'no-store');
}

test('bad JSON, unknown fields, deep nesting and large bodies are refused at every endpoint', async ({
  root,
}) => {
  const deep = '{"a":'.repeat(40) + '1' + '}'.repeat(40);
  for (const path of posts) {
    for (const body of [
      '{',
      '[]',
      'null',
      '7',
      '"x"',
      '\u0000',
      '{"sid":1}',
      '{"no_such_field":1}',
      deep,
      '{"__proto__":{}}',
    ]) {
      const r = await call(root, 'POST', path, body, from());
      refused(r, `${path} ${body.slice(0, 20)}`);
      if (body === deep || body === '{') assert.is(r.body.error, 'invalid_request');
    }
    const large = await call(root, 'POST', path, JSON.stringify({ sid: 'x'.repeat(70_000) }), from());
    assert.equal([large.status, large.body.error], [413, 'too_large'], path);
    const form = await call(root, 'POST', path, '{}', { ...from(), 'content-type': 'text/plain' });
    assert.is(form.body.error, 'invalid_request', path);
  }
});

test('a bad field is named by its pointer', async ({ root }) => {
  const r = await call(root, 'POST', '/v1/owner/login/verify', { sid: 7, device_code: 'x' }, from());
  assert.equal([r.status, r.body.error, r.body.details.pointer], [400, 'invalid_request', '/sid']);
});

test('whatever JSON comes, the answer has the one shape and root lives', async ({ root }) => {
  const tab = await newTab(root);
  const field = fc.constantFrom(
    'sid',
    'credential',
    'device_code',
    'code',
    'e2e_pubkey',
    'hub_id',
    'sign_pub',
    'proof',
  );
  const value = fc.oneof(fc.jsonValue(), fc.constant(tab.sid), fc.string({ unit: 'binary', maxLength: 200 }));
  const body = fc.oneof(fc.dictionary(field, value), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), body, fc.string(), async (path, b, cookie) => {
      const headers = { ...from(), cookie: /^[\x20-\x7e]*$/.test(cookie) ? `ingle=${cookie}` : tab.cookie };
      const r = await call(root, 'POST', path, b === undefined ? '' : JSON.stringify(b), headers);
      if (r.status !== 200) refused(r, `${path} ${JSON.stringify(b)}`);
    }),
    { numRuns: 150 },
  );
  assert.ok(root.alive());
});

test('whatever shape a credential has, it is refused', async ({ root }) => {
  const tab = await newTab(root);
  const record = fc.dictionary(
    fc.constantFrom('id', 'rawId', 'type', 'response', 'clientExtensionResults'),
    fc.oneof(
      fc.jsonValue(),
      fc.dictionary(
        fc.constantFrom('clientDataJSON', 'attestationObject', 'authenticatorData', 'signature'),
        fc.string(),
      ),
    ),
  );
  await fc.assert(
    fc.asyncProperty(record, async (credential) => {
      await tab.post('/v1/owner/webauthn/login/challenge', { sid: tab.sid }, from());
      const r = await tab.post('/v1/owner/webauthn/login/finish', { sid: tab.sid, credential }, from());
      assert.is(r.body.error, 'assertion_failed');
    }),
    { numRuns: 40 },
  );
});

test('unknown addresses and methods are told so', async ({ root }) => {
  refused(await call(root, 'GET', '/v1/nothing'));
  const r = await call(root, 'GET', '/v1/owner/login/verify');
  assert.equal([r.status, r.body.error, r.headers.get('allow')], [405, 'method_not_allowed', 'POST']);
  assert.is((await call(root, 'DELETE', '/v1/session', {})).status, 405);
  assert.is((await call(root, 'POST', '/', {})).status, 405);
  for (const path of ['/v1/owner/credentials', '/v1/owner/credentials/x'])
    assert.is((await call(root, path.endsWith('x') ? 'DELETE' : 'GET', path)).status, 401);
});

test('a page of another site cannot call, whatever cookie rides along', async ({ root }) => {
  const tab = await newTab(root);
  const body = { sid: tab.sid };
  const path = '/v1/owner/webauthn/login/challenge';
  assert.is((await tab.post(path, body, { origin: 'https://evil.example' })).status, 403);
  assert.is((await tab.post(path, body, { origin: 'null' })).status, 403);
  assert.is((await tab.post(path, body, { 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.is((await tab.post(path, body)).status, 200);
});

test('a cookie that root did not make is not taken on', async ({ root }) => {
  const open = async (cookie: string) => {
    const r = await call(root, 'POST', '/v1/session', {}, { ...from(), cookie });
    assert.is(r.status, 200);
    return r.headers.get('set-cookie')!.split(';')[0]!;
  };
  const ours = await open('');
  assert.match(ours, /^ingle=[\w-]{44}$/);
  assert.is(await open(ours), ours);
  const bent = ours.slice(0, -1) + (ours.endsWith('A') ? 'B' : 'A');
  const moved = `ingle=${'A'.repeat(22)}${ours.slice(-22)}`;
  for (const chosen of [
    `ingle=${'A'.repeat(22)}`,
    `ingle=${'A'.repeat(44)}`,
    bent,
    moved,
    ours.slice(0, 28),
  ]) {
    const set = await open(chosen);
    assert.is.not(set, chosen);
    assert.is.not(set, ours);
    assert.not.match(set, /AAAAAAAAAAAAAAAAAAAAAA/);
  }
});

test('each tab has its own sid, of its own browser, behind a strict cookie', async ({ root }) => {
  const a = await call(root, 'POST', '/v1/session', {}, from());
  const set = a.headers.get('set-cookie')!;
  for (const part of ['HttpOnly', 'SameSite=Strict', 'Path=/']) assert.ok(set.includes(part), part);
  assert.match(a.body.sid, /^[\w-]{32}$/);
  assert.is(a.body.stage, 'NEW');
  const cookie = set.split(';')[0]!;
  const b = await call(root, 'POST', '/v1/session', {}, { ...from(), cookie });
  assert.is.not(b.body.sid, a.body.sid);
  assert.ok(b.headers.get('set-cookie')!.startsWith(cookie), 'the same browser, for a year more');
  const resumed = await call(root, 'POST', '/v1/session', { sid: a.body.sid }, { ...from(), cookie });
  assert.is(resumed.body.sid, a.body.sid);
  const stolen = await call(root, 'POST', '/v1/session', { sid: a.body.sid }, from());
  assert.is.not(stolen.body.sid, a.body.sid);
  const fixed = await call(
    root,
    'POST',
    '/v1/session',
    { sid: 'AAAAAAAAAAAAAAAAAAAAAA' },
    { ...from(), cookie },
  );
  assert.is.not(fixed.body.sid, 'AAAAAAAAAAAAAAAAAAAAAA');
});

test('the page that holds a skill’s own has one policy, its own, and is framed by the application alone', async ({
  root,
}) => {
  const r = await fetch(`${root.url}/frame.html?x`, { headers: { accept: 'text/html' } });
  assert.match(await r.text(), '<title>Frame</title>');
  assert.is(
    r.headers.get('content-security-policy'),
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
  );
  assert.is(r.headers.get('x-frame-options'), 'SAMEORIGIN');
  assert.is(r.headers.get('x-dns-prefetch-control'), 'off');
  assert.is(r.headers.get('x-content-type-options'), 'nosniff');
});

test('the application comes with a strict policy, and its assets for good', async ({ root }) => {
  const get = (path: string, headers: Record<string, string> = {}) => fetch(root.url + path, { headers });
  const index = await get('/');
  assert.is(index.headers.get('cache-control'), 'no-cache');
  const csp = index.headers.get('content-security-policy')!;
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ])
    assert.ok(csp.includes(part), part);
  assert.not.match(csp, /unsafe|\*/);
  assert.ok(csp.includes("frame-src 'self'"));
  assert.is(index.headers.get('x-content-type-options'), 'nosniff');
  const asset = await get('/assets/main-abc123.js', { 'accept-encoding': 'br' });
  assert.is(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.is(asset.headers.get('content-encoding'), 'br');
  assert.is(await asset.text(), script);
  const plain = await get('/assets/main-abc123.js', { 'accept-encoding': 'identity' });
  assert.is(plain.headers.get('content-encoding'), null);
  const same = await get('/sw.js', { 'if-none-match': (await get('/sw.js')).headers.get('etag')! });
  assert.is(same.status, 304);
  assert.is((await get('/some/page', { accept: 'text/html' })).status, 200);
  assert.is((await get('/some/page', { accept: '*/*' })).status, 404);
  assert.is((await get('/assets/gone.js', { accept: 'text/html' })).status, 404);
  assert.is((await fetch(root.url + '/', { method: 'HEAD' })).status, 200);
  const head = await fetch(`${root.url}/health/live`, { method: 'HEAD' });
  assert.equal([head.status, head.headers.get('content-length'), await head.text()], [200, '11', '']);
  assert.ok(brotliDecompressSync(brotliCompressSync(script)).toString() === script);
});

test('no path leads out of the folder of the application', async ({ root }) => {
  for (const path of [
    '/../root.sqlite',
    '/assets/../../etc/passwd',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..%2f..%2fetc/passwd',
    '//etc/passwd',
    '/assets/main-abc123.js.br',
  ]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answer = await raw(root.port, request, true);
    assert.match(answer, /^HTTP\/1\.1 40[04]/, path);
    assert.not.match(answer, /root:x:0/);
  }
});

test('broken HTTP and broken packets end their own connection and nothing else', async ({ root }) => {
  const upgrade =
    'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  const text = (s: string) =>
    Buffer.concat([Buffer.from([0x81, 0x80 | s.length, 0, 0, 0, 0]), Buffer.from(s)]);
  const packets = [
    '',
    '4',
    '4x',
    '49',
    '45-',
    '451-["x"]',
    '459999999999-["x"]',
    '40/hub,{',
    '40/hub,[]',
    '42/hub,["x"]',
    '4\ud800',
    '43/owner,1[]',
    '41/hub,',
    '{}',
    '7',
  ];
  for (const p of packets)
    await raw(
      root.port,
      Buffer.concat([Buffer.from(upgrade), text(p), Buffer.from([0x88, 0x80, 0, 0, 0, 0])]),
    );
  for (const junk of [
    '\r\n\r\n',
    'GET',
    'POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n{',
    'POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
  ])
    await raw(root.port, junk);
  await raw(
    root.port,
    'GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );
  await raw(root.port, 'GET /socket.io/?EIO=3&transport=websocket&sid=__proto__ HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.ok(root.alive());
  assert.is((await newTab(root)).sid.length, 32);
});

test('a connection goes on after HEAD and after "not modified", and ends where a body was not read', async ({
  root,
}) => {
  const http = keepAlive(root.port);
  const { etag } = (await http.ask({ method: 'GET', path: '/sw.js', headers: {} })).headers;
  for (const path of ['/health/live', '/v1/nothing', '/sw.js']) {
    const head = await http.ask({ method: 'HEAD', path, headers: {} });
    const got = await http.ask({ method: 'GET', path, headers: {} });
    assert.equal([head.status, head.headers['content-length']], [got.status, got.headers['content-length']]);
  }
  const known = { method: 'GET', path: '/sw.js', headers: { 'if-none-match': etag! } };
  for (let i = 0; i < 2; i++) assert.is((await http.ask(known)).status, 304);
  const withBody = { method: 'HEAD', path: '/health/live', headers: {}, body: '{}' };
  assert.is((await http.ask(withBody)).headers['connection'], 'close');
  assert.is((await http.ask({ method: 'GET', path: '/health/live', headers: {} })).status, 200);
  http.close();
});

test('SIGTERM ends root well', async () => {
  const root = await startRoot();
  const tab = await newTab(root);
  assert.is(await root.terminate(), 0);
  await root.again();
  assert.is(await tab.stage(), 'NEW');
  assert.is((await tab.post('/v1/session', { sid: tab.sid })).body.sid, tab.sid, 'sessions outlive it');
  await root.stop();
});

/**
 * Sends bytes and gives what came back until the other side closed, or said nothing more for a moment; with
 * `answered` that moment begins with the head of an answer.
 */
function raw(port: number, bytes: string | Buffer, answered = false): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    const s = connect(port, '127.0.0.1', () => s.write(bytes));
    const quiet = () => s.setTimeout(150, () => s.destroy());
    if (!answered) quiet();
    s.on('data', (d) => {
      said += d.toString('latin1');
      if (answered && said.includes('\r\n\r\n')) quiet();
    });
    s.on('error', () => {});
    s.on('close', () => resolve(said));
  });
}

test.run();
