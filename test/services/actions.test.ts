// timeout: 240 s
// Actions that a skill declares: listed for those who may use it, their input checked before the skill sees it.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkManifest, type Manifest } from '../../firmware/skills/manifest.ts';
import { thrown } from '../lab/thrown.ts';
import { clerk, twoClerks } from './clerk.ts';
import { startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('actions');
test.before(async (c) => {
  c.hub = await startHub(twoClerks);
});
test.after((c) => c.hub.stop());

const add = '/skills/clerk/v1/actions/add';
const seen = async (hub: TestHub) => (await hub.ask('GET', '/skills/clerk/v1/seen', { as: {} })).body.n;

test('the actions of skills are listed for those who may use them now', async ({ hub }) => {
  const listed = async (as: object) =>
    (await hub.ask('GET', '/api/skills/actions', { as })).body.actions.map(
      (a: { skill_id: string; id: string }) => `${a.skill_id}.${a.id}`,
    );
  assert.equal(await listed({}), ['clerk.add', 'clerk.never', 'safe.add', 'safe.never']);
  for (const as of [{ role: 'guest' }, { elevated_until: 1 }])
    assert.equal(await listed(as), ['clerk.add', 'clerk.never']);
  assert.is(
    (await hub.ask('POST', '/skills/safe/v1/actions/add', { as: { role: 'kid' }, body: { n: 1 } })).status,
    403,
  );
});

test('an action does what it says with input that fits', async ({ hub }) => {
  const before = await seen(hub);
  const r = await hub.ask('POST', add, { as: {}, body: { n: 2, unit: 'kg' } });
  assert.equal([r.status, r.body], [200, { sum: before + 2 }]);
});

test('input that does not fit is refused with its field, and the skill never sees it', async ({ hub }) => {
  const before = await seen(hub);
  const bad: [unknown, string][] = [
    [{}, '/n'],
    [{ n: '1' }, '/n'],
    [{ n: 1.5 }, '/n'],
    [{ n: 101 }, '/n'],
    [{ n: 1, unit: 'mile' }, '/unit'],
    [{ n: 1, more: 1 }, '/more'],
    [JSON.parse('{"n":1,"constructor":{}}'), '/constructor'],
  ];
  for (const [body, pointer] of bad) {
    const r = await hub.ask('POST', add, { as: {}, body });
    assert.equal([r.status, r.body.error, r.body.details?.pointer], [400, 'invalid_request', pointer]);
  }
  for (const raw of ['', '[]', '{', 'null'])
    if (raw) assert.is((await hub.ask('POST', add, { as: {}, raw })).status, 400);
  assert.is(await seen(hub), before);
});

test('a manifest with an action that cannot be checked is refused', () => {
  const changed = (change: (a: Record<string, never>) => void): Manifest => {
    const m = structuredClone(clerk('clerk'));
    change(m.capabilities.actions!['add'] as never);
    return m;
  };
  const bad: [(a: never) => void, string][] = [
    [
      (a: { input: object }) => Object.assign(a.input, { additionalProperties: true }),
      'additionalProperties',
    ],
    [(a: { input: object }) => Object.assign(a.input, { required: ['m'] }), 'required/0'],
    [
      (a: { input: { properties: object } }) =>
        Object.assign(a.input.properties, { 'x y': { type: 'string' } }),
      'properties',
    ],
    [
      (a: { input: { properties: object } }) =>
        Object.assign(a.input.properties, { x: { type: 'string', pattern: '(a+)+' } }),
      'pattern',
    ],
    [
      (a: { input: { properties: object } }) => Object.assign(a.input.properties, { x: { type: 'object' } }),
      'x/type',
    ],
    [(a: { more: number }) => Object.assign(a, { more: 1 }), 'more'],
  ];
  for (const [change, says] of bad) {
    const e = thrown(() => checkManifest(changed(change as never)));
    assert.match(String(e.details?.['pointer']), says);
  }
});

test.run();
