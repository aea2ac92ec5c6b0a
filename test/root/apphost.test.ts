// The application at one origin, root's API at another: who may ask, and what binds a sid to its browser then.
import { decodeJwt } from 'jose';
import { io, type Socket } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ask,
  call,
  heard,
  newAddress,
  newHub,
  newTab,
  type RootProcess,
  refusal,
  signedIn,
  startRoot,
} from './kit.ts';

const app = 'http://app.localhost';
const api = 'http://root.localhost';
const evil = 'https://evil.example';
const test = suite<{ root: RootProcess; same: RootProcess }>('an application of another host');
test.before(async (c) => {
  [c.root, c.same] = await Promise.all([
    startRoot({ INGLE_ROOT_ORIGIN: app, INGLE_ROOT_API: api }),
    startRoot(),
  ]);
});
test.after(async (c) => {
  await Promise.all([c.root.stop(), c.same.stop()]);
});

const from = () => ({ 'x-forwarded-for': newAddress() });
function connect(root: RootProcess, auth: object, headers: Record<string, string> = {}): Socket {
  const o = { transports: ['websocket'], forceNew: true, reconnection: false, auth };
  return io(`${root.url}/owner`, { ...o, extraHeaders: { ...from(), ...headers } });
}
async function outcome(s: Socket): Promise<string> {
  const e = await refusal(s);
  s.close();
  return e === undefined ? 'connected' : (e.data?.error ?? 'no handshake');
}

test('a browser asks ahead, and the answer lets the application ask and nobody else', async ({ root }) => {
  const path = '/v1/owner/credentials';
  const wish = {
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization,x-ingle-browser',
  };
  const r = await call(root, 'OPTIONS', path, undefined, { ...from(), ...wish, origin: app });
  assert.is(r.status, 200);
  assert.is(r.headers.get('access-control-allow-origin'), app);
  assert.is(r.headers.get('access-control-allow-methods'), 'GET');
  assert.is(
    r.headers.get('access-control-allow-headers'),
    'authorization, content-type, x-ingle-browser, x-ingle-pow',
  );
  assert.is(r.headers.get('access-control-allow-credentials'), null, 'no cookies');
  assert.is(r.headers.get('access-control-max-age'), '7200');
  assert.is(r.headers.get('vary'), 'origin');
  for (const origin of [
    evil,
    api,
    'null',
    `${app}.evil.example`,
    `${app}:80`,
    app.replace('http', 'https'),
  ]) {
    const refused = await call(root, 'OPTIONS', path, undefined, { ...from(), ...wish, origin });
    assert.is(refused.status, 405, origin);
    assert.is(refused.headers.get('access-control-allow-origin'), null, origin);
    assert.is(refused.headers.get('vary'), 'origin', 'a cache must not hand it to the application');
  }
});

test('only the application opens sessions, and what refuses it can be read by it', async ({ root }) => {
  const open = (headers: Record<string, string>) =>
    call(root, 'POST', '/v1/session', {}, { ...from(), ...headers });
  const r = await open({ origin: app, 'sec-fetch-site': 'cross-site' });
  assert.is(r.status, 200);
  assert.match(r.body.browser, /^[\w-]{44}$/);
  assert.is(r.headers.get('set-cookie'), null);
  assert.is(r.headers.get('access-control-allow-origin'), app);
  assert.is((await open({ origin: app, 'sec-fetch-site': 'same-site' })).status, 200);
  for (const headers of [
    { origin: evil },
    { origin: api },
    { origin: 'null' },
    { origin: api, 'sec-fetch-site': 'same-origin' },
    { origin: evil, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ] as Record<string, string>[]) {
    const refused = await open(headers);
    assert.is(refused.status, 403, JSON.stringify(headers));
    assert.is(refused.headers.get('access-control-allow-origin'), null);
  }
  for (const path of ['/v1/owner/login/verify', '/v1/nowhere']) {
    const failed = await call(root, 'POST', path, {}, { ...from(), origin: app });
    assert.ok(failed.status >= 400);
    assert.is(failed.headers.get('access-control-allow-origin'), app, path);
  }
});

test('a sid is of use with the secret of its browser, in the header and in nothing else', async ({
  root,
}) => {
  const { tab } = await signedIn(root);
  const { browser } = tab;
  const stranger = await newTab(root);
  const stolen = { authorization: `Bearer ${tab.token}`, origin: app };
  const list = (headers: Record<string, string>) =>
    call(root, 'GET', '/v1/owner/credentials', undefined, { ...from(), ...stolen, ...headers });
  assert.is((await list({ 'x-ingle-browser': browser! })).status, 200);
  for (const headers of [
    {},
    { cookie: `ingle=${browser}` },
    { 'x-ingle-browser': stranger.browser! },
    { 'x-ingle-browser': browser!.slice(0, 22) },
    { 'x-ingle-browser': `${browser}x` },
  ] as Record<string, string>[])
    assert.is((await list(headers)).status, 401, JSON.stringify(headers));

  // A session goes on for the browser that has it; root takes no secret that it did not make.
  const resume = (secret: string) =>
    call(root, 'POST', '/v1/session', { sid: tab.sid }, { ...from(), 'x-ingle-browser': secret });
  assert.equal((await resume(browser!)).body, { sid: tab.sid, stage: 'AUTH' });
  assert.is.not((await resume(stranger.browser!)).body.sid, tab.sid);
  const chosen = 'A'.repeat(44);
  assert.is.not((await resume(chosen)).body.browser, chosen);
});

test('the socket takes the application, with its secret, and no other page', async ({ root }) => {
  const { tab } = await signedIn(root);
  const auth = { session_jwt: tab.token, browser: tab.browser };
  assert.is(await outcome(connect(root, auth, { origin: app })), 'connected');
  for (const origin of [evil, api, 'null'])
    assert.is(await outcome(connect(root, auth, { origin })), 'no handshake', origin);
  const { session_jwt } = auth;
  const stranger = await newTab(root);
  assert.is(await outcome(connect(root, { session_jwt }, { origin: app })), 'unauthenticated');
  const cookie = `ingle=${tab.browser}`;
  assert.is(await outcome(connect(root, { session_jwt }, { origin: app, cookie })), 'unauthenticated');
  assert.is(
    await outcome(connect(root, { session_jwt, browser: stranger.browser }, { origin: app })),
    'unauthenticated',
  );
  const s = connect(root, auth, { origin: app });
  assert.is((await ask(s, 'owner.online', tab.online())).ok, true);
  s.close();
});

test('a browser that was closed for a flood stays out for a while, by its secret', async ({ root }) => {
  const { tab } = await signedIn(root);
  const auth = { session_jwt: tab.token, browser: tab.browser };
  const s = connect(root, auth, { origin: app });
  await heard(s, 'connect');
  const gone = heard(s, 'disconnect');
  for (let i = 0; i < 20_000; i++) s.emit('x');
  await gone;
  s.close();
  assert.is(await outcome(connect(root, auth, { origin: app })), 'rate_limited');
});

test('where root serves the application, only the cookie counts, and nobody asks from elsewhere', async ({
  same,
}) => {
  const { tab } = await signedIn(same);
  assert.is(tab.browser, undefined, 'the cookie is for no script');
  const secret = tab.cookie.split('=')[1]!;
  const headers = { ...from(), authorization: `Bearer ${tab.token}`, 'x-ingle-browser': secret };
  assert.is((await call(same, 'GET', '/v1/owner/credentials', undefined, headers)).status, 401);
  const auth = { session_jwt: tab.token, browser: secret };
  assert.is(await outcome(connect(same, auth)), 'unauthenticated');
  assert.is(await outcome(connect(same, { session_jwt: tab.token }, { cookie: tab.cookie })), 'connected');
  for (const origin of [same.origin, app]) {
    const wish = { origin, 'access-control-request-method': 'POST' };
    const r = await call(same, 'OPTIONS', '/v1/session', undefined, { ...from(), ...wish });
    assert.is(r.status, 405);
    assert.is(r.headers.get('access-control-allow-origin'), null);
    assert.is(r.headers.get('vary'), null);
  }
  const site = { origin: same.origin, 'sec-fetch-site': 'same-site' };
  assert.is((await call(same, 'POST', '/v1/session', {}, { ...from(), ...site })).status, 403);
});

test('hubs know root by the origin of its API, links and passkeys go by the application', async ({
  root,
}) => {
  const hub = await newHub(root);
  assert.is(hub.app_url, app);
  assert.is(decodeJwt(hub.certificate).iss, api);
  const headers = await hub.headers('device-code', { aud: app });
  const refused = await call(root, 'POST', '/v1/owner/login/device-code', {}, headers);
  assert.is(refused.status, 401, "a proof for the application's host is not for root");
  assert.equal(refused.body.details.audience[0], api);
  const code = await call(
    root,
    'POST',
    '/v1/owner/login/device-code',
    {},
    await hub.headers('device-code', { aud: api }),
  );
  assert.is(code.body.verify_uri, `${app}/`);
  const { tab } = await signedIn(root);
  assert.is(decodeJwt(tab.token).iss, api);
});

test('what watches root still finds it', async ({ root }) => {
  const live = await call(root, 'GET', '/health/live');
  assert.equal([live.status, live.body], [200, { ok: true }]);
  assert.match(live.headers.get('content-type')!, 'application/json');
});

test('root then serves no file of the application, and says where it is', async ({ root }) => {
  for (const path of ['/', '/index.html', '/sw.js', '/build.json', '/some/page']) {
    const r = await call(root, 'GET', path, undefined, { accept: 'text/html' });
    assert.is(r.status, 404, path);
    assert.match(r.body.message, app);
  }
});

test.run();
