// timeout: 120 s
// An owner's account at root: who is signed in, what things are called, hubs that go or change hands, and the trail.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { verifyCode } from '../../root/codes.ts';
import type { Records } from '../../root/records/records.ts';
import { openSqlite } from '../../root/records/sqlite.ts';
import type { Root } from '../../root/root.ts';
import { within } from '../lab/wait.ts';
import {
  type Answer,
  bound,
  call,
  heard,
  newHub,
  newTab,
  openDatabase,
  type RootProcess,
  refusal,
  signedIn,
  startRoot,
  until,
} from './kit.ts';

const test = suite<{ root: RootProcess }>('estate');
test.before(async (c) => {
  // No sweep comes to help: what goes at once goes by itself.
  const rare = { INGLE_ROOT_SWEEP: '3600' };
  c.root = await startRoot({ ...rare, INGLE_ROOT_GUESSES: '1000', INGLE_ROOT_SURGE: '1000' });
});
test.after((c) => c.root.stop());

type Tab = Awaited<ReturnType<typeof newTab>>;
const asking =
  (root: RootProcess) =>
  (tab: Tab, method: string, path: string, body?: unknown): Promise<Answer> =>
    call(root, method, `/v1/owner/${path}`, body, tab.bearer());
const gone = (s: { once(e: 'disconnect', f: () => void): unknown }) =>
  within(new Promise<void>((resolve) => s.once('disconnect', resolve)), 'the socket to be closed');

/** A second browser of the same owner, with a passkey of its own. */
async function another(root: RootProcess, hub: Awaited<ReturnType<typeof newHub>>, claims: object = {}) {
  const tab = await newTab(root);
  const code = await hub.code({ scope: 'new_passkey', ...claims });
  for (const r of [await tab.verify(code), await tab.register(), await tab.login()])
    assert.is(r.status, 200, JSON.stringify(r.body));
  return tab;
}

test('an owner sees the browsers that are signed in, coarsely placed, and ends one: its socket goes at once', async ({
  root,
}) => {
  const ask = asking(root);
  const { hub, tab } = await signedIn(root);
  const other = await another(root, hub);
  const line = other.socket();
  const closed = gone(line);
  await heard(line, 'status');
  const home = hub.socket();
  const over = heard(home, 'session.over');
  await until(async () => (await ask(tab, 'GET', 'hubs')).body.hubs[0].online, 'the hub to be online');
  const list = async () => (await ask(tab, 'GET', 'sessions')).body.sessions;
  const sessions = await list();
  assert.is(sessions.length, 2);
  const theirs = sessions.find((s: { current: boolean }) => !s.current);
  assert.equal([theirs.browser_key_id, theirs.connected], [other.browser_key_id, true]);
  assert.is(theirs.place, `${other.from['x-forwarded-for'].replace(/\d+$/, '0')}/24`);
  assert.not.match(JSON.stringify(sessions), new RegExp(`${tab.sid}|${other.sid}`), 'a sid is no id');
  assert.is((await ask(tab, 'DELETE', 'sessions/nobody')).status, 404);
  assert.is((await ask(tab, 'DELETE', `sessions/${theirs.id}`)).status, 200);
  await closed;
  assert.equal(await over, [{ sid: other.sid }], 'what goes past root is the hub’s to end');
  home.disconnect();
  assert.is((await list()).length, 1);
  assert.is((await ask(other, 'GET', 'sessions')).status, 401);
  assert.is((await ask(tab, 'DELETE', `sessions/${theirs.id}`)).status, 404, 'a second time');
  const stranger = (await signedIn(root)).tab;
  const mine = (await list())[0].id;
  assert.is((await ask(stranger, 'DELETE', `sessions/${mine}`)).status, 404, 'another owner’s');
  assert.is((await list()).length, 1);
});

test('no address of a browser or a hub is on record', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const db = await openDatabase(root);
  try {
    const tables = await db.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
    for (const { name } of tables) {
      const text = JSON.stringify(await db.all(`SELECT * FROM ${name}`));
      for (const { 'x-forwarded-for': ip } of [tab.from, hub.from])
        assert.not.match(text, new RegExp(`"${ip.replaceAll('.', '\\.')}"`), name);
    }
  } finally {
    await db.close();
  }
});

test('passkeys and hubs have names, of a line and 64 characters', async ({ root }) => {
  const ask = asking(root);
  const { hub, tab } = await signedIn(root);
  const credential = async () => (await ask(tab, 'GET', 'credentials')).body.credentials[0];
  const path = `credentials/${(await credential()).id}`;
  for (const [where, read] of [
    [path, async () => (await credential()).name],
    [`hubs/${hub.hub_id}`, async () => (await ask(tab, 'GET', 'hubs')).body.hubs[0].name],
  ] as const) {
    assert.is((await ask(tab, 'PATCH', where, { name: 'Küche 🏠' })).status, 200);
    assert.is(await read(), 'Küche 🏠');
    for (const name of ['x'.repeat(65), 'a\nb', 'a\u0000', 'a\u2028b', 7, null])
      assert.is((await ask(tab, 'PATCH', where, { name })).body.error, 'invalid_request', String(name));
    assert.is((await ask(tab, 'PATCH', where, { name: '' })).status, 200);
    assert.is(await read(), '');
    const stranger = (await signedIn(root)).tab;
    assert.is((await ask(stranger, 'PATCH', where, { name: 'mine' })).status, 404);
  }
});

test('a guest reads and changes nothing of the account', async ({ root }) => {
  const ask = asking(root);
  const { hub } = await signedIn(root);
  const guest = await another(root, hub, { guest: true });
  for (const [method, path, body] of [
    ['GET', 'sessions'],
    ['DELETE', 'sessions/x'],
    ['GET', 'hubs'],
    ['PATCH', `hubs/${hub.hub_id}`, { name: 'x' }],
    ['DELETE', `hubs/${hub.hub_id}`],
    ['POST', `hubs/${hub.hub_id}/handover`, {}],
    ['DELETE', `hubs/${hub.hub_id}/handover`],
    ['POST', 'hubs/take', { device_code: '000-000' }],
    ['GET', 'audit'],
    ['GET', 'audit/export'],
    ['PATCH', 'credentials/x', { name: 'x' }],
  ] as const)
    assert.is((await ask(guest, method, path, body)).body.error, 'forbidden', `${method} ${path}`);
  const other = (await signedIn(root)).hub;
  assert.is((await guest.offer({ hub_id: other.hub_id })).body.error, 'forbidden');
});

test('a hub’s owner sees when its certificate ends and when its keys changed', async ({ root }) => {
  const ask = asking(root);
  const { hub, tab } = await signedIn(root);
  const mine = async () => (await ask(tab, 'GET', 'hubs')).body.hubs[0];
  const before = await mine();
  assert.equal(
    [before.hub_id, before.current, before.online, before.certificate_expires_at, before.keys_changed_at],
    [hub.hub_id, true, false, hub.expires_at, null],
  );
  const line = hub.socket();
  await until(async () => (await mine()).online, 'the hub to be online');
  await until(async () => (await mine()).last_seen_at !== null, 'the hub to be seen');
  line.disconnect();
  const { rotationMessage } = await import('../../firmware/protocol/noise/rotation.ts');
  const { sign } = await import('node:crypto');
  const e2e_pub = hub.e2e();
  const signature = sign(null, rotationMessage(hub.hub_id, e2e_pub, hub.pub()), hub.key());
  const body = { e2e_pub, signature: signature.toString('base64url') };
  const rotated = await call(root, 'POST', '/v1/hub/rotate', body, await hub.headers('rotate'));
  assert.is(rotated.status, 200);
  const after = await mine();
  assert.ok(after.keys_changed_at > 0);
  assert.is(after.certificate_expires_at, rotated.body.expires_at);
});

test('a hub that is removed is out at once, and a stranger when it comes back', async ({ root }) => {
  const ask = asking(root);
  const { hub, tab, line, owner } = await bound(root);
  const closed = Promise.all([gone(line), gone(owner)]);
  const removed = await ask(tab, 'DELETE', `hubs/${hub.hub_id}`);
  assert.equal(removed.body, { ok: true, sessions: 1 });
  await closed;
  line.disconnect();
  assert.is((await refusal(hub.socket()))?.data?.error, 'unauthenticated', 'its certificate');
  assert.is((await call(root, 'POST', '/v1/hub/renew', {}, await hub.headers('renew'))).status, 401);
  assert.is((await tab.login()).status, 401, 'the passkey is gone with the account');
  assert.is((await hub.enrol()).status, 200);
  const next = await newTab(root);
  assert.is((await next.verify(await hub.code())).status, 200);
  assert.is((await next.register()).status, 200, 'the first passkey again');
});

test('a hub changes hands by an offer and a code of the hub, and by neither alone', async ({ root }) => {
  const ask = asking(root);
  const [mine, theirs] = [await signedIn(root), await signedIn(root)];
  const { hub } = mine;
  const take = async (code: string) => ask(theirs.tab, 'POST', 'hubs/take', { device_code: code });
  assert.is((await take(await hub.code())).body.error, 'invalid_device_code', 'without an offer');
  const offer = () => ask(mine.tab, 'POST', `hubs/${hub.hub_id}/handover`, {});
  assert.is((await ask(theirs.tab, 'POST', `hubs/${hub.hub_id}/handover`, {})).status, 404);
  assert.ok((await offer()).body.offered_until > Date.now() / 1000);
  assert.is((await ask(mine.tab, 'DELETE', `hubs/${hub.hub_id}/handover`)).body.offered_until, null);
  assert.is((await take(await hub.code())).body.error, 'invalid_device_code', 'taken back');
  await offer();
  assert.is((await take('000-000')).body.error, 'invalid_device_code');
  const line = hub.socket();
  const owner = mine.tab.socket();
  await mine.tab.offer();
  await until(() => owner.last?.route === 'bound', 'the route to be bound');
  const closed = gone(owner);
  assert.equal((await take(await hub.code())).body, { hub_id: hub.hub_id });
  await closed;
  line.disconnect();
  assert.is((await ask(mine.tab, 'GET', 'hubs')).status, 401);
  const listed = (await ask(theirs.tab, 'GET', 'hubs')).body.hubs;
  assert.equal(
    listed.map((h: { hub_id: string }) => h.hub_id).sort(),
    [hub.hub_id, theirs.hub.hub_id].sort(),
  );
  // The hub learns of it, and what it makes of it is its own business.
  assert.is((await hub.enrol()).body.owner_id, theirs.hub.owner_id);
});

test('of several hubs a session chooses one, and goes on there after a restart of root', async ({ root }) => {
  const ask = asking(root);
  const { hub, tab } = await signedIn(root);
  const other = await signedIn(root);
  await ask(other.tab, 'POST', `hubs/${other.hub.hub_id}/handover`, {});
  const taken = await ask(tab, 'POST', 'hubs/take', { device_code: await other.hub.code() });
  assert.is(taken.status, 200);
  await other.hub.enrol();
  const [one, two] = [hub.socket(), other.hub.socket()];
  const owner = tab.socket();
  await tab.offer();
  await until(() => owner.last?.route === 'bound', 'the first route to be bound');
  const frame = async (hub: typeof one, ctr: number) => {
    const came = heard(owner, 'relay.to_browser');
    hub.emit('relay.to_browser', { sid: tab.sid, frame: Buffer.from([ctr]), ctr });
    assert.is(((await came)[0] as { ctr: number }).ctr, ctr);
  };
  await frame(one, 9);
  const { generation } = owner.last!;
  const asked = heard(two, 'pairing.request');
  const over = heard(one, 'session.over');
  assert.is((await tab.offer({ hub_id: other.hub.hub_id })).status, 200);
  assert.is(((await asked)[0] as { sid: string }).sid, tab.sid);
  assert.equal(await over, [{ sid: tab.sid }], 'the first hub ends what it has open past root');
  const isBound = () => owner.last?.route === 'bound' && owner.last.generation > generation;
  await until(isBound, 'the second route to be bound');
  // The second hub counts its frames from one on, whatever the first has counted.
  await frame(two, 1);
  const current = async () =>
    (await ask(tab, 'GET', 'hubs')).body.hubs.find((h: { current: boolean }) => h.current)?.hub_id;
  assert.is(await current(), other.hub.hub_id);
  const strange = await signedIn(root);
  for (const hub_id of [strange.hub.hub_id, 'none'])
    assert.is((await tab.offer({ hub_id })).body.error, 'not_found');
  assert.is(await current(), other.hub.hub_id);
  await root.kill();
  await root.again();
  assert.is(await current(), other.hub.hub_id);
  for (const s of [one, two, owner]) s.disconnect();
});

test('the trail is read and exported by its owner, and survives a kill', async ({ root }) => {
  const ask = asking(root);
  const { hub, tab } = await signedIn(root);
  const other = await another(root, hub);
  const { credentials } = (await ask(tab, 'GET', 'credentials')).body;
  const { id } = credentials.find((k: { current: boolean }) => !k.current);
  await ask(tab, 'PATCH', `credentials/${id}`, { name: 'Tablet' });
  assert.is((await ask(tab, 'DELETE', `credentials/${id}`)).status, 200);
  await root.kill();
  await root.again();
  const read = await ask(tab, 'GET', 'audit');
  assert.is(read.status, 200, JSON.stringify(read.body));
  const { entries, before } = read.body;
  assert.is(before, null);
  assert.equal(entries.map((e: { what: string }) => e.what).reverse(), [
    ...['code_taken', 'passkey_added', 'signed_in', 'code_taken', 'passkey_added', 'signed_in'],
    ...['passkey_renamed', 'passkey_removed'],
  ]);
  const [removed] = entries;
  assert.equal(
    [removed.browser_key_id, removed.about, removed.name],
    [tab.browser_key_id, other.browser_key_id, 'Tablet'],
  );
  const older = (await ask(tab, 'GET', `audit?before=${entries[2].n}`)).body;
  assert.equal(older.entries, entries.slice(3));
  for (const wrong of ['x', '-1', '1e3', '9'.repeat(16)])
    assert.is((await ask(tab, 'GET', `audit?before=${wrong}`)).status, 400, wrong);
  const file = await ask(tab, 'GET', 'audit/export');
  assert.match(file.headers.get('content-disposition') ?? '', /attachment/);
  const lines = String(file.body).trimEnd().split('\n');
  assert.equal(
    lines.map((l) => JSON.parse(l)),
    [...entries].reverse(),
  );
  const stranger = (await signedIn(root)).tab;
  assert.equal(
    (await ask(stranger, 'GET', 'audit')).body.entries.map((e: { what: string }) => e.what),
    ['signed_in', 'passkey_added', 'code_taken'],
  );
});

test('a session that ends while its code is looked up is told so, and the code stays open', async ({
  root,
}) => {
  const hub = await newHub(root);
  const tab = await newTab(root);
  const code = await hub.code();
  await tab.post('/v1/owner/webauthn/login/challenge', { sid: tab.sid });
  // Both at once, again and again: the sid is over before, in between or after.
  const db = await openDatabase(root);
  const answers = await Promise.all([
    tab.verify('000-000'),
    db.run('DELETE FROM session_web WHERE sid = ?', tab.sid),
    tab.verify('000-001'),
  ]);
  await db.close();
  for (const r of [answers[0], answers[2]]) assert.ok([400, 401].includes(r.status), JSON.stringify(r.body));
  const next = await newTab(root);
  assert.is((await next.verify(code)).status, 200);

  const records = await openSqlite(':memory:');
  const idle = { check() {}, failed() {}, begin: () => ({ near: false, refund() {} }) };
  const tokens = { mac: (_: string, text: string) => text };
  const inner = { records: records as Records, tokens, surge: idle, guesses: idle } as unknown as Root;
  const e = await verifyCode(inner, 'over', { code: '000000', ip: '::1', ticket: '', pow: '' }).catch(
    (x) => x,
  );
  assert.is(e.code, 'unauthenticated');
  await records.close();
});

test.run();
