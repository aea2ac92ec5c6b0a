import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  call,
  heard,
  newHub,
  newTab,
  openDatabase,
  type RootProcess,
  signedIn,
  startRoot,
  until,
} from './kit.ts';

// What happens to what is old. Instead of waiting, the records are aged.
/** `root` sweeps so seldom that no test meets it; `sweeping` does it every second. */
const test = suite<{ root: RootProcess; sweeping: RootProcess }>('age');
test.before(async (c) => {
  c.root = await startRoot({ INGLE_ROOT_SWEEP: '3600' });
  c.sweeping = await startRoot({ INGLE_ROOT_SWEEP: '1' });
});
test.after(async (c) => {
  await c.root?.stop();
  await c.sweeping?.stop();
});

async function aged(root: RootProcess, sql: string, ...values: (string | number)[]) {
  const db = await openDatabase(root);
  await db.run(sql, ...values);
  await db.close();
}
const owned = (root: RootProcess, headers: Record<string, string>) =>
  call(root, 'GET', '/v1/owner/credentials', undefined, headers);

test('an expired code gets the answer of a wrong one', async ({ root }) => {
  const hub = await newHub(root);
  const code = await hub.code();
  const [a, b] = [await newTab(root), await newTab(root)];
  await aged(root, 'UPDATE device_code SET exp = exp - 601 WHERE hub_id = ?', hub.hub_id);
  const expired = await a.verify(code);
  const wrong = await b.verify('000-000');
  assert.is(expired.body.error, 'invalid_device_code');
  assert.equal([expired.status, expired.body], [wrong.status, wrong.body]);
});

test('an expired challenge verifies nothing', async ({ root }) => {
  const { tab } = await signedIn(root);
  const c = await tab.post('/v1/owner/webauthn/login/challenge', { sid: tab.sid });
  await aged(root, 'UPDATE pairing_challenge SET exp = exp - 301 WHERE sid = ?', tab.sid);
  const credential = tab.keys.get(await tab.signing('login', c.body.publicKeyCredentialRequestOptions));
  const r = await tab.post('/v1/owner/webauthn/login/finish', { sid: tab.sid, credential });
  assert.is(r.body.error, 'assertion_failed');
});

test('a session ends after two idle hours, and after twelve in any case', async ({ root }) => {
  const { tab } = await signedIn(root);
  await aged(root, 'UPDATE session_web SET last_seen = last_seen - 7201 WHERE sid = ?', tab.sid);
  assert.is((await owned(root, tab.bearer())).status, 401);
  assert.is((await tab.login()).status, 200, 'the passkey brings it back');
  await aged(root, 'UPDATE session_web SET exp = exp - 43201 WHERE sid = ?', tab.sid);
  assert.is((await owned(root, tab.bearer())).status, 401);
});

test('the sweep closes the socket of a session that is over, and leaves nothing of it', async ({
  sweeping: root,
}) => {
  const { tab } = await signedIn(root);
  const kept = await signedIn(root);
  await tab.offer();
  const [socket, other] = [tab.socket(), kept.tab.socket()];
  await until(() => socket.last?.route === 'waiting' && other.last);
  const gone = heard(socket, 'disconnect');
  await aged(root, 'UPDATE session_web SET exp = exp - 43201 WHERE sid = ?', tab.sid);
  await gone;
  const db = await openDatabase(root);
  for (const table of ['session_web', 'route', 'pairing_challenge', 'e2e_browser_pub'])
    assert.is((await db.all(`SELECT * FROM ${table} WHERE sid = ?`, tab.sid)).length, 0, table);
  await db.close();
  assert.ok(other.connected);
  socket.close();
  other.close();
});

test('an open tab is not idle', async ({ sweeping: root }) => {
  const { tab } = await signedIn(root);
  const socket = tab.socket();
  await until(() => socket.last);
  await aged(root, 'UPDATE session_web SET last_seen = last_seen - 7201 WHERE sid = ?', tab.sid);
  assert.is((await owned(root, tab.bearer())).status, 200);
  const db = await openDatabase(root);
  const seen = async () =>
    (await db.get<{ last_seen: number }>('SELECT last_seen FROM session_web WHERE sid = ?', tab.sid))!
      .last_seen;
  await until(async () => (await seen()) > Date.now() / 1000 - 600);
  await db.close();
  socket.close();
});

test('a token of root that has expired, or is of another issuer, opens nothing', async ({ root }) => {
  const { tab } = await signedIn(root);
  const db = await openDatabase(root);
  const pem = (await db.get<{ value: string }>("SELECT value FROM secret WHERE name = 'sign'"))!.value;
  await db.close();
  const claims = JSON.parse(Buffer.from(tab.token.split('.')[1]!, 'base64url').toString());
  const sign = (changes: object) =>
    new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'EdDSA' }).sign(createPrivateKey(pem));
  assert.is((await owned(root, { ...tab.bearer(), authorization: `Bearer ${await sign({})}` })).status, 200);
  for (const wrong of [
    { exp: claims.iat - 1 },
    { iss: 'https://evil.example' },
    { aud: 'hub' },
    { jti: 'x' },
    { sid: 'x' },
  ]) {
    const r = await owned(root, { ...tab.bearer(), authorization: `Bearer ${await sign(wrong)}` });
    assert.is(r.status, 401, JSON.stringify(wrong));
  }
});

test.run();
