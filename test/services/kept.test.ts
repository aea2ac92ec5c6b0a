// timeout: 240 s
// What a skill keeps, in its own process in its slot: over kills, an update that fails and the way back, and sleep.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skillBusName } from '../../firmware/skills/contract.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { connect } from '../../firmware/system/bus.ts';
import { tried, until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

const manifest = (version: string): Manifest => ({
  id: 'diary',
  version,
  capabilities: { visual: true, ui: { title: 'Diary', modes: ['modal'], schema: 'ui/v0' } },
});
const code = (migrate = '') => `
export const skill = { ${migrate} start: (ctx) => ({
  async timer(f) { await ctx.storage.set('fired', (ctx.storage.get('fired') ?? 0) + 1); },
  endpoints: [
    { method: 'POST', path: '/v1/count', async answer() {
      await ctx.storage.set('n', (ctx.storage.get('n') ?? 0) + 1);
      return { body: {} };
    } },
    { method: 'POST', path: '/v1/timer', async answer({ body }) {
      await ctx.timers.set('t', Date.now() + body.ms);
      return { body: {} };
    } },
    { method: 'POST', path: '/v1/kept', answer: () => ({ body: {
      pid: process.pid, n: ctx.storage.get('n') ?? 0, fired: ctx.storage.get('fired') ?? 0 } }) },
  ],
}) };`;

interface Context {
  hub: TestHub;
  runs: () => Promise<boolean>;
  bundle: string;
}
const test = suite<Context>('what skills keep');
test.before(async (c) => {
  c.hub = await startHub({
    skills: [],
    startable: ['diary'],
    installed: [{ manifest: manifest('1.0.0'), code: { text: code() } }],
    env: { INGLE_IDLE_MS: '1500' },
  });
  const bus = await connect(c.hub.bus.address);
  c.runs = async () => (await bus.listNames()).includes(skillBusName(c.hub.slotOf('diary')));
  c.bundle = join(c.hub.data, 'skills/bundles/diary-1.0.0');
});
test.after((c) => c.hub.stop());

const post = async (hub: TestHub, path: string, body = {}) => {
  const r = await hub.ask('POST', `/skills/diary/v1/${path}`, { as: {}, body });
  return r.status === 200 ? r.body : undefined;
};
const posted = (hub: TestHub, path: string, body = {}) =>
  until(
    tried(() => post(hub, path, body)),
    `an answer to ${path}`,
  ) as Promise<{ pid: number; n: number; fired: number }>;
const asleep = (runs: Context['runs']) =>
  until(
    tried(async () => !(await runs())),
    'the skill to sleep',
  );
/** The bundle is another's from now on; ingle-api learns of it at its start, as nobody installs here. */
const become = async ({ hub, bundle }: Pick<Context, 'hub' | 'bundle'>, version: string, text: string) => {
  await hub.kill('api');
  writeFileSync(join(bundle, 'manifest.json'), JSON.stringify(manifest(version)));
  writeFileSync(join(bundle, 'skill.js'), text);
  await hub.startApi();
};

test('what it stored is there after kill -9 and after sleep', async ({ hub, runs }) => {
  await hub.available('diary');
  await posted(hub, 'count');
  const { pid, n } = await posted(hub, 'kept');
  assert.is(n, 1);
  process.kill(pid, 'SIGKILL');
  await asleep(runs);
  await posted(hub, 'count');
  await asleep(runs);
  assert.is((await posted(hub, 'kept')).n, 2);
});

test('it stays awake while it has a timer, which fires, and goes when there is none', async ({
  hub,
  runs,
}) => {
  const { pid } = await posted(hub, 'kept');
  await posted(hub, 'timer', { ms: 4000 });
  const fired = await until(
    tried(async () => {
      const file = join(hub.data, `skill-${hub.slotOf('diary')}`, '.kept/data.json');
      return JSON.parse(readFileSync(file, 'utf8')).values['']?.fired === 1 && (await runs());
    }),
    'the timer to fire',
  );
  assert.ok(fired);
  assert.is((await posted(hub, 'kept')).pid, pid, 'the same process all the time');
  await asleep(runs);
});

test('a timer that a kill made it miss fires at the next start', async ({ hub, runs }) => {
  await posted(hub, 'timer', { ms: 600_000 });
  const { pid } = await posted(hub, 'kept');
  process.kill(pid, 'SIGKILL');
  await asleep(runs);
  const file = join(hub.data, `skill-${hub.slotOf('diary')}`, '.kept/data.json');
  const kept = JSON.parse(readFileSync(file, 'utf8'));
  kept.timers.t.due = Date.now() - 5000;
  writeFileSync(file, JSON.stringify(kept));
  await until(
    tried(async () => (await post(hub, 'kept'))?.fired === 2),
    'it to fire',
  );
});

test('an update that cannot migrate does not start and says why; the old version has its data', async ({
  hub,
  runs,
  bundle,
}) => {
  const at = { hub, bundle };
  assert.is(dirname(bundle), join(hub.data, 'skills/bundles'));
  await asleep(runs);
  await become(
    at,
    '2.0.0',
    code("async migrate({ storage }) { await storage.set('n', 99); throw new Error('no'); },"),
  );
  const r = await hub.ask('POST', '/skills/diary/v1/kept', { as: {} });
  assert.is(r.status, 503);
  assert.match(r.body.message, /version 1\.0\.0 cannot be brought to 2\.0\.0: no\. .*use version 1\.0\.0/);
  await asleep(runs);
  await become(at, '1.0.0', code());
  assert.is((await posted(hub, 'kept')).n, 2);
  await asleep(runs);
  await become(at, '2.0.0', code("migrate: ({ storage }) => storage.set('n', storage.get('n') + 40),"));
  assert.is((await posted(hub, 'kept')).n, 42);
  await asleep(runs);
  await become(at, '1.0.0', code());
  assert.is((await posted(hub, 'kept')).n, 2, 'the way back');
});

test.run();
