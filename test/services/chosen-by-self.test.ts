// timeout: 240 s
// A slot for which one skill fits has it without a question; two that fit are a person's choice; none is told in words.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { tried, until } from '../lab/wait.ts';
import { file } from '../skills/archive.ts';
import { clerk, clerkCode } from './clerk.ts';
import { serveUplink, startHub, type TestHub } from './hub.ts';

/** Adds, and cannot do the other action. */
const adder: Manifest = clerk('adder');
delete adder.capabilities.actions!['never'];
/** Of another name for the same: for the owner only, so no program may ask it. */
const hidden: Manifest = clerk('hidden', true);

const test = suite<{ hub: TestHub; bus: Bus }>('chosen by itself');
test.before(async (c) => {
  c.hub = await startHub({ env: { INGLE_LANG: 'en' }, pool: true });
  c.bus = await connect(c.hub.bus.address);
  await serveUplink(c.bus);
  await c.hub.startService('scenario', scenario1.bus);
  await c.hub.ask('POST', '/api/skills/developer', { body: { on: true } });
  for (const m of [clerk('clerk'), adder, hidden]) {
    const files = [file('manifest.json', JSON.stringify(m)), file('skill.js', clerkCode)];
    const r = await c.hub.ask('POST', '/api/skills/install', { raw: packSkill(files).bytes });
    assert.is(r.status, 200, JSON.stringify(r.body));
    await until(
      tried(async () => (await c.hub.ask('GET', `/skills/${m.id}/v1/seen`)).status === 200),
      `the skill ${m.id}`,
    );
  }
});
test.after(async (c) => {
  c.bus.close();
  await c.hub.stop();
});

const slotted = async (hub: TestHub, name: string, methods: string[], more: object = {}) => {
  const steps = [
    { id: 'first', do: 'call', slot: 'sum', method: 'add', args: { n: 1 }, alias: 'got' },
    // What is asked for counts, done or not.
    ...methods.slice(1).map((method, i) => ({ id: `m${i}`, do: 'call', slot: 'sum', method, if: 'ctx.all' })),
  ];
  const prototype = {
    ...{ id: `test/${name}`, version: '1.0.0', dslVersion: '1', name, steps },
    slots: { sum: { cap: 'sums', ...more } },
  };
  const r = await hub.ask('POST', '/api/scenarios/push', { body: { prototype } });
  assert.is(r.status, 200, JSON.stringify(r.body));
};
const shown = async (hub: TestHub, name: string) =>
  (await hub.ask('GET', '/api/scenarios/prototypes')).body.prototypes.find(
    (p: { id: string }) => p.id === `test/${name}`,
  );
const run = (hub: TestHub, name: string) =>
  hub.ask('POST', '/api/scenario/run', { body: { id: `test/${name}` } });
const end = async (hub: TestHub, run_id: string) => {
  const status = async () => (await hub.ask('GET', `/api/scenario/status?run_id=${run_id}`)).body;
  await until(async () => (await status()).finished_at, `the end of ${run_id}`);
  return status();
};
const sumOf = async (hub: TestHub, skill: string) =>
  (await hub.ask('GET', `/skills/${skill}/v1/seen`)).body.n as number;

test('the only skill that fits is the one, and it is shown', async ({ hub }) => {
  await slotted(hub, 'one', ['add', 'never']);
  const { unbound, chosen } = await shown(hub, 'one');
  assert.equal([unbound, chosen], [[], { sum: 'clerk' }]);
  const before = await sumOf(hub, 'clerk');
  const { body } = await run(hub, 'one');
  assert.is((await end(hub, body.run_id)).state, 'DONE');
  assert.is(await sumOf(hub, 'clerk'), before + 1);
});

test('of two that fit none is taken until a person chooses', async ({ hub }) => {
  await slotted(hub, 'two', ['add']);
  const { unbound, chosen } = await shown(hub, 'two');
  assert.equal([unbound, chosen], [['sum'], {}]);
  const refused = await run(hub, 'two');
  assert.equal([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /Choose a skill for "sum"/);
  const bindings = { slots: { sum: { skill: 'adder' } } };
  assert.is((await hub.ask('PATCH', '/api/scenarios/impl/me/test.two', { body: { bindings } })).status, 200);
  const before = await sumOf(hub, 'adder');
  const { body } = await run(hub, 'two');
  assert.is((await end(hub, body.run_id)).state, 'DONE');
  assert.is(await sumOf(hub, 'adder'), before + 1);
});

test('a slot that can be empty is filled by itself, unless a person says that it stays empty', async ({
  hub,
}) => {
  await slotted(hub, 'may', ['add', 'never'], { optional: true });
  assert.equal((await shown(hub, 'may')).chosen, { sum: 'clerk' });
  const bindings = { slots: { sum: { skill: null } } };
  const r = await hub.ask('PATCH', '/api/scenarios/impl/me/test.may', { body: { bindings } });
  assert.equal([r.status, r.body.implementation?.bindings], [200, bindings]);
  assert.equal([(await shown(hub, 'may')).unbound, (await shown(hub, 'may')).chosen], [[], {}]);
  const before = await sumOf(hub, 'clerk');
  const { body } = await run(hub, 'may');
  await end(hub, body.run_id);
  assert.is(await sumOf(hub, 'clerk'), before);
});

test('a skill that is gone leaves a clear error, and its place to the one that is left', async ({ hub }) => {
  await slotted(hub, 'left', ['add']);
  assert.equal((await shown(hub, 'left')).unbound, ['sum']);
  const remove = async (id: string) => {
    const r = await hub.ask('DELETE', `/api/skills/${id}`);
    assert.is(r.status, 200, JSON.stringify(r.body));
    await until(async () => {
      const { actions } = (await hub.ask('GET', '/api/skills/actions')).body;
      return !actions.some((a: { skill_id: string }) => a.skill_id === id);
    }, `the end of ${id}`);
  };
  await remove('clerk');
  const refused = await run(hub, 'one');
  assert.equal([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.message, /Choose a skill for "sum" in the settings/);
  assert.equal((await shown(hub, 'one')).unbound, ['sum']);
  assert.equal((await shown(hub, 'left')).chosen, { sum: 'adder' });
  await remove('adder');
  const { body } = await run(hub, 'two');
  const { state, error } = await end(hub, body.run_id);
  assert.equal([state, error.code], ['FAILED', 'not_found']);
  assert.match(error.message, /There is no skill "adder"/);
});

test.run();
