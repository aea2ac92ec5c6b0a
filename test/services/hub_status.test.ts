// timeout: 240 s
import { readFileSync } from 'node:fs';
import { release } from 'node:os';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { connect } from '../../firmware/system/bus.ts';
import { introspection } from '../../firmware/system/contract.ts';
import { inLanguage, languages } from '../../firmware/text/i18n.ts';
import { validateView } from '../../firmware/ui/schema.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { cpuPercent, parseMeminfo, parseStat, parseUptime } from '../../services/skills/hub_status/proc.ts';
import { hubStatusView } from '../../services/skills/hub_status/view.ts';
import { tried, until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';
import { quietSkill } from './posed.ts';

const flood: Manifest = {
  id: 'flood',
  version: '1.0.0',
  capabilities: { visual: true, ui: { title: 'Flood', modes: ['modal'], schema: 'ui/v0' } },
};

const test = suite<{ hub: TestHub }>('hub_status');
test.before(async (c) => {
  c.hub = await startHub({
    skills: ['hub_status'],
    installed: [{ manifest: flood, code: { text: '' } }],
    env: { INGLE_NAME: 'Кухня', INGLE_LANG: 'ru', INGLE_KEPT: 'io.ingle.Uplink1' },
  });
});
test.after((c) => c.hub.stop());

const proc = (name: string) => readFileSync(`/proc/${name}`, 'utf8');

test("the numbers are the machine's own", async ({ hub }) => {
  const before = parseUptime(proc('uptime'));
  const s = (await hub.ask('GET', '/skills/hub_status/v1/status/summary', { as: {} })).body;
  const after = parseUptime(proc('uptime'));
  assert.ok(s.uptime.seconds >= before && s.uptime.seconds <= after);
  assert.is(s.memory.total_kib, parseMeminfo(proc('meminfo')).total_kib);
  assert.ok(s.memory.used_kib > 0 && s.memory.used_kib < s.memory.total_kib);
  assert.ok(s.cpu.percent >= 0 && s.cpu.percent <= 100);
  assert.is(s.versions.node, process.versions.node);
  assert.is(s.versions.kernel, release());
  assert.match(s.versions.sqlite, /^3\.\d+\.\d+$/);
  assert.is(s.name, 'Кухня');
  const unit = (name: string) => s.services.find((u: { unit: string }) => u.unit === name);
  assert.ok(unit('ingle-api').running && unit('hub_status (ingle-skill@1)').running);
  assert.not(unit('ingle-uplink').running);
  assert.equal(unit('ingle-uplink').state, { i18n: { en: 'not running', ru: 'не работает' } });
  assert.match(s.uptime.text.i18n.en, /min/);
  assert.match(s.uptime.text.i18n.ru, /мин/);
});

test('what the kernel says is read right', () => {
  const a = parseStat('cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 1 1 1\n');
  const b = parseStat('cpu  150 0 50 850 50 0 0 0 0 0\n');
  assert.equal(a, { busy: 150, total: 1000 });
  assert.is(cpuPercent(a, b), 50);
  assert.is(cpuPercent(a, a), null);
  assert.equal(parseMeminfo('MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  400 kB\n'), {
    total_kib: 1000,
    used_kib: 600,
  });
});

test('its view has its texts in every language, its icon the title in all, its manifest in this one', async ({
  hub,
}) => {
  const view = hubStatusView();
  assert.equal(validateView(view), []);
  const texts = view.meta!['texts'] as Record<string, unknown>;
  for (const [, key] of JSON.stringify(view.layout).matchAll(/\{\{meta\.texts\.(\w+)\}\}/g))
    for (const l of languages) assert.type(inLanguage(texts[key!], l), 'string', `${key} in ${l}`);
  const m = (await hub.ask('GET', '/skills/hub_status/v1/ui/manifest', { as: {} })).body;
  assert.is(m.title, 'Состояние хаба');
  const page = await hub.ask('GET', '/skills/hub_status/v1/ui/panel?lang=en', { as: {} });
  assert.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(page.headers.get('content-security-policy')!, /^sandbox; default-src 'none'/);
  assert.match(page.body, /<h2>Кухня<\/h2>.*<dt>Uptime<\/dt>/);
  const icons = (await hub.ask('GET', '/v1/icons', { as: {} })).body as { skill_id: string }[];
  const icon = icons.find((i) => i.skill_id === 'hub_status') as unknown as Record<string, unknown>;
  assert.is(icon['title'], 'Состояние хаба');
  assert.equal(icon['titles'], { en: 'Hub status', ru: 'Состояние хаба' });
});

test('a refresh counts up and tells when', async ({ hub }) => {
  const state = async () => (await hub.ask('GET', '/skills/hub_status/v1/state', { as: {} })).body.refresh;
  const before = await state();
  assert.is((await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} })).status, 200);
  const after = await state();
  assert.is(after.count, before.count + 1);
  assert.ok(Date.parse(after.refreshed_at) <= Date.now());
  assert.match(after.text.i18n.en, after.count === 1 ? /, once$/ : / times$/);
  assert.match(after.text.i18n.ru, /раз/);
});

test('the skill on the bus is what its contract says', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  const [xml] = await bus.call(
    skillBusName(hub.slotOf('hub_status')),
    skill1.path,
    'org.freedesktop.DBus.Introspectable',
    'Introspect',
  );
  assert.ok(String(xml).includes(introspection(skill1)));
  bus.close();
});

test('online sockets and pending routes are those of the link to root', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  const served = {
    ...{ connected: true, root: 'http://localhost:1', owner_id: '', subnet_id: '', hub_id: '', keys: '' },
    ...{ expires_at: 0n, browsers: 7, channels: 2, pending: 3, insecure: false, last_error: '' },
  };
  // The rest of the contract is not asked here.
  await bus.serve(uplink1, { Status: () => served } as never);
  const s = (await hub.ask('GET', '/skills/hub_status/v1/status/summary', { as: {} })).body;
  assert.equal([s.link.connected, s.link.sockets, s.link.pending], [true, 2, 3]);
  bus.close();
});

test('a skill that floods is unheard and shown as unavailable, while another goes on', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  const served = await bus.serve(skill1, quietSkill(flood), { busName: skillBusName(hub.slotOf('flood')) });
  await hub.available('flood');
  const icon = async (id: string) =>
    (await hub.ask('GET', '/v1/icons', { as: {} })).body.find((i: { skill_id: string }) => i.skill_id === id);
  for (let i = 0; i < 2000; i++)
    served.emit('Update', { owner_id: 'o1', doc: 'state:main', update: new Uint8Array([0, 0]) });
  await until(
    tried(async () => (await icon('flood')).available === false),
    'the flood to be unheard',
  );
  assert.is((await icon('hub_status')).available, true);
  assert.is((await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} })).status, 200);
  bus.close();
});

test.run();
