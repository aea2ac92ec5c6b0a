// timeout: 240 s
// Desktops on a running hub: what a role has and is refused, and what each device is told of an arrangement.
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import type { Principal } from '../../firmware/documents/acl.ts';
import { type JsonObject, readContent } from '../../firmware/documents/content.ts';
import { tried, until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('desktops');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status', 'weather'] });
});
const docs: Y.Doc[] = [];
test.after(async (c) => {
  await c.hub.stop();
  for (const doc of docs) doc.destroy();
});

const kid: Partial<Principal> = { owner_id: 'kid1', browser: 'tablet', role: 'kid', household: 'o1' };
type Closed = { code: number; reason: string };

function join(hub: TestHub, room: string, as: Partial<Principal> = {}) {
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, room, doc, {
    WebSocketPolyfill: hub.webSocket(as),
    disableBc: true,
    maxBackoffTime: 300,
  });
  docs.push(doc);
  const closed = new Promise<Closed>((resolve) => provider.on('closed', (c: Closed) => resolve(c)));
  const content = () => readContent(doc);
  return {
    ...{ provider, closed, content, end: () => provider.destroy() },
    has: (what: string, is: (content: JsonObject) => unknown) =>
      until(
        tried(() => provider.synced && Boolean(is(content()))),
        what,
      ),
  };
}

const set = async (hub: TestHub, change: object) => {
  const { etag } = (await hub.ask('GET', '/api/desktop')).body;
  const document = { ...defaultScenario, ...change };
  const r = await hub.ask('PUT', '/api/desktop', { as: {}, body: { document, etag } });
  assert.is(r.status, 200, JSON.stringify(r.body));
  return r.body;
};
const icons = async (hub: TestHub, as: Partial<Principal>) =>
  ((await hub.ask('GET', '/v1/icons', { as })).body as { skill_id: string }[]).map((i) => i.skill_id);
const arrange = (hub: TestHub, body: object, as: Partial<Principal> = {}) =>
  hub.ask('PUT', '/v1/icons/arrangement', { as, body });

test('a group that is made on one device shows on the other at once, and outlives kill -9', async ({
  hub,
}) => {
  const state = join(hub, 'owner/o1/icon_manager/state:main', { browser: 'phone2' });
  await state.has('an empty arrangement', (c) => (c['groups'] as unknown[] | undefined)?.length === 0);
  const groups = [{ name: 'Home', skills: ['hub_status', 'weather'] }];
  assert.equal((await arrange(hub, { groups, order: ['weather'] })).body, { ok: true });
  await hub.kill('api');
  await hub.startApi();
  await state.has('the group', (c) => JSON.stringify(c['groups']) === JSON.stringify(groups));
  assert.equal(state.content(), { pins: [], order: ['weather'], groups });
  const { body } = await hub.ask('GET', '/v1/icons', { as: {} });
  assert.equal(
    body.map((i: { skill_id: string; group: string }) => [i.skill_id, i.group]),
    [
      ['weather', 'Home'],
      ['hub_status', 'Home'],
    ],
  );
  await hub.ask('POST', '/v1/icons/pin', { as: {}, body: { skill_id: 'hub_status', pinned: true } });
  await state.has('the pin', (c) => String(c['pins']) === 'hub_status');
  assert.equal(state.content()['groups'], groups, 'a pin leaves the groups');
  await arrange(hub, { groups: [], pins: [], order: [] });
  await state.has('nothing', (c) => (c['groups'] as unknown[]).length === 0);
  state.end();
});

test('a wrong arrangement is refused whole, with each fault', async ({ hub }) => {
  await arrange(hub, { order: ['weather', 'hub_status'] });
  const r = await arrange(hub, {
    order: ['hub_status'],
    groups: [{ name: 'A', skills: ['weather', 'weather', 'nobody'] }],
  });
  assert.is(r.status, 400);
  assert.equal(
    r.body.details.faults.map((f: { pointer: string }) => f.pointer),
    ['/groups/0/skills/1', '/groups/0/skills/2'],
  );
  for (const name of ['', ' A', 'A ', 'a\u202eb', 'a\nb', 'x'.repeat(41)])
    assert.is((await arrange(hub, { groups: [{ name, skills: ['weather'] }] })).status, 400, name);
  assert.equal(await icons(hub, {}), ['weather', 'hub_status']);
});

test("nobody but the hub writes a desktop's documents, and nobody reads another's", async ({ hub }) => {
  const mine = join(hub, 'o1/icon_manager/state:main');
  await mine.has('the arrangement', (c) => c['order']);
  const closed = mine.closed;
  mine.provider.doc.getMap('content').set('pins', ['evil']);
  assert.match((await closed).reason, /forbidden/);
  mine.end();
  const other = join(hub, 'o1/desktop/view:main', kid);
  assert.match((await other.closed).reason, /forbidden/);
  other.end();
  assert.equal((await hub.ask('GET', '/v1/icons', { as: {} })).body[0].pinned, false);
});

test('each role has its desktop, and documents of its own that follow a new one at once', async ({ hub }) => {
  const view = join(hub, 'kid1/desktop/view:main', kid);
  const manager = join(hub, 'kid1/icon_manager/view:main', kid);
  const shown = () => (manager.content()['icons'] as { skill_id: string }[]).map((i) => i.skill_id);
  await manager.has('the icons of a kid', (c) => c['icons']);
  assert.equal(shown(), ['weather'], 'what a manifest closes is not there');
  assert.equal(await icons(hub, {}), ['weather', 'hub_status']);
  await set(hub, { roles: { kid: { allowSkills: [], layout: { grid: { cols: 2 } } } } });
  await manager.has('no icons', () => shown().length === 0);
  await view.has('two columns', (c) => (c['layout'] as { grid: { cols: number } }).grid.cols === 2);
  assert.equal(await icons(hub, kid), []);
  assert.equal((await hub.ask('DELETE', '/api/desktop', { as: {} })).body, { ok: true });
  await manager.has('the icons again', () => shown().length === 1);
  view.end();
  manager.end();
});

test('what the desktop keeps from a role is refused at its paths and documents too', async ({ hub }) => {
  const reads = join(hub, 'o1/weather/view:main');
  await reads.has('the view', (c) => c['schema']);
  await set(hub, { policy: { allowSkills: ['hub_status'], ownerOnlySkills: [] } });
  assert.match((await reads.closed).reason, /forbidden/, 'a window that is open closes');
  reads.end();
  for (const as of [{}, kid]) {
    const code = async (method: string, path: string, body?: object) =>
      (await hub.ask(method, path, { as, ...(body ? { body } : {}) })).body.error;
    assert.is(await code('GET', '/skills/weather/v1/state'), 'forbidden');
    assert.is(await code('POST', '/v1/open', { skill_id: 'weather', mode: 'modal' }), 'forbidden');
    assert.is(await code('POST', '/v1/icons/pin', { skill_id: 'weather', pinned: true }), 'not_found');
    assert.is(await code('PUT', '/v1/icons/arrangement', { order: ['weather'] }), 'invalid_request');
    const { actions } = (await hub.ask('GET', '/api/skills/actions', { as })).body;
    assert.not(actions.some((a: { skill_id: string }) => a.skill_id === 'weather'));
    const index = (await hub.ask('GET', `/docs/index?prefix=${as.owner_id ?? 'o1'}/weather`, { as })).body;
    assert.equal(index.documents, []);
  }
  const joins = join(hub, 'o1/weather/state:device/phone1');
  assert.match((await joins.closed).reason, /forbidden/, "its owner's own branches too");
  joins.end();
  // Local control has all rights.
  assert.is((await hub.ask('GET', '/skills/weather/v1/state')).status, 200);
  await hub.ask('DELETE', '/api/desktop');
  assert.is((await hub.ask('GET', '/skills/weather/v1/state', { as: {} })).status, 200);
});

test('what the document gives to the owner alone asks for a passkey, and none can give it away', async ({
  hub,
}) => {
  await set(hub, {
    policy: { allowSkills: ['*'], ownerOnlySkills: ['weather'] },
    roles: { kid: { allowSkills: ['*', 'weather', 'hub_status'] } },
  });
  const code = async (skill: string, as: Partial<Principal>) =>
    (await hub.ask('GET', `/skills/${skill}/v1/state`, { as })).body.error;
  assert.is(await code('weather', { elevated_until: 1 }), 'assertion_required');
  assert.is(await code('weather', {}), undefined);
  assert.is(await code('weather', kid), 'forbidden');
  assert.is(await code('hub_status', kid), 'forbidden');
  assert.equal(await icons(hub, kid), []);
  await hub.ask('DELETE', '/api/desktop');
});

test('a document that was read before another was set is refused', async ({ hub }) => {
  const before = (await hub.ask('GET', '/api/desktop', { as: {} })).body;
  assert.equal(before.document, defaultScenario);
  assert.is(before.isDefault, true);
  const after = await set(hub, {
    version: '2',
    policy: { allowSkills: ['*', 'someday'], ownerOnlySkills: [] },
  });
  assert.equal(
    [after.isDefault, after.unknown],
    [false, [{ skill_id: 'someday', pointer: '/policy/allowSkills/1' }]],
  );
  const late = await hub.ask('PUT', '/api/desktop', {
    body: { document: { ...defaultScenario, version: '3' }, etag: before.etag },
  });
  assert.equal([late.status, late.body.error], [409, 'conflict']);
  await hub.kill('api');
  await hub.startApi();
  assert.is((await hub.ask('GET', '/api/desktop')).body.document.version, '2');
  const wrong = await hub.ask('PUT', '/api/desktop', {
    body: { document: { ...defaultScenario, uses: [] }, etag: after.etag },
  });
  assert.equal([wrong.status, wrong.body.details.pointer], [400, '/document/uses']);
  for (const as of [{ elevated_until: 1 }, kid])
    for (const method of ['PUT', 'DELETE'])
      assert.ok([401, 403].includes((await hub.ask(method, '/api/desktop', { as })).status));
  await hub.ask('DELETE', '/api/desktop');
});

test('whoever comes in another role has the documents of that role, and the one before sees no more', async ({
  hub,
}) => {
  const before = join(hub, 'kid1/icon_manager/view:main', { ...kid, role: 'owner', household: undefined });
  const ids = () => (before.content()['icons'] as { skill_id: string }[]).map((i) => i.skill_id);
  await before.has("the owner's icons", (c) => c['icons'] && ids().includes('hub_status'));
  const closed = before.closed;
  const now = join(hub, 'kid1/icon_manager/view:main', kid);
  await now.has('the icons of a kid', (c) => (c['icons'] as unknown[] | undefined)?.length === 1);
  assert.match((await closed).reason, /forbidden/);
  before.end();
  now.end();
});

test('tiles are told of skills to those who have them, live and while the skill is away, and withheld at once', async ({
  hub,
}) => {
  type Glances = Record<string, { at: number; line?: { i18n: { en: string } }; spark?: number[] }>;
  const state = join(hub, 'o1/desktop/state:main');
  const told = () => state.content()['glances'] as Glances;
  await state.has('the weather of the tile', (c) => (c['glances'] as Glances | undefined)?.['weather']?.line);
  assert.match(told()['weather']!.line!.i18n.en, /simulated/);
  assert.ok(told()['weather']!.spark!.length > 2);
  assert.ok(Math.abs(told()['weather']!.at - Date.now()) < 300_000);
  await state.has('the health of the hub', (c) => (c['glances'] as Glances)['hub_status']?.line);
  const theirs = join(hub, 'kid1/desktop/state:main', kid);
  await theirs.has('the tile of the weather', (c) => (c['glances'] as Glances | undefined)?.['weather']);
  assert.equal(Object.keys(theirs.content()['glances'] as Glances), ['weather']);
  // What somebody changes shows on the tile without its screen being open.
  const before = told()['hub_status']!;
  await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} });
  await state.has('the next word of it', (c) => {
    const now = (c['glances'] as Glances)['hub_status'];
    return now !== undefined && JSON.stringify(now) !== JSON.stringify(before);
  });
  await hub.kill('weather');
  await hub.kill('api');
  await hub.startApi();
  await state.has('the tile of a skill that is away', (c) => (c['glances'] as Glances)['weather']?.line);
  await set(hub, { policy: { allowSkills: ['*'], ownerOnlySkills: ['weather'] } });
  await state.has('nothing of what is closed', (c) => !(c['glances'] as Glances)['weather']);
  await hub.ask('DELETE', '/api/desktop', { as: {} });
  await state.has('the tile again', (c) => (c['glances'] as Glances)['weather']);
  for (const s of [state, theirs]) s.end();
});

test('what was read on one device is read on all, never less than before, and never what is still to come', async ({
  hub,
}) => {
  const state = join(hub, 'o1/desktop/state:main', { browser: 'phone2' });
  const read = async (to: number) =>
    assert.equal((await hub.ask('POST', '/v1/notices/read', { as: {}, body: { to } })).body, { ok: true });
  await read(1000);
  await state.has('what was read', (c) => c['read'] === 1000);
  await read(10);
  await read(8e15);
  await state.has('up to now', (c) => Number(c['read']) > 1000);
  assert.ok(Number(state.content()['read']) <= Date.now());
  assert.ok(state.content()['available'], 'the rest of the document stays');
  state.end();
});

test("the hub's name is the owner's to give, outlives a restart and leaves the hub's language", async ({
  hub,
}) => {
  const name = async () => (await hub.ask('GET', '/api/status')).body.name as string;
  const give = (value: unknown, as: Partial<Principal> = {}) =>
    hub.ask('POST', '/api/node/name', { as, body: { value } });
  assert.is((await hub.ask('POST', '/api/node/language', { as: {}, body: { value: 'ru' } })).status, 200);
  assert.is((await give('Малина', { role: 'adult', owner_id: 'ann' })).status, 403);
  for (const bad of ['', ' a', 'a ', 'a\u202eb', 'x'.repeat(65), 7])
    assert.is((await give(bad)).status, 400, String(bad));
  assert.is((await give('Малина 2')).status, 200);
  assert.is(await name(), 'Малина 2');
  await hub.kill('api');
  await hub.startApi();
  assert.is(await name(), 'Малина 2');
  const kept = JSON.parse(readFileSync(`${hub.data}/skills/choices.json`, 'utf8'));
  assert.equal(kept, { language: 'ru', name: 'Малина 2' });
});

test.run();
