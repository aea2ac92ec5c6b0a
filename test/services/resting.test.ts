// timeout: 120 s
// ingle-scenario is there while something goes on, sleeps or is planned, and not a minute longer; a mark says so to systemd.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { choicesOf } from '../../firmware/system/config.ts';
import { ended } from '../lab/child.ts';
import { until } from '../lab/wait.ts';
import { serveUplink, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub; bus: Bus }>('scenarios at rest');
test.before(async (c) => {
  c.hub = await startHub({ env: { INGLE_IDLE_MS: '1500' } });
  c.bus = await connect(c.hub.bus.address);
  await serveUplink(c.bus);
});
test.after(async (c) => {
  c.bus.close();
  await c.hub.stop();
});
const isMarked = (hub: TestHub) => existsSync(join(hub.data, 'scenario/needed'));
const isThere = async (bus: Bus) => (await bus.listNames()).includes(scenario1.bus);
const job = (at: number) => ({
  body: { scenario_id: 'home/weather_on_request', at: new Date(at).toISOString() },
});

test('with nothing to do it leaves, and takes its mark along', async ({ hub, bus }) => {
  await hub.startService('scenario', scenario1.bus);
  assert.ok(isMarked(hub), 'while it runs, a crash finds the mark');
  await until(async () => !(await isThere(bus)), 'it leaves');
  await until(() => !isMarked(hub), 'the mark goes');
});

test('with a job it stays, and its mark outlives a kill; when the job is gone it leaves', async ({
  hub,
  bus,
}) => {
  await hub.startService('scenario', scenario1.bus);
  const rules = { bindings: {}, rules: [] };
  assert.is((await hub.ask('PUT', '/api/intent/rules', { body: rules })).status, 200);
  await hub.ask('PATCH', '/api/scenarios/impl/me/home.weather_on_request', {
    body: { bindings: { slots: { weather: { skill: 'weather' } } } },
  });
  const made = await hub.ask('POST', '/api/schedule/create', job(Date.now() + 3_600_000));
  assert.is(made.status, 200, JSON.stringify(made.body));
  const pid = hub.children.get('scenario')!.pid;
  await new Promise((r) => setTimeout(r, 4000));
  assert.ok(await isThere(bus));
  assert.is(hub.children.get('scenario')!.pid, pid);
  await hub.kill('scenario');
  assert.ok(isMarked(hub));
  await hub.startService('scenario', scenario1.bus);
  await hub.ask('POST', '/api/schedule/delete', { body: made.body });
  await until(async () => !(await isThere(bus)), 'it leaves');
  await until(() => !isMarked(hub), 'the mark goes');
});

test('when the last run is over it leaves, though nobody calls it', async ({ hub, bus }) => {
  await hub.startService('scenario', scenario1.bus);
  await hub.ask('POST', '/api/skills/developer', { body: { on: true } });
  const prototype = {
    ...{ id: 'test/nap', version: '1.0.0', dslVersion: '1', name: 'Nap' },
    steps: [{ id: 'd', do: 'delay', for: '4s' }],
  };
  assert.is((await hub.ask('POST', '/api/scenarios/push', { body: { prototype } })).status, 200);
  const run = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/nap' } });
  assert.is(run.status, 200, JSON.stringify(run.body));
  await new Promise((r) => setTimeout(r, 3000));
  assert.ok(await isThere(bus), 'it sleeps, and is there');
  await until(async () => !(await isThere(bus)), 'it leaves');
});

test('where the hub wakes at a phrase it stays, and an orderly stop leaves the mark for the next start', async ({
  hub,
  bus,
}) => {
  const choices = choicesOf(hub);
  mkdirSync(dirname(choices), { recursive: true });
  writeFileSync(choices, JSON.stringify({ wake_by_phrase: true }));
  await hub.startService('scenario', scenario1.bus);
  await new Promise((r) => setTimeout(r, 3000));
  assert.ok(await isThere(bus));
  await ended(hub.children.get('scenario')!, 'SIGTERM', 'scenario');
  assert.ok(isMarked(hub));
  rmSync(choices);
});

test.run();
