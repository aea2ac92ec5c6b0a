// Scenario apps of a running hub: which there are for whom, what they are made of, and the hub's word for it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { etagIn, isSigned } from '../../firmware/protocol/signed.ts';
import { intruder, intruderSource } from '../scenario-app/intruder.ts';
import { startHub, type TestHub } from './hub.ts';

const kid = { owner_id: 'p1', household: 'o1', browser: 'phone2', role: 'kid' as const };
const own = {
  ...intruder,
  manifest: {
    ...intruder.manifest,
    id: 'private',
    permissions: { roles: [], contracts: [{ skill: 'shopping', contracts: [] }] },
  },
  files: {
    'scenario.json': JSON.stringify({
      ...intruderSource,
      scenario: { ...intruderSource.scenario, permissions: [{ skill: 'shopping', contracts: [] }] },
    }),
  },
};

const test = suite<{ hub: TestHub }>('apps');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['shopping', 'hub_status'], installed: [intruder, own] });
});
test.after((c) => c.hub.stop());

test('each person is told of the apps they may use', async ({ hub }) => {
  const listed = async (as: object) =>
    (await hub.ask('GET', '/v1/apps', { as })).body.apps.map((a: { id: string }) => a.id).sort();
  assert.equal(await listed({}), ['intruder', 'private', 'shopping']);
  assert.equal(await listed(kid), ['intruder', 'shopping']);
  const { body } = await hub.ask('GET', '/v1/apps', { as: {} });
  assert.equal(
    body.apps.find((a: { id: string }) => a.id === 'shopping'),
    { id: 'shopping', title: 'Shopping list', version: '1.0.0', path: '/s/shopping/' },
  );
  const icons = (await hub.ask('GET', '/v1/icons', { as: {} })).body;
  const icon = icons.find((i: { skill_id: string }) => i.skill_id === 'shopping');
  assert.is(icon.entrypoint, '/s/shopping/');
});

test('an app comes with the trees of its pages, its documents and the signature of the hub', async ({
  hub,
}) => {
  const { status, body } = await hub.ask('GET', '/v1/apps/shopping', { as: {} });
  assert.is(status, 200, JSON.stringify(body));
  assert.equal(
    body.app.routes.map((r: { name: string; tree: { from: string } }) => [r.name, r.tree.from]),
    [
      ['list', 'usdl/0.2'],
      ['basket', 'usdl/0.2'],
    ],
  );
  assert.equal(body.documents, { shopping: 'o1/shopping/state:main' });
  assert.is(await etagIn(body.app), body.etag);
  assert.ok(await isSigned(body.public_key, body));
  assert.not.ok(await isSigned(body.public_key, { ...body, key: 'apps/energy' }));
  // It is the key by which the browser knows the hub's views.
  assert.is((await hub.ask('GET', '/docs/index?prefix=o1/', { as: {} })).body.public_key, body.public_key);
  const theirs = await hub.ask('GET', '/v1/apps/shopping', { as: kid });
  assert.equal(theirs.body.documents, { shopping: 'p1/shopping/state:main' });
});

test('another skill’s state comes where manifest and scenario say so', async ({ hub }) => {
  const { body } = await hub.ask('GET', '/v1/apps/private', { as: {} });
  assert.equal(Object.keys(body.documents ?? body).sort(), ['private', 'shopping']);
  assert.equal(Object.keys((await hub.ask('GET', '/v1/apps/intruder', { as: {} })).body.documents), [
    'intruder',
  ]);
});

test('what is no app, is not there or is not for somebody is refused with its code', async ({ hub }) => {
  for (const [id, as, status, error] of [
    ['nobody', {}, 404, 'not_found'],
    ['hub_status', {}, 400, 'not_supported'],
    ['private', kid, 403, 'forbidden'],
    ['..%2Fshopping', {}, 404, 'not_found'],
  ] as const) {
    const r = await hub.ask('GET', `/v1/apps/${id}`, { as });
    assert.is(r.body.error, error, id);
    if (status !== 400) assert.is(r.status, status);
  }
});

test('an app is compiled anew when its bundle changes, and one that is broken says what is wrong', async ({
  hub,
}) => {
  const file = join(hub.data, 'skills/bundles/intruder-1.0.0/scenario.json');
  const before = readFileSync(file, 'utf8');
  const ask = () => hub.ask('GET', '/v1/apps/intruder', { as: {} });
  const first = await ask();
  const { scenario, pages } = intruderSource;
  writeFileSync(file, JSON.stringify({ scenario: { ...scenario, title: 'Renamed app' }, pages }));
  const second = await ask();
  assert.is(second.body.app.title, 'Renamed app');
  assert.is.not(second.body.etag, first.body.etag);
  writeFileSync(file, JSON.stringify({ scenario: { ...scenario, entry: 'nowhere' }, pages }));
  const broken = await ask();
  assert.is(broken.status, 400);
  assert.match(broken.body.message, 'scenario.yaml /entry names no route');
  for (const odd of ['', '{', '[]', '{"pages": 7}', 'null'.padEnd(600_000)]) {
    writeFileSync(file, odd);
    const r = await ask();
    assert.ok(r.status >= 400 && typeof r.body.error === 'string', `${r.status} ${JSON.stringify(r.body)}`);
  }
  rmSync(file);
  assert.is((await ask()).body.error, 'not_found');
  writeFileSync(file, before);
  assert.is((await ask()).body.etag, first.body.etag);
});

test.run();
