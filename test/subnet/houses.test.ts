// timeout: 300 s
// Two whole hubs and a root between them: the second joins by an invitation, is heard, and leaves or is let go.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connect } from '../../firmware/system/bus.ts';
import type { House } from '../../services/cli/house/house.ts';
import { startHouse } from '../lab/house.ts';
import { until } from '../lab/wait.ts';

const env = { INGLE_SUBNET_HEARTBEAT: '1' };
const test = suite<{ a: House; b: House }>('two hubs of one owner');
test.before(async (c) => {
  c.a = await startHouse({ env: { ...env, INGLE_NAME: 'Hall', INGLE_HAS: 'has:speaker' } });
  c.b = await startHouse({ root: c.a.origin, env: { ...env, INGLE_NAME: 'Attic', INGLE_HAS: 'has:bell' } });
  for (const h of [c.a, c.b]) {
    await (await h.uplink()).Enrol({});
    await until(async () => (await h.status()).uplink.connected, 'the hub to be connected');
  }
});
test.after(async (c) => {
  await c.b?.stop();
  await c.a?.stop();
});

const uplink = (h: House) => h.uplink();
/** The local API as local control asks it. */
async function api(h: House, method: string, path: string, body?: object) {
  const token = readFileSync(join(h.data, 'hub', 'api', 'token'), 'utf8').trim();
  const r = await fetch(h.api + path, {
    method,
    headers: { 'x-service-token': token, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  // biome-ignore lint/suspicious/noExplicitAny: looked at field by field in assertions
  return { status: r.status, body: (await r.json()) as any };
}
const nodes = async (h: House) => (await api(h, 'GET', '/api/subnet/nodes')).body.nodes;
const stateOf = async (h: House, hubId: string) =>
  (await nodes(h)).find((n: { hub_id: string }) => n.hub_id === hubId)?.state;
const place = async (h: House) => {
  const { hub_id, owner_id, subnet_id } = (await h.status()).uplink;
  return { hub_id, owner_id, subnet_id };
};

test('a hub joins by a link, registers, and is shown as here on both sides', async ({ a, b }) => {
  const alone = await place(b);
  const told: { state: string }[] = [];
  const bus = await connect(a.bus);
  await bus.subscribe('node.online', (_, p) => void told.push(p as (typeof told)[number]));
  const { link } = await (await uplink(a)).InviteHub({});
  const joined = await (await uplink(b)).JoinSubnet({ invite: link, confirmed: false });
  const lead = await place(a);
  assert.equal(joined, { owner_id: lead.owner_id, subnet_id: lead.subnet_id, hub: lead.hub_id });
  assert.equal(await place(b), { ...lead, hub_id: alone.hub_id });
  await until(async () => (await stateOf(a, alone.hub_id)) === 'here', 'the member to be here');
  await until(() => told.at(-1)?.state === 'here', 'the topic node.online');
  // With a beat of a second, a busy machine may miss it for three before it is heard first.
  const heard = told.filter(({ state }) => state !== 'gone');
  assert.equal(heard, [
    { hub_id: alone.hub_id, state: 'joined', online: false },
    { hub_id: alone.hub_id, state: 'here', online: true },
  ]);
  bus.close();
  const [self, member] = await nodes(a);
  assert.equal([self.hub_id, self.role, self.name], [lead.hub_id, 'hub', 'Hall']);
  assert.equal([member.role, member.name, member.caps], ['member', 'Attic', ['noise-ik', 'has:bell']]);
  await until(async () => (await stateOf(b, lead.hub_id)) === 'here', 'the leading hub to be here');
  const { body } = await api(b, 'GET', '/api/subnet/context');
  assert.equal(
    [body.role, body.hub, body.subnet_id, body.reached],
    ['member', lead.hub_id, lead.subnet_id, true],
  );
  assert.is((await api(b, 'GET', '/api/node/role')).body.role, 'member');
  assert.equal(
    (await api(a, 'GET', '/api/node/members')).body.members.map((m: { state: string }) => m.state),
    ['here', 'here'],
  );
});

test('nobody but a member registers, and local control is none', async ({ a }) => {
  for (const [path, body] of [
    ['register', { hub_id: 'x', name: '', version: '', caps: [] }],
    ['heartbeat', {}],
    ['deregister', {}],
  ] as const)
    assert.is((await api(a, 'POST', `/api/subnet/${path}`, body)).body.error, 'forbidden', path);
});

test('either uplink or API may be killed, and the member is here again without a person', async ({
  a,
  b,
}) => {
  const { hub_id } = await place(b);
  for (const [h, name] of [
    [b, 'uplink'],
    [a, 'uplink'],
    [a, 'api'],
    [a, 'root'],
  ] as const) {
    h.kill(name);
    const before = Number(
      (await (await uplink(a)).Subnet({}).catch(() => undefined))?.nodes[0]?.heard_at ?? 0,
    );
    await until(async () => {
      const net = await (await uplink(a)).Subnet({}).catch(() => undefined);
      const n = net?.nodes.find((x) => x.hub_id === hub_id);
      return n?.state === 'here' && Number(n.heard_at) > before;
    }, `a heartbeat after ${name} was killed`);
  }
});

test('a scenario that needs what only the member has is done there, and once, though both services die', async ({
  a,
  b,
}) => {
  await api(a, 'POST', '/api/skills/developer', { on: true });
  const step = (id: string) => ({ id, call: 'io.console.print', args: { text: id } });
  const scenario = (constraint: string) => ({
    ...{ id: 'test/bell', version: `1.0.${++version}`, dslVersion: '1', name: 'Bell' },
    ...{
      constraints: [constraint],
      steps: [step('rings'), { id: 'd', do: 'delay', for: '6s' }, step('rang')],
    },
  });
  let version = 0;
  const push = (constraint: string) =>
    api(a, 'POST', '/api/scenarios/push', { prototype: scenario(constraint) });
  const run = () => api(a, 'POST', '/api/scenario/run', { id: 'test/bell' });
  const status = async (run_id: string) =>
    (await api(a, 'GET', `/api/scenario/status?run_id=${run_id}`)).body;
  assert.is((await push('has:bath')).status, 200);
  assert.match((await run()).body.message, /No hub of the subnet .* bath/);
  assert.is((await push('has:bell')).status, 200);
  const { hub_id } = await place(b);
  const { run_id } = (await run()).body;
  await until(async () => (await status(run_id)).current_step === 'd', 'the member to have begun');
  assert.is((await status(run_id)).run.waits.node, hub_id);
  const there = (await api(b, 'GET', '/api/scenarios/instances')).body.instances;
  assert.is(
    there.find((r: { run_id: string }) => r.run_id === run_id).origin,
    `node:${(await place(a)).hub_id}`,
  );
  b.kill('scenario');
  a.kill('scenario');
  await until(async () => (await status(run_id)).state === 'DONE', 'the end');
  const journal = (await status(run_id)).journal.map(
    (j: { step_name?: string; kind: string }) => `${j.step_name ?? ''} ${j.kind}`,
  );
  assert.equal(journal, [
    ...['rings begun', 'rings done', 'd asleep', 'd woke', 'rang begun', 'rang done', ' end'],
  ]);
  // Orders go there, too.
  const second = (await run()).body.run_id;
  await until(async () => (await status(second)).current_step === 'd', 'the second one');
  assert.is((await api(a, 'POST', '/api/scenario/cancel', { run_id: second })).status, 200);
  await until(async () => (await status(second)).state === 'CANCELED', 'it to be stopped there');
  assert.is((await status(second)).journal.filter((j: { kind: string }) => j.kind === 'order').length, 1);
});

test('a trigger is for the hub that leads, or each hub does itself what it has', async ({ a, b }) => {
  const steps = [{ id: 'rings', call: 'io.console.print', args: { text: 'rings' } }];
  const scenario = (name: string, runOn: string, more: object = {}) => ({
    ...{ id: `test/${name}`, version: '1.0.0', dslVersion: '1', name, steps, ...more },
    triggers: [{ type: 'intent', name, runOn }],
  });
  const intents = ['leads', 'speaks', 'chimes'];
  for (const h of [a, b]) {
    await api(h, 'POST', '/api/skills/developer', { on: true });
    for (const prototype of [
      scenario('leads', 'hub'),
      scenario('speaks', 'member:self', { constraints: ['has:speaker'] }),
      scenario('chimes', 'member:self', { constraints: ['has:bell'] }),
    ])
      assert.is((await api(h, 'POST', '/api/scenarios/push', { prototype })).status, 200);
    const rules = intents.map((intent) => ({ intent, pattern: `who ${intent} here` }));
    assert.is((await api(h, 'PUT', '/api/intent/rules', { rules })).status, 200);
  }
  const say = async (h: House, intent: string) => {
    const { body } = await api(h, 'POST', '/api/intent/recognize', { text: `who ${intent} here` });
    return body.run_id ? 'runs' : body.message;
  };
  assert.is(await say(a, 'leads'), 'runs');
  assert.match(await say(b, 'leads'), /begins on the hub that leads the subnet/);
  assert.is(await say(a, 'speaks'), 'runs');
  assert.match(await say(b, 'speaks'), /This hub has no speaker/);
  assert.match(await say(a, 'chimes'), /This hub has no bell/, 'a member that has one is not asked');
  assert.is(await say(b, 'chimes'), 'runs');
});

test('a member that leaves is alone as it was, and the other hub knows', async ({ a, b }) => {
  const { hub_id } = await place(b);
  await (await uplink(b)).LeaveSubnet({});
  const lead = await place(a);
  const now = await place(b);
  assert.is.not(now.owner_id, lead.owner_id);
  assert.is.not(now.subnet_id, lead.subnet_id);
  assert.is(await stateOf(a, hub_id), 'left');
  assert.equal([(await (await uplink(b)).Subnet({})).stage, (await nodes(b)).length], ['left', 1]);
});

test('it joins again by typed digits; let go, its channel ends at once, and it learns so and is alone', async ({
  a,
  b,
}) => {
  const { hub_id } = await place(b);
  const { code, link, expires_at } = (await api(a, 'POST', '/api/subnet/invite', {})).body;
  assert.match(code, /^\d{3}-\d{3} \d{3}-\d{3}$/);
  assert.match(link, /\/#hub1\.\d{6}\./);
  assert.ok(expires_at > Date.now() / 1000);
  await (await uplink(b)).JoinSubnet({ invite: code, confirmed: false });
  assert.is(
    (await api(b, 'POST', '/api/subnet/invite', {})).body.error,
    'conflict',
    'a member invites nobody',
  );
  await until(async () => (await stateOf(a, hub_id)) === 'here', 'the member to be here');
  assert.is((await api(a, 'DELETE', '/api/subnet/nodes/hub_nobody')).status, 404);
  assert.is((await api(a, 'DELETE', `/api/subnet/nodes/${hub_id}`)).status, 200);
  assert.is(await stateOf(a, hub_id), 'left');
  await until(
    async () => (await (await uplink(b)).Subnet({})).stage === 'removed',
    'the member to learn of it',
  );
  assert.is.not((await place(b)).owner_id, (await place(a)).owner_id);
});

test('a hub killed at the moment it is let in finds its place by itself', async ({ a, b }) => {
  const { hub_id } = await place(b);
  const isIn = async () => ['joined', 'here'].includes(await stateOf(a, hub_id));
  for (const name of ['uplink of the member', 'uplink of the leading hub', 'root'] as const) {
    // Of one that left as it was killed the leading hub hears nothing more, and only misses it.
    await until(async () => !(await isIn()), 'the time before to be over');
    const { link } = await (await uplink(a)).InviteHub({});
    const joining = (await uplink(b)).JoinSubnet({ invite: link, confirmed: false }).catch(() => undefined);
    await until(isIn, 'the hub to be let in');
    if (name === 'uplink of the member') b.kill('uplink');
    else a.kill(name === 'root' ? 'root' : 'uplink');
    await joining;
    await until(
      async () => (await stateOf(a, hub_id).catch(() => '')) === 'here',
      `the member after ${name} died`,
    );
    assert.is((await place(b)).owner_id, (await place(a)).owner_id, name);
    await until(
      () =>
        (async () => (await uplink(b)).LeaveSubnet({}))().then(
          () => true,
          (e: { code: string }) => e.code === 'not_found',
        ),
      'the member to leave',
    );
    assert.is.not((await place(b)).owner_id, (await place(a)).owner_id, name);
  }
});

test('an invitation is for one hub, once', async ({ a, b }) => {
  const { link } = await (await uplink(a)).InviteHub({});
  const code = async (invite: string) =>
    (await uplink(b)).JoinSubnet({ invite, confirmed: true }).then(
      () => 'joined',
      (e: { code: string }) => e.code,
    );
  const newer = await (await uplink(a)).InviteHub({});
  assert.is(await code(link), 'invalid_device_code', 'a newer one is out');
  const wrong = `${newer.device_code}-${newer.secret === '000-000' ? '111-111' : '000-000'}`;
  assert.is(await code(wrong), 'pairing_failed', 'the digits root never sees are wrong');
  assert.is((await (await uplink(b)).Subnet({})).role, 'hub');
  assert.is(await code((await (await uplink(a)).IssueCode({ new_passkey: false })).link), 'invalid_request');
});

test('the same by the local API: invited, joined by what was typed, left', async ({ a, b }) => {
  const alone = await place(b);
  const invited = (await api(a, 'POST', '/api/subnet/invite', {})).body;
  assert.match(invited.code, /^\d{3}-\d{3} \d{3}-\d{3}$/);
  assert.ok(invited.link.startsWith(a.origin) && invited.expires_at > Date.now() / 1000);
  const wrong = await api(b, 'POST', '/api/subnet/join', { invite: 'no code' });
  assert.equal([wrong.status, wrong.body.error], [400, 'invalid_request']);
  const joined = await api(b, 'POST', '/api/subnet/join', { invite: invited.code });
  const lead = await place(a);
  assert.equal(joined.body, { owner_id: lead.owner_id, subnet_id: lead.subnet_id, hub: lead.hub_id });
  await until(async () => (await stateOf(a, alone.hub_id)) === 'here', 'the member to be here');
  // A member leads nobody.
  assert.is((await api(b, 'POST', '/api/subnet/invite', {})).body.error, 'conflict');
  assert.equal((await api(b, 'POST', '/api/subnet/leave', {})).body, { left: true });
  assert.is((await api(b, 'GET', '/api/node/role')).body.role, 'hub');
});

test.run();
