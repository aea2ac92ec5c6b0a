// timeout: 300 s
// The owner and the hub's services: a real ingle-api and a real ingle-supervisor over a stand-in of systemd.
import type { ChildProcess } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { supervisor1 } from '../../firmware/supervisor/contract.ts';
import { connect } from '../../firmware/system/bus.ts';
import { ended } from '../lab/child.ts';
import { assertContract } from '../lab/contract.ts';
import { until } from '../lab/wait.ts';
import { type FakeSystemd, fakeJournal, fakeSystemd, supervise } from '../supervisor/systemd.ts';
import { startHub, type TestHub } from './hub.ts';

interface Context {
  hub: TestHub;
  systemd: FakeSystemd;
  journal: ReturnType<typeof fakeJournal>;
  supervisor: ChildProcess;
}
const test = suite<Context>("the hub's services for their owner");

test.before(async (c) => {
  c.hub = await startHub();
  c.systemd = await fakeSystemd(c.hub.bus.address, ['ingle-api', 'ingle-uplink', 'ingle-audio']);
  c.journal = fakeJournal();
});
test.after(async (c) => {
  c.systemd.stop();
  c.journal.remove();
  await c.hub.stop();
});
// Each test has a supervisor of its own, as its budget of orders is one.
test.before.each(async (c) => {
  c.supervisor = await supervise(c);
  c.systemd.orders.length = 0;
});
test.after.each((c) => ended(c.supervisor, 'SIGKILL', 'the supervisor').then(() => {}));

const order = (hub: TestHub, unit: string, what: string, as = {}) =>
  hub.ask('POST', `/api/services/${unit}/${what}`, { as });

test('the supervisor offers on the bus what its contract says', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  await assertContract(bus, supervisor1);
  bus.close();
});

test('each service is shown as systemd knows it', async ({ hub }) => {
  const { body } = await hub.ask('GET', '/api/services', { as: {} });
  const of = (unit: string) => body.services.find((s: { unit: string }) => s.unit === unit);
  assert.equal(of('ingle-audio').supervised, {
    sub_state: 'running',
    since: 1764000000,
    restarts: 2,
    memory_bytes: null,
    result: 'watchdog',
    cause: '',
    orders: true,
  });
  assert.is(of('ingle-sound').state, 'stopped');
  assert.is(of('ingle-reset').supervised.orders, false);
  const slots = body.services.filter((s: { unit: string }) => s.unit.startsWith('ingle-skill@'));
  assert.equal(slots, [], 'an empty slot is no service');
  const one = await hub.ask('GET', '/api/services/ingle-audio', { as: {} });
  assert.equal(one.body, of('ingle-audio'));
});

test('a service is stopped, started and restarted, and the answer says how it is then', async ({
  hub,
  systemd,
}) => {
  const stopped = await order(hub, 'ingle-audio', 'stop');
  assert.equal([stopped.status, stopped.body.service.state], [200, 'stopped']);
  assert.is(stopped.body.service.supervised.cause, 'SIGABRT');
  assert.is((await order(hub, 'ingle-audio', 'start')).body.service.state, 'running');
  assert.is((await order(hub, 'ingle-audio', 'restart')).status, 200);
  const did = ['stop', 'start', 'restart'].map((what) => `${what} replace ingle-audio.service`);
  assert.equal(systemd.orders, did);
});

test('nobody locks themselves out: what the hub is reached by is not stopped, and restart is offered', async ({
  hub,
  systemd,
}) => {
  for (const unit of ['ingle-uplink', 'ingle-api']) {
    const r = await order(hub, unit, 'stop');
    assert.equal([r.status, r.body.error], [409, 'conflict']);
    assert.match(r.body.message, `/api/services/${unit}/restart`);
  }
  assert.is((await order(hub, 'dbus', 'stop')).status, 404);
  assert.equal(systemd.orders, []);
});

test('the API that restarts itself answers first', async ({ hub, systemd }) => {
  const r = await order(hub, 'ingle-api', 'restart');
  assert.equal([r.status, r.body.service.state], [200, 'changing']);
  await until(() => systemd.orders.includes('restart replace ingle-api.service'), 'the restart');
});

test('orders and logs are for the owner with a passkey checked lately', async ({ hub, systemd }) => {
  const late = { elevated_until: 1 };
  for (const what of ['start', 'stop', 'restart']) {
    assert.is((await order(hub, 'ingle-audio', what, { role: 'adult' })).status, 403);
    assert.is((await order(hub, 'ingle-audio', what, late)).body.error, 'assertion_required');
  }
  assert.is((await hub.ask('GET', '/api/services/ingle-audio/logs', { as: late })).status, 401);
  assert.is((await hub.ask('GET', '/api/services/ingle-audio', { as: late })).status, 200);
  assert.equal(systemd.orders, []);
});

test('no other unit is reached, whatever it is called', async ({ hub, systemd }) => {
  const names = [
    '..%2fingle-api',
    'ssh.service',
    'ssh',
    '-u',
    'ingle-supervisor',
    'ingle-skill@17',
    'x'.repeat(10_000),
  ];
  for (const name of [...names, '%00', 'ingle-skill@3', 'ingle-api%0a', '__proto__', 'constructor'])
    for (const what of ['start', 'stop', 'restart', 'logs']) {
      const path = `/api/services/${name}/${what}`;
      const r = await hub.ask(what === 'logs' ? 'GET' : 'POST', path, { as: {} });
      assert.ok([400, 404, 409, 431].includes(r.status), `${r.status} ${path.slice(0, 60)}`);
    }
  assert.is((await order(hub, 'ingle-reset', 'start')).status, 409, 'which would erase the hub');
  assert.equal(systemd.orders, []);
});

test('logs come without secrets, from the journal of that service alone', async ({ hub, journal }) => {
  const entry = { __REALTIME_TIMESTAMP: '1764000000000000', PRIORITY: '4' };
  journal.say([
    { ...entry, MESSAGE: 'audio: no devices' },
    { ...entry, MESSAGE: 'joined psk=correcthorse' },
  ]);
  const r = await hub.ask('GET', '/api/services/ingle-audio/logs?lines=7', { as: {} });
  assert.equal(r.body.lines, [
    { at: 1764000000, level: 'warn', text: 'audio: no devices' },
    { at: 1764000000, level: 'warn', text: 'joined psk=[removed]' },
  ]);
  const asked = journal.asked();
  assert.is(asked[asked.indexOf('-u') + 1], 'ingle-audio.service');
  assert.is(asked[asked.indexOf('-n') + 1], '7');
  for (const lines of ['0', '1001', '-5', '1e3', '7;reboot', ''])
    assert.is(
      (await hub.ask('GET', `/api/services/ingle-audio/logs?lines=${lines}`, { as: {} })).status,
      400,
      lines,
    );
});

test('a flood of restarts is held back, and says when to come again', async ({ hub, systemd }) => {
  const all = await Promise.all(Array.from({ length: 30 }, () => order(hub, 'ingle-audio', 'restart')));
  const refused = all.filter((r) => r.status === 429);
  assert.ok(refused.length >= 15, `${refused.length}`);
  assert.is(refused[0]!.headers.get('retry-after'), '10');
  const done = all.filter((r) => r.status === 200);
  assert.is(done.length + refused.length, 30, JSON.stringify(all.map((r) => r.body.error)));
  assert.is(systemd.orders.length, done.length);
  assert.is((await hub.ask('GET', '/api/services', { as: {} })).status, 200);
});

test('a supervisor that is killed in the middle of an order leaves an answer, and its successor goes on', async (c) => {
  const { hub, systemd } = c;
  systemd.stuck.add('ingle-audio.service');
  const asked = order(hub, 'ingle-audio', 'stop');
  await until(() => systemd.orders.length > 0, 'the order to reach systemd');
  await ended(c.supervisor, 'SIGKILL', 'the supervisor');
  const r = await asked;
  assert.equal([r.status, r.body.error], [503, 'unavailable']);
  assert.match(r.body.message, 'GET /api/services/ingle-audio');
  systemd.stuck.clear();
  c.supervisor = await supervise(c);
  assert.is((await order(hub, 'ingle-audio', 'start')).body.service.state, 'running');
});

test('without a supervisor the list stays, and orders say who could do them', async (c) => {
  await ended(c.supervisor, 'SIGKILL', 'the supervisor');
  const { body } = await c.hub.ask('GET', '/api/services', { as: {} });
  assert.is(body.services.find((s: { unit: string }) => s.unit === 'ingle-api').supervised, null);
  const r = await order(c.hub, 'ingle-api', 'restart');
  assert.equal([r.status, r.body.error], [501, 'not_supported']);
});

test('reliability tells what failed last, from the journal, and of the hub alone', async ({
  hub,
  journal,
}) => {
  const entry = { __REALTIME_TIMESTAMP: '1764000000000000', UNIT: 'ssh.service', UNIT_RESULT: 'signal' };
  journal.say([
    entry,
    { ...entry, UNIT: 'ingle-audio.service', UNIT_RESULT: 'watchdog' },
    { ...entry, UNIT: 7 },
  ]);
  const { status, body } = await hub.ask('GET', '/api/node/reliability', { as: {} });
  assert.is(status, 200);
  assert.equal(body.last_crash, { unit: 'ingle-audio', at: 1764000000, cause: 'watchdog' });
  assert.equal([body.restarts, body.boots.length, body.boots[0].end], [6, 1, 'running']);
  const audio = body.services.find((s: { unit: string }) => s.unit === 'ingle-audio');
  assert.equal([audio.restarts, audio.cause], [2, 'watchdog']);
});

test('the hub says what it is and what it has, and what it has not', async ({ hub }) => {
  const get = async (what: string, as = {}) => hub.ask('GET', `/api/node/${what}`, { as });
  assert.equal((await get('role')).body, { role: 'hub', hub_id: null, subnet_id: null });
  assert.equal((await get('members')).body.members, [
    { hub_id: null, role: 'hub', state: 'here', since: null },
  ]);
  const media = await get('media');
  assert.equal([media.status, media.body.error], [503, 'unavailable']);
  for (const what of ['reliability', 'role', 'members', 'media', 'workspaces'])
    assert.is((await get(what, { role: 'adult' })).status, 403, what);
});

test('while the hub drains, changes wait, reads go on, and it says so', async ({ hub }) => {
  const drain = (body: object) => hub.ask('POST', '/api/admin/drain', { as: {}, body });
  const change = () => hub.ask('POST', '/v1/icons/order', { as: {}, body: { order: [] } });
  const before = await change();
  const on = await drain({ on: true, seconds: 60 });
  assert.equal([on.body.state, on.body.why], ['draining', 'owner']);
  assert.equal(on.body.work, { requests: 0, streams: 0, sockets: 0, commands: 0 });
  const r = await change();
  assert.equal([r.status, r.body.error], [503, 'unavailable']);
  assert.ok(Number(r.headers.get('retry-after')) >= 1);
  assert.is((await hub.ask('GET', '/api/status', { as: {} })).status, 200);
  assert.is((await fetch(`${hub.base}/health/live`)).status, 200);
  assert.is((await fetch(`${hub.base}/health/ready`)).status, 503);
  assert.is((await drain({ on: false })).body.state, 'running');
  assert.is((await change()).status, before.status);
  assert.is((await drain({ on: true, seconds: 1 })).body.state, 'draining');
  const state = async () => (await hub.ask('GET', '/api/admin/lifecycle', { as: {} })).body.state;
  await until(async () => (await state()) === 'running', 'the drain to end by itself');
});

test("a drain is the elevated owner's, and wrong words are told as wrong", async ({ hub }) => {
  const ask = (path: string, body: unknown, as = {}) => hub.ask('POST', `/api/admin/${path}`, { as, body });
  for (const path of ['drain', 'shutdown']) {
    assert.is((await ask(path, {}, { role: 'adult' })).status, 403);
    assert.is((await ask(path, {}, { elevated_until: 1 })).status, 401);
  }
  for (const body of [
    {},
    { on: 'yes' },
    { on: true, seconds: 0 },
    { on: true, seconds: 1e9 },
    { on: true, x: 1 },
  ])
    assert.is((await ask('drain', body)).status, 400, JSON.stringify(body));
  for (const what of ['halt', '', null, 'reboot.target'])
    assert.is((await ask('shutdown', { what })).status, 400);
  assert.is((await hub.ask('GET', '/api/admin/lifecycle', { as: {} })).body.state, 'running');
});

test('a shutdown drains first, waits for nothing but what runs, and is asked for once', async ({
  hub,
  systemd,
}) => {
  const shutdown = () => hub.ask('POST', '/api/admin/shutdown', { as: {}, body: { what: 'restart' } });
  const r = await shutdown();
  assert.equal([r.status, r.body.state, r.body.why], [200, 'draining', 'shutdown']);
  assert.is((await shutdown()).body.error, 'conflict');
  await until(() => systemd.orders.length > 0, 'systemd to be told');
  assert.equal(systemd.orders, ['start replace-irreversibly reboot.target']);
});

test.run();
