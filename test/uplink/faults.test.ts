// timeout: 400 s
// What a root asks that it must not, and what a hub does by itself when its papers are out of date.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { HubKeys } from '../../firmware/uplink/keys.ts';
import { bounds } from '../../firmware/uplink/sessions.ts';
import { openDatabase, type RootProcess, startRoot, until } from '../root/kit.ts';
import { between } from './between.ts';
import { accessOf, localApi, phone, signIn, startUplink, type UplinkProcess } from './kit.ts';

interface World {
  root: RootProcess;
  evil: Awaited<ReturnType<typeof between>>;
  api: Awaited<ReturnType<typeof localApi>>;
  hub: UplinkProcess;
  hubId: string;
}
const test = suite<World>('faults');
test.before(async (c) => {
  c.root = await startRoot();
  c.evil = await between(c.root);
  c.api = await localApi();
  c.hub = await startUplink({ root: c.evil.url, apiPort: c.api.port, token: c.api.token });
  c.hubId = (await c.hub.enrolled()).hub_id;
});
test.before.each((c) => c.evil.honest());
test.after(async (c) => {
  await c.hub?.stop();
  await c.evil?.stop();
  await c.root?.stop();
  await c.api?.stop();
});
const connected = (c: World) =>
  until(async () => (await c.hub.calls.Status({})).connected, 'the hub to be connected');

/** The sids whose `pairing.accept` passes from now on. */
function accepts(c: World) {
  const sids: string[] = [];
  c.evil.watch((event, m) => {
    if (event === 'pairing.accept') sids.push(String(m['sid']));
  });
  return sids;
}

test('a request in the name of another owner or subnet, or a malformed one, is refused', async (c) => {
  const { owner_id, subnet_id } = await c.hub.calls.Status({});
  const sids = accepts(c);
  const ask = (m: unknown) => c.evil.tell('pairing.request', m);
  ask({ sid: 'foreign-owner', owner_id: 'own_other', subnet_id });
  ask({ sid: 'foreign-subnet', owner_id, subnet_id: 'sub_other' });
  for (const bad of [undefined, null, 7, {}, { sid: 's' }, { sid: 1, owner_id, subnet_id }]) ask(bad);
  ask({ sid: 'x'.repeat(200), owner_id, subnet_id });
  // The socket keeps the order, so what was refused would have been accepted before this one.
  ask({ sid: 'own', owner_id, subnet_id });
  await until(() => sids.length > 0);
  assert.equal(sids, ['own']);
  const told = () => c.hub.log().split('root asks for a foreign owner').length - 1;
  await until(() => told() >= 2, 'the log to say so');
  assert.is(told(), 2);
  assert.is((await c.hub.calls.Status({})).pending, 1);
});

test('a flood of requests is answered up to the limit, and disturbs no browser that is in', async (c) => {
  const { owner_id, subnet_id } = await c.hub.calls.Status({});
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const tab = await signIn(c.root, code.device_code);
  const p = await phone(c.root, tab, c.hubId, accessOf(code.link).access);
  await p.up();
  const sids = accepts(c);
  const flood = 3000;
  const began = performance.now();
  for (let i = 0; i < flood; i++) c.evil.tell('pairing.request', { sid: `flood-${i}`, owner_id, subnet_id });
  // A known session is answered whatever waits before it, and so marks the flood's end.
  c.evil.tell('pairing.request', { sid: tab.sid, owner_id, subnet_id });
  await until(() => sids.includes(tab.sid));
  const took = (performance.now() - began) / 1000;
  const answered = sids.filter((s) => s.startsWith('flood-')).length;
  const most = bounds.burst + bounds.rate * (took + 60);
  assert.ok(answered > 0 && answered < flood && answered <= most, `${answered} of ${flood}`);
  assert.is((await p.read('/during')).status, 200);

  const later = await c.hub.calls.IssueCode({ new_passkey: false });
  const second = await signIn(c.root, later.device_code, { keys: tab.keys });
  const q = await phone(c.root, second, c.hubId, accessOf(later.link).access);
  await until(async () => q.admitted || (await second.offer(), false), 'the second browser to be admitted');
  p.close();
  q.close();
});

test('routes that wait for a channel are counted, and none are while root is away', async (c) => {
  const before = (await c.hub.calls.Status({})).pending;
  const { owner_id, subnet_id } = await c.hub.calls.Status({});
  await until(async () => {
    c.evil.tell('pairing.request', { sid: 'waits', owner_id, subnet_id });
    return (await c.hub.calls.Status({})).pending === before + 1;
  });
  await c.root.kill();
  await until(async () => (await c.hub.calls.Status({})).pending === 0);
  await c.root.again();
  await connected(c);
});

test('a rotation that root was not told of is told when root is back, over a kill of the hub too', async (c) => {
  const keys = () => JSON.parse(readFileSync(join(c.hub.data, 'keys.json'), 'utf8')) as HubKeys;
  const known = async () => {
    const db = await openDatabase(c.root);
    try {
      return (await db.get<{ e2e_pub: string }>('SELECT e2e_pub FROM hub WHERE hub_id = ?', c.hubId))!
        .e2e_pub;
    } finally {
      await db.close();
    }
  };
  assert.is(await known(), keys().e2e[0]!.x);
  await c.root.kill();
  await c.hub.calls.RotateKey({});
  assert.is(keys().e2e[0]!.untold, true);
  await c.hub.kill();
  await c.hub.again();
  assert.is(keys().e2e[0]!.untold, true);
  await c.root.again();
  await until(() => keys().e2e[0]!.untold === undefined, 'root to be told');
  assert.is(await known(), keys().e2e[0]!.x);
  assert.is((await c.hub.calls.Status({})).hub_id, c.hubId);
});

test.run();
