// Root's records and its own tokens, on a store in memory.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { CERTIFICATE_TTL, SESSION_TTL } from '../../firmware/protocol/limits.ts';
import {
  credentialsOf,
  digest,
  endSessions,
  findSession,
  moved,
  type Session,
  seconds,
  sweepRecords,
  takeChallenge,
} from '../../root/records.ts';
import { migrations } from '../../root/schema.ts';
import { openStore, type Store } from '../../root/store.ts';
import { openTokens } from '../../root/tokens.ts';

const test = suite<{ store: Store }>('records and tokens');
test.before.each(async (c) => {
  c.store = await openStore(':memory:', migrations);
});
test.after.each((c) => c.store.close());
const issuer = 'https://root.example';

/** Adds a row, with something in each column that is not given. */
async function put(store: Store, table: string, given: Record<string, unknown>) {
  const columns = await store.all<{ name: string; type: string }>(
    `SELECT name, type FROM pragma_table_info('${table}')`,
  );
  const values = columns.map(
    ({ name, type }) =>
      (given[name] ?? (type === 'TEXT' ? '' : type === 'BLOB' ? Buffer.alloc(0) : 0)) as string | number,
  );
  await store.run(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join()})`, ...values);
}
const session = (store: Store, sid: string, more: Record<string, unknown> = {}) =>
  put(store, 'session_web', { sid, stage: 'AUTH', exp: seconds() + 100, ...more });
const hangsOn = ['pairing_challenge', 'e2e_browser_pub', 'route'];
const left = async (store: Store, sid: string) => {
  const at: string[] = [];
  for (const table of ['session_web', ...hangsOn])
    if (await store.get(`SELECT 1 FROM ${table} WHERE sid = ?`, sid)) at.push(table);
  return at;
};
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (e: IngleError) => e.code,
  );

test('a session is found until it is over', async ({ store }) => {
  await session(store, 'a');
  await session(store, 'b', { exp: seconds() });
  assert.is((await findSession(store, 'a'))?.sid, 'a');
  assert.is(await findSession(store, 'b'), undefined);
  assert.is(await findSession(store, 'c'), undefined);
});

test('a step that the stage does not take is refused and says where it stands', async () => {
  const at = (stage: string) => ({ stage }) as Session;
  assert.is(moved(at('NEW'), 'verify'), 'PREAUTH');
  try {
    moved(at('NEW'), 'accept');
    assert.unreachable();
  } catch (e) {
    assert.equal([(e as IngleError).code, (e as IngleError).details], ['conflict', { stage: 'NEW' }]);
    assert.match((e as IngleError).message, 'NEW');
  }
});

test('a session goes with all that hangs on it, and no other does', async ({ store }) => {
  for (const [sid, more] of [
    ['a', { hub_id: 'h', browser_key_id: null }],
    ['b', { hub_id: 'h', browser_key_id: 'k' }],
    ['c', { hub_id: 'other', exp: 5 }],
  ] as const) {
    await session(store, sid, more);
    for (const table of hangsOn) await put(store, table, { sid, exp: seconds() + 100 });
  }
  await store.run("UPDATE session_web SET browser_key_id = NULL WHERE sid = 'a'");
  assert.equal(await endSessions(store, 'hub_id = ? AND browser_key_id IS NULL', 'h'), ['a']);
  assert.equal(await left(store, 'a'), []);
  assert.is((await left(store, 'b')).length, 4);
  assert.equal(await endSessions(store, 'exp <= ?', 5), ['c']);
  assert.equal(await endSessions(store, 'browser_key_id = ?', 'k'), ['b']);
  assert.equal([await left(store, 'b'), await left(store, 'c')], [[], []]);
  assert.equal(await endSessions(store, 'sid = ?', 'a'), []);
});

test('a challenge is taken once, of its kind, in its time', async ({ store }) => {
  const add = (kind: string, exp: number) =>
    put(store, 'pairing_challenge', { sid: 's', kind, exp, challenge: `c-${kind}` });
  await add('registration', seconds());
  assert.is(await takeChallenge(store, 's', 'registration'), undefined, 'too late');
  await sweepRecords(store);
  await add('login', seconds() + 100);
  assert.is(await takeChallenge(store, 's', 'registration'), undefined, 'of another kind');
  assert.is(await takeChallenge(store, 'other', 'login'), undefined);
  assert.is(await takeChallenge(store, 's', 'login'), 'c-login');
  assert.is(await takeChallenge(store, 's', 'login'), undefined, 'a second time');
});

test('what is over is swept, what is not stays, and sessions stay', async ({ store }) => {
  const tables = ['device_code', 'pairing_challenge', 'e2e_browser_pub', 'spent_proof'];
  for (const table of tables)
    for (const [i, exp] of [seconds() - 1, seconds() + 100].entries()) {
      const names = await store.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`);
      const ids = Object.fromEntries(names.map(({ name }) => [name, `${name}${i}`]));
      await put(store, table, { ...ids, exp });
    }
  await session(store, 'old', { exp: 1 });
  await sweepRecords(store);
  for (const table of tables) {
    const rows = await store.all<{ exp: number }>(`SELECT exp FROM ${table}`);
    assert.equal([table, rows.length, rows[0]!.exp > seconds()], [table, 1, true]);
  }
  assert.equal(await left(store, 'old'), ['session_web']);
  assert.ok(Math.abs(seconds() - Date.now() / 1000) < 2);
  assert.is(digest('abc'), 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
});

test('the passkeys of an owner come in the order they were made', async ({ store }) => {
  for (const [cred_id, owner_id, created] of [
    ['c', 'o', 2],
    ['b', 'o', 1],
    ['a', 'o', 2],
    ['x', 'p', 0],
  ] as const)
    await put(store, 'webauthn_cred', { cred_id, owner_id, created, browser_key_id: cred_id });
  assert.equal(
    (await credentialsOf(store, 'o')).map((c) => c.cred_id),
    ['b', 'a', 'c'],
  );
});

const hub = { hub_id: 'hub_1', owner_id: 'own_1', subnet_id: 'sub_1', sign_pub: 'PUB', e2e_pub: 'E' };
const who = { sid: 'sid_1', owner_id: 'own_1', subnet_id: 'sub_1', browser_key_id: 'key_1' };

test('a session token says whose it is, and is taken as that only', async ({ store }) => {
  const t = await openTokens(store, issuer);
  const { jwt, jti, exp } = await t.issueSession(who);
  assert.ok(Math.abs(exp - seconds() - SESSION_TTL) <= 1);
  const { sid, owner_id, browser_key_id } = who;
  assert.equal(await t.verifySession(jwt), { sid, owner_id, browser_key_id, jti, exp });
  const { iat, ...claims } = decodeJwt(jwt);
  assert.equal(claims, {
    ...{ sid, browser_key_id, subnet_id: 'sub_1', jti, exp },
    ...{ iss: issuer, aud: 'owner', sub: 'owner:own_1' },
  });
  assert.ok(Math.abs(iat! - seconds()) <= 1);
  assert.is(Buffer.from(jti, 'base64url').length, 16);
  assert.is.not((await t.issueSession(who)).jti, jti);
  assert.is(await refusal(t.verifyCertificate(jwt)), 'unauthenticated', 'a session is no certificate');
});

test('a certificate binds a hub to its key, and is taken as that only', async ({ store }) => {
  const t = await openTokens(store, issuer);
  const { certificate, expires_at } = await t.issueCertificate(hub);
  assert.ok(Math.abs(expires_at - seconds() - CERTIFICATE_TTL) <= 1);
  assert.equal(await t.verifyCertificate(certificate), { hub_id: 'hub_1', sign_pub: 'PUB' });
  const { iat: _, ...claims } = decodeJwt(certificate);
  assert.equal(claims, {
    ...{ cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'PUB' } }, owner_id: 'own_1', subnet_id: 'sub_1' },
    ...{ iss: issuer, aud: 'hub', sub: 'hub_1', exp: expires_at },
  });
  assert.is(await refusal(t.verifySession(certificate)), 'unauthenticated', 'a certificate is no session');
});

test('a token that lacks a claim, is over, or is of another issuer, key or algorithm is refused', async ({
  store,
}) => {
  const t = await openTokens(store, issuer);
  const pem = (await store.get<{ value: string }>("SELECT value FROM secret WHERE name = 'sign'"))!.value;
  const make = async (change: Record<string, unknown>, key = createPrivateKey(pem)) => {
    const claims = {
      iss: issuer,
      aud: 'owner',
      sub: 'owner:o',
      iat: seconds(),
      exp: seconds() + 60,
      ...change,
    };
    const jwt = new SignJWT(claims as never).setProtectedHeader({ alg: 'EdDSA' });
    return refusal(t.verifySession(await jwt.sign(key)));
  };
  assert.is(await make({}), undefined);
  for (const claim of ['exp', 'iat', 'sub', 'iss', 'aud'])
    assert.is(await make({ [claim]: undefined }), 'unauthenticated', claim);
  assert.is(await make({ iss: 'https://other.example' }), 'unauthenticated');
  assert.is(await make({ aud: 'hub' }), 'unauthenticated');
  assert.is(await make({ exp: seconds() - 5 }), 'unauthenticated');
  assert.is(await make({}, generateKeyPairSync('ed25519').privateKey), 'unauthenticated');
  const x = new TextEncoder().encode(t.jwks().keys[0]!['x'] as string);
  const hmac = new SignJWT({ iss: issuer, aud: 'owner', sub: 'owner:o' }).setProtectedHeader({
    alg: 'HS256',
  });
  assert.is(
    await refusal(t.verifySession(await hmac.setIssuedAt().setExpirationTime('1m').sign(x))),
    'unauthenticated',
  );
  for (const none of ['', 'x', 'a.b.c']) assert.is(await refusal(t.verifySession(none)), 'unauthenticated');
});

test('keys are made once; what they make is known again after a restart and kept apart by purpose', async ({
  store,
}) => {
  const first = await openTokens(store, issuer);
  const again = await openTokens(store, issuer);
  assert.equal(again.jwks(), first.jwks());
  const [key] = first.jwks().keys;
  assert.equal(
    { ...key, x: '', kid: '' },
    { crv: 'Ed25519', kty: 'OKP', x: '', kid: '', use: 'sig', alg: 'EdDSA' },
  );
  assert.is(key!['kid'], digest(key!['x'] as string).slice(0, 16));
  assert.not('d' in key!, 'the private half stays');
  const { jwt } = await first.issueSession(who);
  assert.equal(decodeProtectedHeader(jwt), { alg: 'EdDSA', kid: key!['kid'] });
  assert.is((await again.verifySession(jwt)).sid, 'sid_1');
  assert.is(first.mac('a', 'text'), again.mac('a', 'text'));
  assert.is(Buffer.from(first.mac('a', 'text'), 'base64url').length, 32);
  const macs = new Set([
    first.mac('a', 'text'),
    first.mac('b', 'text'),
    first.mac('a', 'other'),
    first.mac('at', 'ext'),
  ]);
  assert.is(macs.size, 4);
  const other = await openTokens(await openStore(':memory:', migrations), issuer);
  assert.is.not(other.mac('a', 'text'), first.mac('a', 'text'));
  assert.is(await refusal(other.verifySession(jwt)), 'unauthenticated');
});

test.run();
