// timeout: 400 s
// A hub's place at root: made once, kept over restarts, renewed, and found again when root lost it.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, importPKCS8, SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import { assertContract } from '../lab/contract.ts';
import { openDatabase, type RootProcess, startRoot, until } from '../root/kit.ts';
import { localApi, startUplink, type UplinkProcess } from './kit.ts';

interface World {
  root: RootProcess;
  api: Awaited<ReturnType<typeof localApi>>;
  hub: UplinkProcess;
}
const test = suite<World>('enrolment');
test.before(async (c) => {
  c.root = await startRoot();
  c.api = await localApi();
  // Reached by another address than root calls itself, as behind a proxy.
  c.hub = await startUplink({ root: c.root.url, apiPort: c.api.port, token: c.api.token });
});
test.after(async (c) => {
  await c.hub?.stop();
  await c.root?.stop();
  await c.api?.stop();
});
const connected = (hub: UplinkProcess) =>
  until(async () => (await hub.calls.Status({})).connected, 'the hub to be connected');

test('the running service offers exactly its contract', async ({ hub }) => {
  await assertContract(hub.bus, uplink1);
});

test('before enrolment the hub says so and connects to nobody', async ({ hub }) => {
  const s = await hub.calls.Status({});
  assert.equal([s.owner_id, s.connected, s.browsers], ['', false, 0]);
  assert.is(s.keys, join(hub.data, 'keys.json'));
});

test('enrolling twice, and at the same time, gives one identity that outlives restarts', async ({ hub }) => {
  const [a, b] = await Promise.all([hub.calls.Enrol({}), hub.calls.Enrol({})]);
  assert.equal(a, b);
  assert.ok(a.hub_id && a.owner_id && a.subnet_id);
  assert.ok(Number(a.expires_at) > Date.now() / 1000 + 89 * 86400);
  await connected(hub);
  const keys = readFileSync(a.keys, 'utf8');
  await hub.kill();
  await hub.again();
  await connected(hub);
  assert.equal(await hub.calls.Enrol({}), a);
  assert.is(readFileSync(a.keys, 'utf8'), keys);
  assert.is(statSync(a.keys).mode & 0o777, 0o600);
  assert.is(statSync(join(hub.data, 'uplink.sqlite')).mode & 0o077, 0);
});

test('who asks for a code while one is made gets the same; another kind is made after it', async ({
  hub,
}) => {
  const ask = (new_passkey: boolean) => hub.calls.IssueCode({ new_passkey });
  const [a, b, other] = await Promise.all([ask(false), ask(false), ask(true)]);
  assert.is(a.link, b.link);
  assert.is.not(other.link, a.link);
  assert.is.not((await ask(false)).link, a.link, 'a later one is new');
});

test('logs hold no key and no secret', async ({ hub }) => {
  const code = await hub.calls.IssueCode({ new_passkey: false });
  const { sign, e2e } = JSON.parse(readFileSync(join(hub.data, 'keys.json'), 'utf8'));
  for (const secret of [sign.d, e2e[0].d, code.secret, code.link.split('.').at(-1)!])
    assert.not(hub.log().includes(secret));
});

test('a certificate past two thirds of its life is renewed after the next connect', async ({ hub }) => {
  const before = await hub.calls.Enrol({});
  await hub.terminate();
  const store = await openUplinkStore(join(hub.data, 'uplink.sqlite'));
  const i = (await store.identity())!;
  const aged = 61 * 86400;
  await store.setIdentity({ ...i, issued_at: i.issued_at - aged, expires_at: i.expires_at - aged });
  await store.close();
  await hub.again();
  await until(async () => Number((await hub.calls.Status({})).expires_at) >= Number(before.expires_at));
  await until(() => /certificate renewed/.test(hub.log()), 'the log to say so');
  assert.is((await hub.calls.Status({})).hub_id, before.hub_id);
});

test('a hub whose certificate ran out while it was off enrols its key again by itself and keeps its place', async ({
  hub,
  root,
}) => {
  const before = await hub.calls.Status({});
  await hub.terminate();
  const db = await openDatabase(root);
  const pem = (await db.get<{ value: string }>("SELECT value FROM secret WHERE name = 'sign'"))!.value;
  await db.close();
  const store = await openUplinkStore(join(hub.data, 'uplink.sqlite'));
  const i = (await store.identity())!;
  // As root wrote it, but 91 days ago.
  const ago = 91 * 86400;
  const claims = decodeJwt(i.certificate);
  const certificate = await new SignJWT({ ...claims, iat: claims.iat! - ago, exp: claims.exp! - ago })
    .setProtectedHeader(decodeProtectedHeader(i.certificate) as { alg: string })
    .sign(await importPKCS8(pem, 'EdDSA'));
  await store.setIdentity({
    ...i,
    certificate,
    issued_at: i.issued_at - ago,
    expires_at: i.expires_at - ago,
  });
  await store.close();
  await hub.again();
  await connected(hub);
  const after = await hub.calls.Status({});
  assert.equal(
    [after.hub_id, after.owner_id, after.subnet_id, after.browsers, after.last_error],
    [before.hub_id, before.owner_id, before.subnet_id, before.browsers, ''],
  );
  assert.ok(Number(after.expires_at) > Date.now() / 1000);
  assert.match((await hub.calls.IssueCode({ new_passkey: false })).device_code, /^\d{3}-\d{3}$/);
});

test('while root is away a code cannot be issued, and the answer says what to do', async ({ hub, root }) => {
  await root.kill();
  const e = await hub.calls.IssueCode({ new_passkey: false }).catch((x) => x);
  assert.is(e.code, 'unavailable');
  assert.match(e.message, /does not answer/);
  await root.again();
  await connected(hub);
  assert.match((await hub.calls.IssueCode({ new_passkey: false })).device_code, /^\d{3}-\d{3}$/);
});

test('a hub pointed at another root says so, gives it no code, and moves there only as a person has confirmed', async ({
  hub,
}) => {
  const other = await startRoot();
  try {
    const before = await hub.calls.Status({});
    await hub.terminate();
    hub.setRoot(other.url);
    await hub.again();
    const s = await until(async () => {
      const now = await hub.calls.Status({});
      return /another root service/.test(now.last_error) ? now : undefined;
    });
    assert.equal([s.connected, s.hub_id], [false, before.hub_id]);
    for (const call of [() => hub.calls.IssueCode({ new_passkey: false }), () => hub.calls.Enrol({})]) {
      const e = await call().catch((x) => x);
      assert.is(e.code, 'conflict');
      assert.match(e.message, /ingle init/);
    }
    const { changes, ...offered } = await hub.calls.Offered({});
    assert.equal(
      changes.map((c) => c.field),
      ['owner_id', 'subnet_id', 'hub_id', 'app_url'],
    );
    assert.is(changes.find((c) => c.field === 'owner_id')!.was, before.owner_id);
    assert.is(offered.app_url, other.origin);
    const wrong = await hub.calls.Adopt({ ...offered, owner_id: before.owner_id }).catch((x) => x);
    assert.is(wrong.code, 'conflict');
    assert.equal((await hub.calls.Status({})).hub_id, before.hub_id);
    const e = await hub.calls.Adopt(offered);
    assert.is(e.hub_id, offered.hub_id);
    await connected(hub);
    const code = await hub.calls.IssueCode({ new_passkey: false });
    assert.ok(code.link.startsWith(`${other.origin}/#`));
    assert.is(code.verify_uri, `${other.origin}/`);
  } finally {
    await other.stop();
  }
});

test.run();
