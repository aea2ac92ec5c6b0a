// Root's keys give way to others: what was signed before counts until it is over, or no more.
import { decodeProtectedHeader } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { CERTIFICATE_TTL } from '../../firmware/protocol/limits.ts';
import { seconds } from '../../root/clock.ts';
import { openKeyring, rotateKeys } from '../../root/keyring.ts';
import type { Records } from '../../root/records/records.ts';
import { openSqlite } from '../../root/records/sqlite.ts';
import { openTokens, type Tokens } from '../../root/tokens.ts';

const test = suite<{ records: Records }>("root's keys");
test.before.each(async (c) => {
  c.records = await openSqlite(':memory:');
});
test.after.each((c) => c.records.close());

const issuer = 'https://root.example';
const hub = { hub_id: 'hub_1', owner_id: 'own_1', subnet_id: 'sub_1', sign_pub: 'PUB', e2e_pub: 'E' };
const who = { sid: 'sid_1', owner_id: 'own_1', subnet_id: 'sub_1', browser_key_id: 'key_1' };
const page = { owner_id: 'own_1', skill_id: 'x', hub_id: 'hub_1', page: 'p', jti: 'j' };
/** One of each that root signs. */
async function signed(t: Tokens) {
  const session = (await t.issueSession(who)).jwt;
  const { certificate } = await t.issueCertificate(hub);
  return { session, certificate, ticket: await t.issueTicket(page, seconds() + 60) };
}
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'taken',
    (e: IngleError) => e.code,
  );
const codes = async (t: Tokens, s: Awaited<ReturnType<typeof signed>>) => [
  await code(t.verifySession(s.session)),
  await code(t.verifyCertificate(s.certificate)),
  await code(t.verifyTicket(s.ticket)),
];
const taken = ['taken', 'taken', 'taken'];
const refused = ['unauthenticated', 'unauthenticated', 'ticket_invalid'];
/** The private half of some key, as it is kept. */
async function anotherKey(): Promise<string> {
  const records = await openSqlite(':memory:');
  await openKeyring(records, 'sign');
  const [first] = await records.secrets('sign');
  await records.close();
  return first!.value;
}
const kid = (jwt: string) => decodeProtectedHeader(jwt).kid;

test('after a rotation a new key signs, and what was signed before counts', async ({ records }) => {
  const t = await openTokens(records, issuer);
  const before = await signed(t);
  const mac = t.mac('cookie', 'x');
  await rotateKeys(records, false);
  await t.refresh();
  const after = await signed(t);
  for (const what of ['session', 'certificate', 'ticket'] as const)
    assert.is.not(kid(after[what]), kid(before[what]), what);
  assert.equal([await codes(t, before), await codes(t, after)], [taken, taken]);
  assert.equal(
    t.jwks().keys.map((k) => k['kid']),
    [kid(after.session), kid(before.session)],
  );
  assert.not.match(JSON.stringify(t.jwks()), /"d"/);
  assert.is(t.mac('cookie', 'x'), mac, 'what names browsers and hubs stays');
});

test('rotated twice in one second, the last key signs, in every process and after a restart', async ({
  records,
}) => {
  const t = await openTokens(records, issuer);
  for (let i = 0; i < 2; i++) await rotateKeys(records, false);
  await t.refresh();
  const again = await openTokens(records, issuer);
  assert.equal(again.jwks(), t.jwks());
  assert.is(t.jwks().keys.length, 3);
  assert.is(kid((await signed(t)).session), t.jwks().keys[0]!['kid']);
});

test('a process that has not looked yet takes what another one signs with a new key', async ({ records }) => {
  const [t, other] = [await openTokens(records, issuer), await openTokens(records, issuer)];
  await rotateKeys(records, false);
  await t.refresh();
  assert.equal(await codes(other, await signed(t)), taken);
});

test('ids of keys that nobody has cost one look a second', async ({ records }) => {
  let looks = 0;
  const watched = {
    secret: records.secret,
    secrets(name: string) {
      looks++;
      return records.secrets(name);
    },
  };
  const ring = await openKeyring(watched, 'sign');
  for (let i = 0; i < 50; i++) assert.is(await ring.find(`none${i}`), undefined);
  assert.is(looks, 2);
});

test('what was signed with a revoked key counts no more', async ({ records }) => {
  const t = await openTokens(records, issuer);
  const first = await signed(t);
  await rotateKeys(records, false);
  await t.refresh();
  const second = await signed(t);
  await rotateKeys(records, true);
  await t.refresh();
  for (const s of [first, second]) assert.equal(await codes(t, s), refused);
  const now = await signed(t);
  assert.equal(await codes(t, now), taken);
  assert.equal(
    t.jwks().keys.map((k) => k['kid']),
    [kid(now.session)],
  );
  assert.is(await code((await openTokens(records, issuer)).verifySession(now.session)), 'taken');
});

test('a key counts for as long as a certificate of it may, and no longer', async ({ records }) => {
  const [pem] = await Promise.all([anotherKey(), openKeyring(records, 'sign')]);
  const began = (ago: number) => records.renewSecret('sign', pem, seconds() - ago, false);
  await began(CERTIFICATE_TTL + 100);
  await began(CERTIFICATE_TTL - 100);
  const ring = await openKeyring(records, 'sign');
  // The first one's successor signs for longer than what the first has signed can count.
  assert.is((await records.secrets('sign')).length, 3);
  assert.is(ring.all().length, 2);
});

test.run();
