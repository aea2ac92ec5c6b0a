// timeout: 240 s
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// A secret goes to the skill that needs it, and is found nowhere else: not in the database, the log, the events or answers.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { start, stop } from '../../firmware/system/exec.ts';
import { tethered } from '../lab/child.ts';
import { programOf } from '../lab/program.ts';
import { tried, until } from '../lab/wait.ts';
import { serveUplink, startHub, type TestHub } from './hub.ts';

const SECRET = 'Sesam-öffne-dich-4711';
const DEVICE = 'zigbee-00:17:88:01';

const echo: Manifest = {
  id: 'echo',
  version: '1.0.0',
  capabilities: { visual: true, ui: { title: 'Echo', modes: ['modal'], schema: 'ui/v0' } },
};
const code = `
const got = [];
export const skill = { start: () => ({ endpoints: [
  { method: 'POST', path: '/v1/say', answer: ({ body }) => { got.push(body); return { body: { said: body, again: 'It is ' + body.token } }; } },
  { method: 'POST', path: '/v1/fail', answer: ({ body }) => ({ status: 409, body: { error: 'conflict', message: 'Not with ' + body.token } }) },
  { method: 'GET', path: '/v1/got', answer: () => ({ body: { got } }) },
] }) };`;

const test = suite<{ hub: TestHub; bus: Bus; log: { text: string }; end(): Promise<void>; events: string[] }>(
  'sealed',
);
test.before(async (c) => {
  c.hub = await startHub({
    env: { INGLE_LANG: 'en' },
    installed: [{ manifest: echo, code: { text: code } }],
    skills: ['echo'],
  });
  c.bus = await connect(c.hub.bus.address);
  await serveUplink(c.bus);
  c.events = [];
  for (const topic of ['scenario.*', 'step.*', 'io.*'])
    await c.bus.subscribe(topic, (t, p) => void c.events.push(`${t} ${JSON.stringify(p)}`));
  c.log = { text: '' };
  const [first, ...rest] = [...tethered, process.execPath, ...programOf('services/scenario/main.ts')];
  const service = start(first!, rest, {
    env: { ...c.hub.env, INGLE_LOG: 'debug' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const out of [service.stdout!, service.stderr!]) out.on('data', (d) => (c.log.text += d));
  c.end = () => stop(service);
  await until(
    tried(async () => (await c.bus.listNames()).includes(scenario1.bus)),
    'the service',
  );
  await c.hub.ask('POST', '/api/skills/developer', { body: { on: true } });
});
test.after(async (c) => {
  await c.end();
  c.bus.close();
  await c.hub.stop();
});

const at = '/api/scenarios/impl/me/test.sealed';
const args = { token: '${secret.token}', to: 'device ${device.lamp}' };
const steps = [
  { id: 'good', call: 'skills.run', args: { skill: 'echo', action: 'say', args }, alias: 'got' },
  { id: 'keep', call: 'memory.set', args: { key: 'user.kept', value: '${got.again}' } },
  { id: 'print', call: 'io.console.print', args: { text: '${got.said.token} ${got.again}' } },
  { id: 'shown', call: 'io.console.print', args: { text: 'x ${secret.token}' }, onError: 'go' },
  { id: 'planned', call: 'schedule.at', args: { in: '1h', scenario: 'x', ctx: args }, onError: 'go' },
  { id: 'bad', call: 'skills.run', args: { skill: 'echo', action: 'fail', args } },
];
/** Where it was found. */
const found = (where: string, text: string): string[] =>
  [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64'), DEVICE].flatMap((v) =>
    text.includes(v)
      ? [`${v} in ${where}: ${text.slice(Math.max(0, text.indexOf(v) - 80), text.indexOf(v) + 40)}`]
      : [],
  );

test('a secret that is not set stops its step in words, and what is asked for is listed', async ({ hub }) => {
  const prototype = { id: 'test/sealed', version: '1.0.0', dslVersion: '1', name: 'Sealed', steps };
  const pushed = await hub.ask('POST', '/api/scenarios/push', { body: { prototype } });
  assert.is(pushed.status, 200, JSON.stringify(pushed.body));
  const { body } = await hub.ask('POST', '/api/scenario/run', { body: { id: 'test/sealed' } });
  const status = async () => (await hub.ask('GET', `/api/scenario/status?run_id=${body.run_id}`)).body;
  await until(async () => (await status()).finished_at, 'its end');
  assert.match((await status()).error.message, /The secret "token" is not set/);
  const { prototypes } = (await hub.ask('GET', '/api/scenarios/prototypes')).body;
  const { secrets, devices } = prototypes.find((p: { id: string }) => p.id === 'test/sealed');
  assert.equal([secrets, devices], [{ token: false }, { lamp: false }]);
});

test('it goes to the skill, and is found nowhere else', async ({ hub, log, events }) => {
  const answers: string[] = [];
  const ask = async (method: string, path: string, body?: object) => {
    const r = await hub.ask(method, path, body ? { body } : {});
    answers.push(`${method} ${path} ${JSON.stringify(r.body)}`);
    return r;
  };
  const bindings = { secrets: { token: { value: SECRET } }, devices: { lamp: { device_id: DEVICE } } };
  const set = await ask('PATCH', at, { bindings });
  assert.equal(set.body.implementation.bindings, { secrets: { token: {} }, devices: { lamp: {} } });
  // Sent back as it was shown, it is kept.
  assert.is((await ask('PATCH', at, { bindings: set.body.implementation.bindings })).status, 200);
  await ask('GET', at);
  const rehearsed = await ask('POST', '/api/scenarios/test.sealed/rehearse', {});
  assert.equal(rehearsed.body.steps[0].args.args, args);
  const { body } = await ask('POST', '/api/scenario/run', { id: 'test/sealed' });
  const status = () => ask('GET', `/api/scenario/status?run_id=${body.run_id}`);
  await until(async () => (await status()).body.finished_at, 'its end');
  const { state, error, journal } = (await status()).body;
  assert.equal([state, error.code, error.message], ['FAILED', 'conflict', 'Not with •••']);
  const codes = Object.fromEntries(
    journal.flatMap((j: { step_name: string; error?: { code: string } }) =>
      j.error ? [[j.step_name, j.error.code]] : [],
    ),
  );
  assert.equal([codes.shown, codes.planned], ['forbidden', 'forbidden']);
  for (const path of [
    '/api/scenario/runs',
    '/api/scenarios/instances',
    '/api/scenarios/dead-letters',
    '/api/schedule/list',
    '/api/metrics',
    '/api/scenarios/prototypes',
    '/api/observe/tail',
  ])
    await ask('GET', path);

  const { got } = (await hub.ask('GET', '/skills/echo/v1/got')).body;
  assert.equal(got.at(-1), { token: SECRET, to: `device ${DEVICE}` }, 'the skill has it');
  await until(() => events.some((e) => e.startsWith('scenario.finish')), 'the events');
  assert.match(log.text, /step\.finish/, 'the log is as wordy as it can be');
  const folder = join(hub.data, 'scenario');
  const files = readdirSync(folder);
  assert.ok(files.some((f) => f.endsWith('.db')) && files.some((f) => f.endsWith('.key')));
  const all = [
    ...files.flatMap((f) => found(f, readFileSync(join(folder, f), 'utf8'))),
    ...found('the log', log.text),
    ...events.flatMap((e) => found('an event', e)),
    ...answers.flatMap((a) => found('an answer', a)),
  ];
  assert.equal(all, []);
});

test('it is gone when its name is left out', async ({ hub }) => {
  assert.is((await hub.ask('PATCH', at, { body: { bindings: { secrets: {} } } })).status, 200);
  const { prototypes } = (await hub.ask('GET', '/api/scenarios/prototypes')).body;
  const { secrets, devices } = prototypes.find((p: { id: string }) => p.id === 'test/sealed');
  assert.equal([secrets, devices], [{ token: false }, { lamp: false }]);
  const refused = await hub.ask('PATCH', at, { body: { bindings: { secrets: { token: {} } } } });
  assert.equal([refused.status, refused.body.error], [400, 'invalid_request']);
});

test.run();
