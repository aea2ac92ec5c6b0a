// timeout: 300 s
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { authenticator, type Misbehaviour } from '../lab/authenticator.ts';
import { call, heard, newHub, newTab, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('webauthn');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

const base = '/v1/owner/webauthn';

test('registration asks for a resident key and a verified user, under the host as rpID', async ({ root }) => {
  const tab = await newTab(root);
  const hub = await newHub(root);
  await tab.verify(await hub.code());
  const r = await tab.post(`${base}/registration/challenge`, { sid: tab.sid });
  const o = r.body.publicKeyCredentialCreationOptions;
  assert.is(o.rp.id, 'localhost');
  assert.is(o.authenticatorSelection.residentKey, 'required');
  assert.is(o.authenticatorSelection.userVerification, 'required');
  assert.is(await tab.stage(), 'WEBREG');
});

test('every way a registration can be wrong is refused, and a right one still works after', async ({
  root,
}) => {
  const hub = await newHub(root);
  const tab = await newTab(root);
  await tab.verify(await hub.code());
  const wrongs: Misbehaviour[] = [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { noUserVerification: true },
    { challenge: 'AAAA' },
    { crossOrigin: true },
    { type: 'webauthn.get' },
  ];
  for (const wrong of wrongs) {
    const c = await tab.post(`${base}/registration/challenge`, { sid: tab.sid });
    const credential = tab.keys.create(
      await tab.signing('registration', c.body.publicKeyCredentialCreationOptions),
      wrong,
    );
    const r = await tab.post(`${base}/registration/finish`, { sid: tab.sid, credential });
    assert.is(r.status, 401, JSON.stringify(wrong));
    assert.is(r.body.error, 'assertion_failed');
  }
  for (const credential of [
    {},
    { id: 'x', rawId: 'y', response: null },
    { response: { clientDataJSON: '!' } },
  ]) {
    await tab.post(`${base}/registration/challenge`, { sid: tab.sid });
    const r = await tab.post(`${base}/registration/finish`, { sid: tab.sid, credential });
    assert.is(r.body.error, 'assertion_failed');
  }
  const none = await tab.post(`${base}/login/challenge`, { sid: tab.sid });
  assert.is(none.body.error, 'registration_required');
  tab.keys.keys.length = 0;
  assert.is((await tab.register()).status, 200);
  assert.is((await tab.login()).status, 200);
});

test('every way an assertion can be wrong is refused, and a right one still works after', async ({
  root,
}) => {
  const { tab } = await signedIn(root);
  const again = await newTab(root, { keys: tab.keys });
  const wrongs: Misbehaviour[] = [
    { bogusSignature: true },
    { origin: 'https://evil.example' },
    { origin: root.origin.replace('http:', 'https:') },
    { rpId: 'evil.example' },
    { noUserVerification: true },
    { challenge: 'AAAA' },
    { crossOrigin: true },
    { userHandle: 'AAAA' },
    { type: 'webauthn.create' },
  ];
  for (const wrong of wrongs) {
    const c = await again.post(`${base}/login/challenge`, { sid: again.sid });
    const credential = tab.keys.get(
      await again.signing('login', c.body.publicKeyCredentialRequestOptions),
      wrong,
    );
    const r = await again.post(`${base}/login/finish`, { sid: again.sid, credential });
    assert.is(r.status, 401, JSON.stringify(wrong));
    assert.is(r.body.error, 'assertion_failed');
    assert.is(await again.stage(), 'NEW');
  }
  const r = await again.login();
  assert.is(r.status, 200, 'a later visit needs no code');
  assert.is(await again.stage(), 'AUTH');
});

test('a challenge answers once, and only for the sid that asked', async ({ root }) => {
  const { tab } = await signedIn(root);
  const a = await newTab(root, { keys: tab.keys });
  const b = await newTab(root, { keys: tab.keys });
  const c = await a.post(`${base}/login/challenge`, { sid: a.sid });
  await b.post(`${base}/login/challenge`, { sid: b.sid });
  const credential = tab.keys.get(await a.signing('login', c.body.publicKeyCredentialRequestOptions));
  assert.is(
    (await b.post(`${base}/login/finish`, { sid: b.sid, credential })).body.error,
    'assertion_failed',
  );
  assert.is((await a.post(`${base}/login/finish`, { sid: a.sid, credential })).status, 200);
  assert.is(
    (await a.post(`${base}/login/finish`, { sid: a.sid, credential })).body.error,
    'assertion_failed',
  );
});

test('a passkey of another owner does not open a sid that a code has bound', async ({ root }) => {
  const one = await signedIn(root);
  const two = await newHub(root);
  const tab = await newTab(root, { keys: one.tab.keys });
  await tab.verify(await two.code());
  assert.is((await tab.login()).body.error, 'registration_required');
});

test('nothing of passkeys is given before the code', async ({ root }) => {
  const tab = await newTab(root);
  const r = await tab.post(`${base}/registration/challenge`, { sid: tab.sid });
  assert.is(r.body.error, 'unauthenticated');
  const finish = await tab.post(`${base}/registration/finish`, { sid: tab.sid, credential: {} });
  assert.is(finish.body.error, 'assertion_failed');
});

test('a second passkey needs the first one, or the approval of the hub', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const stranger = await newTab(root);
  assert.is((await stranger.verify(await hub.code())).body.new_passkey, undefined);
  assert.is((await stranger.register()).body.error, 'forbidden');

  const approved = await newTab(root);
  const told = await approved.verify(await hub.code({ scope: 'new_passkey' }));
  assert.is(told.body.new_passkey, true, 'the page goes straight to making one');
  assert.is((await approved.register()).status, 200);
  assert.is((await approved.register()).body.error, 'forbidden', 'the approval is for one');
  assert.is((await approved.login()).status, 200);

  assert.is((await tab.register()).status, 200, 'a signed-in browser may add one');
  assert.is(await tab.stage(), 'AUTH');
  const list = await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer());
  assert.is(list.body.credentials.length, 3);
});

test('a counter that goes back is shown to the owner and locks nobody out', async ({ root }) => {
  const { tab } = await signedIn(root);
  const c = await tab.post(`${base}/login/challenge`, { sid: tab.sid });
  const credential = tab.keys.get(await tab.signing('login', c.body.publicKeyCredentialRequestOptions), {
    count: 1,
  });
  const r = await tab.post(`${base}/login/finish`, { sid: tab.sid, credential });
  assert.is(r.status, 200);
  tab.token = r.body.session_jwt;
  const list = await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer());
  assert.type(list.body.credentials[0].sign_count_went_back, 'number');
});

test('synced passkeys that always count 0 are fine', async ({ root }) => {
  const hub = await newHub(root);
  const tab = await newTab(root);
  await tab.verify(await hub.code());
  await tab.register();
  for (let i = 0; i < 2; i++) {
    const c = await tab.post(`${base}/login/challenge`, { sid: tab.sid });
    const credential = tab.keys.get(await tab.signing('login', c.body.publicKeyCredentialRequestOptions), {
      count: 0,
    });
    assert.is((await tab.post(`${base}/login/finish`, { sid: tab.sid, credential })).status, 200);
  }
});

test('a session token of another audience, issuer, key or time, tampered or unsigned, opens nothing', async ({
  root,
}) => {
  const { hub, tab } = await signedIn(root);
  const [head, payload, signature] = tab.token.split('.') as [string, string, string];
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const { privateKey } = await generateKeyPair('EdDSA');
  const forged = new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA' });
  const later = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 999 })).toString('base64url');
  const bad = [
    new UnsecuredJWT(claims).encode(),
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
    `${head}.${later}.${signature}`,
    await forged.sign(privateKey),
    // Signed by root's own key, but for hubs.
    hub.certificate,
    await hub.proof('socket', { sid: tab.sid, aud: 'owner' }),
    'x',
    '',
  ];
  for (const token of bad) {
    const headers = { ...tab.bearer(), authorization: `Bearer ${token}` };
    const r = await call(root, 'GET', '/v1/owner/credentials', undefined, headers);
    assert.is(r.status, 401, token.slice(0, 40));
    assert.is(r.body.error, 'unauthenticated');
  }
  const { cookie: _, ...elsewhere } = tab.bearer();
  assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, elsewhere)).status, 401);
  assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer())).status, 200);
  assert.equal([claims.aud, claims.sub, claims.sid], ['owner', `owner:${hub.owner_id}`, tab.sid]);
  assert.is(claims.exp - claims.iat, 12 * 3600);
});

test('a new login makes the token before it worthless', async ({ root }) => {
  const { tab } = await signedIn(root);
  const old = tab.bearer();
  await tab.login();
  assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, old)).status, 401);
  assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer())).status, 200);
});

test('logging out ends the sid, its route and its socket; the next sid starts at NEW', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const line = hub.socket();
  await tab.offer();
  const owner = tab.socket();
  await until(() => owner.last?.route === 'bound');
  const gone = heard(owner, 'disconnect');
  assert.equal((await tab.post('/v1/owner/logout', {}, { authorization: `Bearer ${tab.token}` })).body, {
    ok: true,
  });
  await gone;
  assert.is((await call(root, 'GET', '/v1/owner/credentials', undefined, tab.bearer())).status, 401);
  const next = await tab.post('/v1/session', { sid: tab.sid });
  assert.is(next.body.stage, 'NEW');
  assert.is.not(next.body.sid, tab.sid);
  line.close();
  owner.close();
});

test('with the last passkey every session of the owner ends: nobody who waited becomes the first', async ({
  root,
}) => {
  const { hub, tab } = await signedIn(root);
  const second = await newTab(root, { cookie: tab.cookie, keys: tab.keys });
  await second.login();
  // A verified code, with a challenge for a registration the hub approved.
  const approved = await newTab(root);
  await approved.verify(await hub.code({ scope: 'new_passkey' }));
  const challenge = await approved.post(`${base}/registration/challenge`, { sid: approved.sid });
  assert.is(challenge.status, 200);
  const stranger = await signedIn(root);
  const theirs = await stranger.hub.code();

  const id = encodeURIComponent(tab.keys.keys[0]!.id);
  const r = await call(root, 'DELETE', `/v1/owner/credentials/${id}`, undefined, tab.bearer());
  assert.equal(r.body, { ok: true, sessions: 3 });
  for (const t of [approved, second, tab]) {
    assert.is((await t.register()).body.error, 'unauthenticated');
    assert.is((await t.login()).body.error, 'unauthenticated');
  }
  const credential = approved.keys.create(
    await approved.signing('registration', challenge.body.publicKeyCredentialCreationOptions),
  );
  const finished = await approved.post(`${base}/registration/finish`, { sid: approved.sid, credential });
  assert.is(finished.body.error, 'unauthenticated');

  const late = await newTab(root);
  await late.verify(await hub.code());
  assert.is((await late.register()).status, 200);
  assert.is((await late.login()).status, 200);
  // Another owner's sessions and codes are untouched.
  assert.is((await stranger.tab.login()).status, 200);
  assert.is((await (await newTab(root)).verify(theirs)).status, 200);
});

test('a code that was open when the last passkey went leads nobody in', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const open = await hub.code();
  const id = encodeURIComponent(tab.keys.keys[0]!.id);
  await call(root, 'DELETE', `/v1/owner/credentials/${id}`, undefined, tab.bearer());
  assert.is((await (await newTab(root)).verify(open)).body.error, 'invalid_device_code');
});

test('of two that were asked to make the first passkey, the one with the newer code makes it', async ({
  root,
}) => {
  const hub = await newHub(root);
  const tabs = [await newTab(root), await newTab(root)] as const;
  const made: Record<string, unknown>[] = [];
  for (const t of tabs) {
    await t.verify(await hub.code());
    const c = await t.post(`${base}/registration/challenge`, { sid: t.sid });
    made.push(t.keys.create(await t.signing('registration', c.body.publicKeyCredentialCreationOptions)));
  }
  const finish = (n: 0 | 1) =>
    tabs[n].post(`${base}/registration/finish`, { sid: tabs[n].sid, credential: made[n] });
  assert.is((await finish(0)).body.error, 'unauthenticated');
  assert.is((await finish(1)).status, 200);
});

test('revoking a passkey closes the sockets of all its sids at once, and no other', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const second = await newTab(root, { cookie: tab.cookie, keys: tab.keys });
  await second.login();
  const third = await newTab(root, { keys: authenticator(root.origin) });
  await third.verify(await hub.code({ scope: 'new_passkey' }));
  await third.register();
  await third.login();
  const line = hub.socket();
  for (const t of [tab, second, third]) await t.offer();
  const sockets = [tab, second, third].map((t) => t.socket());
  for (const s of sockets) await until(() => s.last?.route === 'bound');
  const gone = [heard(sockets[0]!, 'disconnect'), heard(sockets[1]!, 'disconnect')];
  const stranger = await signedIn(root);
  const id = encodeURIComponent(tab.keys.keys[0]!.id);
  const foreign = await call(root, 'DELETE', `/v1/owner/credentials/${id}`, undefined, stranger.tab.bearer());
  assert.is(foreign.status, 404);
  const r = await call(root, 'DELETE', `/v1/owner/credentials/${id}`, undefined, third.bearer());
  assert.equal(r.body, { ok: true, sessions: 2 });
  await Promise.all(gone);
  assert.is((await tab.login()).status, 401);
  assert.ok(sockets[2]!.connected);
  const back = await newTab(root, { keys: tab.keys });
  assert.is((await back.login()).body.error, 'assertion_failed', 'the passkey itself opens nothing any more');
  for (const s of [...sockets, line]) s.close();
});

test.run();
