// timeout: 240 s
// A skill that the bus can start goes when nobody needs it, and is there again for whoever does.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import { skillBusName } from '../../firmware/skills/contract.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { connect } from '../../firmware/system/bus.ts';
import { tried, until } from '../lab/wait.ts';
import { manifest } from '../skills/archive.ts';
import { startHub, type TestHub } from './hub.ts';

const id = 'hub_status';
/** A skill that notes how late its timer fired. */
const alarm = `export const skill = { start: (ctx) => ({
  timer: (f) => ctx.storage.set('fired', [...(ctx.storage.get('fired') ?? []), f.late]),
  endpoints: [
    { method: 'POST', path: '/v1/set', answer: async ({ body }) => {
      await ctx.timers.set('t', body.due);
      return { body: { ok: true } };
    } },
    { method: 'GET', path: '/v1/fired', answer: () => ({ body: { fired: ctx.storage.get('fired') ?? [] } }) },
  ] }) };`;
const test = suite<{ hub: TestHub; runs: () => Promise<boolean> }>('sleep');
test.before(async (c) => {
  c.hub = await startHub({
    skills: [id],
    startable: [id, 'alarm'],
    installed: [{ manifest: checkManifest(manifest('alarm', '1.0.0')), code: { text: alarm } }],
    env: { INGLE_IDLE_MS: '1500' },
  });
  const bus = await connect(c.hub.bus.address);
  c.runs = async () => (await bus.listNames()).includes(skillBusName(c.hub.slotOf(id)));
});
test.after((c) => c.hub.stop());

const icon = async (hub: TestHub) =>
  (await hub.ask('GET', '/v1/icons', { as: {} })).body.find((i: { skill_id: string }) => i.skill_id === id);

test('a skill nobody looks at goes, and its icon stays usable', async ({ hub, runs }) => {
  await hub.available(id);
  await until(
    tried(async () => !(await runs())),
    'the skill to sleep',
  );
  await until(
    tried(() => hub.children.get(id)?.exitCode === 0),
    'its end in order',
  );
  assert.is((await icon(hub)).available, true);
});

test('a request wakes it and is answered', async ({ hub, runs }) => {
  await until(
    tried(async () => !(await runs())),
    'the skill to sleep',
  );
  const r = await hub.ask('POST', `/skills/${id}/v1/refresh`, { as: {} });
  assert.is(r.status, 200, JSON.stringify(r.body));
  assert.is((await hub.ask('GET', `/skills/${id}/v1/state`, { as: {} })).body.refresh.count, 1);
});

test('an open window wakes it, keeps it, and shows what was measured before the sleep', async ({
  hub,
  runs,
}) => {
  await until(
    tried(async () => !(await runs())),
    'the skill to sleep',
  );
  const doc = new Y.Doc();
  const room = `o1/${id}/state:main`;
  const provider = new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, room, doc, {
    WebSocketPolyfill: hub.webSocket({}),
    disableBc: true,
  });
  const samples = () => (readContent(doc)['samples'] ?? []) as { at: number }[];
  const before = await until(
    tried(() => samples()[0]),
    'the stored state',
  );
  const count = samples().length;
  await until(
    tried(() => samples().length >= count + 2),
    'new samples',
  );
  assert.equal(samples()[0], before);
  // It measures every two seconds while somebody looks: that was longer than its idle time.
  assert.ok(await runs());
  provider.destroy();
  doc.destroy();
  await until(
    tried(async () => !(await runs())),
    'the skill to sleep',
  );
});

test('a window lost with the API does not keep the skill', async ({ hub, runs }) => {
  const doc = new Y.Doc();
  const room = `o1/${id}/state:main`;
  const provider = new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, room, doc, {
    WebSocketPolyfill: hub.webSocket({}),
    disableBc: true,
  });
  const samples = () => ((readContent(doc)['samples'] ?? []) as unknown[]).length;
  const count = await until(tried(samples), 'the stored state');
  await until(
    tried(() => samples() >= count + 2),
    'new samples',
  );
  await hub.kill('api');
  provider.destroy();
  doc.destroy();
  await hub.startApi();
  await until(
    tried(async () => !(await runs())),
    'the skill to sleep',
  );
});

test('a skill that does not wake is unavailable, until it does', async ({ hub, runs }) => {
  await until(
    tried(async () => !(await runs())),
    'the skill to sleep',
  );
  const start = join(hub.activation, 'start');
  const whole = readFileSync(start);
  writeFileSync(start, 'exit 1\n');
  const refused = await hub.ask('POST', `/skills/${id}/v1/refresh`, { as: {} });
  assert.is(refused.status, 503);
  assert.is(refused.body.error, 'unavailable');
  assert.is((await icon(hub)).available, false);
  writeFileSync(start, whole);
  assert.is((await hub.ask('POST', `/skills/${id}/v1/refresh`, { as: {} })).status, 200);
  assert.is((await icon(hub)).available, true);
});

test('a skill with a timer sleeps as well, and is woken for it, though the API was away when it was due', async ({
  hub,
}) => {
  const bus = await connect(hub.bus.address);
  const awake = async () => (await bus.listNames()).includes(skillBusName(hub.slotOf('alarm')));
  const ask = async (method: string, path: string, body?: object) =>
    (await hub.ask(method, `/skills/alarm/v1/${path}`, { as: {}, ...(body ? { body } : {}) })).body;
  const due = Date.now() + 38_000;
  assert.equal(await ask('POST', 'set', { due }), { ok: true });
  await until(
    tried(async () => !(await awake())),
    'the skill to sleep',
  );
  assert.ok(Date.now() < due, 'before its timer is due');
  await hub.kill('api');
  await until(() => Date.now() > due + 500, 'the time to pass');
  assert.not.ok(await awake());
  await hub.startApi();
  await until(tried(awake), 'the skill to be woken');
  const { fired } = await until(
    tried(async () => {
      const said = await ask('GET', 'fired');
      return said.fired.length > 0 ? said : undefined;
    }),
    'its timer to fire',
  );
  assert.is(fired.length, 1, 'once');
  assert.ok(fired[0] > 0, 'late');
  bus.close();
});

test.run();
