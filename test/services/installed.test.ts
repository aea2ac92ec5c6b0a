// timeout: 240 s
// Skills that are not in the image: they run in slots of the pool, and one that is not what it should be harms nobody.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { FAILURES } from '../../firmware/skills/budget.ts';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { connect } from '../../firmware/system/bus.ts';
import { toDict } from '../../firmware/system/contract.ts';
import { tried, until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';
import { quietSkill } from './posed.ts';

const manifest = (id: string): Manifest => ({
  id,
  version: '1.0.0',
  capabilities: { visual: true, ui: { title: `The ${id}`, modes: ['modal'], schema: 'ui/v0' } },
});
const text = (text: string) => ({ text });
/** Says what it is given, and refuses with an error of a class of its own bundle. */
const lamp = `
class IngleError extends Error { name = 'IngleError'; code = 'conflict'; }
export const skill = { start: (ctx) => ({ endpoints: [
  { method: 'POST', path: '/v1/glow', answer: ({ body }) => ({ body: { glow: body.value, id: ctx.id }, state: () => ({ glow: body.value }) }) },
  { method: 'POST', path: '/v1/refuse', answer: () => { throw new IngleError('It is dark.'); } },
] }) };`;

/** Dies by a fault nobody catches, after it has answered. */
const fragile = `
export const skill = { start: () => ({ endpoints: [
  { method: 'POST', path: '/v1/die', answer: () => { setTimeout(() => { throw new Error('dropped'); }, 1); return { body: {} }; } },
] }) };`;

/** Tells all that it was given. */
const nosy = `
export const skill = { start: (ctx) => ({ endpoints: [
  { method: 'POST', path: '/v1/tell', answer: (given) => ({ body: { id: ctx.id, given: { ...given, query: String(given.query) } } }) },
] }) };`;

const test = suite<{ hub: TestHub; say: string[] }>('installed skills');
test.before(async (c) => {
  c.hub = await startHub({
    skills: ['hub_status'],
    startable: ['crash', 'late', 'fragile'],
    installed: [
      { manifest: manifest('lamp'), code: text(lamp) },
      { manifest: manifest('nosy'), code: text(nosy) },
      { manifest: manifest('crash'), code: text("throw new Error('not today');") },
      {
        manifest: manifest('late'),
        code: text("export const skill = { start: () => { throw new Error('no'); } };"),
      },
      { manifest: manifest('fragile'), code: text(fragile) },
      { manifest: manifest('none'), code: text('export const other = 1;') },
      { manifest: manifest('posed'), code: text('') },
    ],
  });
});
test.after((c) => c.hub.stop());

type Icon = { skill_id: string; title: string; available: boolean };
const icon = async (hub: TestHub, id: string) =>
  ((await hub.ask('GET', '/v1/icons', { as: {} })).body as Icon[]).find((i) => i.skill_id === id);
const well = async (hub: TestHub) => {
  assert.is((await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} })).status, 200);
};

test('one that no image ever had runs from its bundle, beside those of the image', async ({ hub }) => {
  assert.equal([hub.slotOf('hub_status'), hub.slotOf('lamp')], [1, 5]);
  hub.startSkill('lamp');
  await hub.available('lamp');
  const r = await hub.ask('POST', '/skills/lamp/v1/glow', { as: {}, body: { value: 'softly' } });
  assert.equal([r.status, r.body], [200, { glow: 'softly', id: 'lamp' }]);
  assert.is((await icon(hub, 'lamp'))?.title, 'The lamp');
  await well(hub);
});

test('what it refuses is told as it says, though its error is of another bundle', async ({ hub }) => {
  const r = await hub.ask('POST', '/skills/lamp/v1/refuse', { as: {} });
  assert.equal([r.status, r.body.error, r.body.message], [409, 'conflict', 'It is dark.']);
});

test('it is told whose request it is and who it is itself, and nothing of who asks: no browser, no token, no role', async ({
  hub,
}) => {
  hub.startSkill('nosy');
  await hub.available('nosy');
  const path = '/skills/nosy/v1/tell';
  const headers = {
    'idempotency-key': 'once',
    ...{ cookie: 'sid=secret-1', authorization: 'Bearer secret-2', 'x-device-code': 'secret-3' },
  };
  const as = { browser: 'secret-4', elevated_until: 4_000_000_123 };
  const asked = await hub.ask('POST', `${path}?lang=en`, { as, headers, body: { hello: 1 } });
  // The same by a command, whose document has the browser in its name.
  const doc = new Y.Doc();
  const room = 'o1/commands/state:device/secret-4';
  const provider = new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, room, doc, {
    WebSocketPolyfill: hub.webSocket(as),
    disableBc: true,
  });
  const action = { type: 'http.post', path, body: { hello: 2 } };
  doc.getMap('content').set('tap', { id: 'tap', at: 1, skill_id: 'nosy', action, status: 'pending' });
  const result = await until(() => Object(readContent(doc)['tap'])['result'], 'what the command brought');
  provider.destroy();
  doc.destroy();
  for (const { id, given } of [asked.body, result.body]) {
    assert.is(id, 'nosy');
    assert.equal(Object.keys(given).sort(), ['body', 'id', 'method', 'owner_id', 'path', 'query']);
    assert.equal([given.owner_id, given.method, given.path], ['o1', 'POST', '/v1/tell']);
    const all = JSON.stringify(given);
    for (const secret of ['secret', '4000000123', hub.token(), 'hub_status', 'lamp'])
      assert.not.ok(all.includes(secret), `${secret} in ${all}`);
  }
});

for (const id of ['crash', 'late'])
  test(`one that does not start (${id}) shows as unavailable, and says so when asked`, async ({ hub }) => {
    await until(
      tried(async () => (await icon(hub, id))?.available === false),
      'the icon to say so',
    );
    const r = await hub.ask('POST', `/skills/${id}/v1/glow`, { as: {} });
    assert.equal([r.status, r.body.error], [503, 'unavailable']);
    assert.match(r.body.message, new RegExp(`"${id}" does not start. See its log`));
    await well(hub);
  });

test('one that dies again and again is started so often, then stays off and says for how long', async ({
  hub,
}) => {
  const ask = () => hub.ask('POST', '/skills/fragile/v1/die', { as: {} });
  const off = await until(
    tried(async () => {
      const r = await ask();
      return /has failed/.test(r.body.message) && r;
    }),
    'it to stay off',
  );
  assert.equal([off.status, off.body.error], [503, 'unavailable']);
  assert.match(off.body.message, new RegExp(`"fragile" has failed ${FAILURES} times.* 60 minutes`));
  assert.is((await icon(hub, 'fragile'))?.available, false);
  // It goes on saying so, and is not run.
  assert.is((await ask()).body.message, off.body.message);
  await well(hub);
});

test('one without a skill in its bundle tells why to who calls it, and does not die again and again', async ({
  hub,
}) => {
  hub.startSkill('none');
  const bus = await connect(hub.bus.address);
  const called = () => bus.client(skill1, { busName: skillBusName(hub.slotOf('none')) }).Manifest({}, 2000);
  const told = await until(
    tried(async () =>
      called().catch((e: IngleError) => (e.code === 'invalid_request' ? e.message : undefined)),
    ),
    'its answer',
  );
  assert.match(String(told), /exports no skill/);
  assert.is(hub.children.get('none')!.exitCode, null);
  assert.is((await icon(hub, 'none'))?.available, false);
  bus.close();
});

test('a slot without a skill answers that it has none', async ({ hub }) => {
  hub.startSkill('', 12);
  const bus = await connect(hub.bus.address);
  const told = await until(
    tried(async () =>
      bus
        .client(skill1, { busName: skillBusName(12) })
        .Manifest({}, 2000)
        .catch((e) => (e instanceof IngleError && e.code === 'not_found' ? e.message : undefined)),
    ),
    'its answer',
  );
  assert.is(told, 'No skill is installed in slot 12.');
  bus.close();
});

test('a slot that calls itself by another name is refused, and changes nothing of who it names', async ({
  hub,
}) => {
  const bus = await connect(hub.bus.address);
  let asked = 0;
  const served = {
    Manifest: () => {
      asked++;
      return { manifest: toDict({ ...manifest('hub_status') }) };
    },
    Attach: () => ({ documents: [] }),
    Watch: () => ({}),
    Leave: () => ({}),
    Request: () => ({ status: 200, headers: {}, body: new Uint8Array() }),
  };
  await bus.serve(skill1, served as never, { busName: skillBusName(hub.slotOf('posed')) });
  await until(() => asked > 0, 'the API to ask who it is');
  // Longer than it takes to let one in.
  for (let i = 0; i < 10; i++) await well(hub);
  assert.is((await icon(hub, 'posed'))?.available, false);
  assert.is((await hub.ask('POST', '/skills/posed/v1/glow', { as: {} })).status, 503);
  assert.is((await icon(hub, 'hub_status'))?.title, 'Hub status');
  bus.close();
});

test('what a process says of its rights counts for nothing', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  // Its bundle does not say that it is for its owner alone.
  const said = { ...manifest('posed'), permissions: { ownerOnly: true } };
  await bus.serve(skill1, quietSkill(said), { busName: skillBusName(hub.slotOf('posed')) });
  await hub.available('posed');
  assert.is((await hub.ask('POST', '/skills/posed/v1/glow', { as: { role: 'kid' } })).status, 200);
  bus.close();
});

test('one that is too slow to answer at first is there once it answers', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  let asked = 0;
  await bus.serve(
    skill1,
    {
      ...quietSkill(manifest('posed')),
      Attach: () => (asked++ === 0 ? new Promise<never>(() => {}) : { documents: [] }),
    },
    { busName: skillBusName(hub.slotOf('posed')) },
  );
  await hub.available('posed');
  assert.is((await hub.ask('POST', '/skills/posed/v1/glow', { as: {} })).status, 200);
  assert.ok(asked > 1);
  bus.close();
});

test('with a table nobody can read the skills of the image are there, and it is put aside', async ({
  hub,
}) => {
  await hub.kill('api');
  writeFileSync(join(hub.data, 'skills/slots.json'), '{"slots":{"1":{"state":"used","skill_id":"lamp"');
  await hub.startApi();
  await hub.available('hub_status');
  await well(hub);
  assert.is((await icon(hub, 'lamp'))?.available, false);
});

test.run();
