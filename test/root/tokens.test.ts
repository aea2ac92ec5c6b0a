// Root's own tokens, on records in memory.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { CERTIFICATE_TTL, SESSION_TTL } from '../../firmware/protocol/limits.ts';
import { seconds } from '../../root/clock.ts';
import { digest } from '../../root/digest.ts';
import type { Records } from '../../root/records/records.ts';
import { openSqlite } from '../../root/records/sqlite.ts';
import { openTokens } from '../../root/tokens.ts';

const test = suite<{ records: Records }>('tokens');
test.before.each(async (c) => {
  c.records = await openSqlite(':memory:');
});
test.after.each((c) => c.records.close());
const issuer = 'https://root.example';

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (e: IngleError) => e.code,
  );

const hub = { hub_id: 'hub_1', owner_id: 'own_1', subnet_id: 'sub_1', sign_pub: 'PUB', e2e_pub: 'E' };
const who = { sid: 'sid_1', owner_id: 'own_1', subnet_id: 'sub_1', browser_key_id: 'key_1' };

test('a session token says whose it is, and is taken as that only', async ({ records }) => {
  const t = await openTokens(records, issuer);
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

test('a certificate binds a hub to its key, and is taken as that only', async ({ records }) => {
  const t = await openTokens(records, issuer);
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
  records,
}) => {
  const t = await openTokens(records, issuer);
  const pem = await records.secret('sign', '');
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
  records,
}) => {
  const first = await openTokens(records, issuer);
  const again = await openTokens(records, issuer);
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
  const other = await openTokens(await openSqlite(':memory:'), issuer);
  assert.is.not(other.mac('a', 'text'), first.mac('a', 'text'));
  assert.is(await refusal(other.verifySession(jwt)), 'unauthenticated');
});

test.run();
