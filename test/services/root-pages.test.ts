// timeout: 240 s
// Pages of skills that go through root, at the hub's own API: their manifest opens them, for the owner, below /v1/ui/.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { startHub, type TestHub } from './hub.ts';

const code = {
  text: `
export const skill = { start: () => ({ endpoints: [
  { method: 'GET', path: '/v1/ui/page.html', answer: ({ owner_id }) => ({ type: 'text/html', text: '<p>' + owner_id }) },
  { method: 'GET', path: '/v1/ui/dial.js', answer: () => ({ type: 'text/plain', text: 'let a' }) },
  { method: 'GET', path: '/v1/secret', answer: () => ({ body: { secret: 1 } }) },
  { method: 'POST', path: '/v1/ui/turn', answer: () => ({ body: {} }) },
] }) };`,
};
const skill = (id: string, ui: object, permissions?: Manifest['permissions']) => ({
  manifest: {
    ...{ id, version: '1.0.0' },
    capabilities: { visual: true, ui: { title: id, modes: ['modal'], schema: 'ui/v0', ...ui } },
    ...(permissions ? { permissions } : {}),
  } as Manifest,
  code,
});

const test = suite<{ hub: TestHub }>('pages for root');
test.before(async (c) => {
  c.hub = await startHub({
    installed: [
      skill('shared', { pages: 'root' }),
      skill('quiet', {}),
      skill('said', { pages: 'private' }),
      skill('safe', { pages: 'root' }, { ownerOnly: true }),
    ],
    skills: ['shared', 'quiet', 'said', 'safe'],
  });
});
test.after((c) => c.hub.stop());

/** As ingle-uplink asks for root. */
const as = { role: 'owner', browser: 'root', elevated_until: 0 } as const;
const get = (hub: TestHub, path: string, who: object = as) =>
  hub.ask('GET', `/api/skill-pages/${path}`, { as: who });

test('a skill whose manifest says so gives files below its /v1/ui/, and no other skill does', async ({
  hub,
}) => {
  const page = await get(hub, 'shared/page.html');
  assert.is(page.status, 200);
  assert.match(page.headers.get('content-type')!, 'text/html');
  assert.is((await get(hub, 'shared/dial.js')).status, 200);
  for (const id of ['quiet', 'said']) {
    const r = await get(hub, `${id}/page.html`);
    assert.equal([r.status, r.body.error], [403, 'forbidden'], id);
  }
  assert.is((await get(hub, 'none/page.html')).status, 404);
});

test('one that is the owner’s alone gives nothing to whoever shows no passkey', async ({ hub }) => {
  const r = await get(hub, 'safe/page.html');
  assert.equal([r.status, r.body.error], [401, 'assertion_required']);
});

test('nothing else of a skill comes this way, by no other method, and for nobody but the owner', async ({
  hub,
}) => {
  for (const path of ['shared/../secret', 'shared/%2e%2e/secret', 'shared/a%2f..%2fsecret', 'shared/.hidden'])
    assert.is((await get(hub, path)).status, 404, path);
  assert.is((await get(hub, 'shared/secret')).status, 404);
  assert.is((await get(hub, 'shared/turn')).status, 405);
  const post = await hub.ask('POST', '/api/skill-pages/shared/turn', { as, body: {} });
  assert.is(post.status, 405);
  for (const role of ['admin', 'adult', 'kid', 'guest'] as const) {
    const who = { role, owner_id: 'person_AAAAAAAAAAAAAAAAAAAA', household: 'own_1' };
    assert.is((await get(hub, 'shared/page.html', who)).status, 403, role);
  }
});

test('the desktop tells which skills’ pages go through root', async ({ hub }) => {
  const icons = (await hub.ask('GET', '/v1/icons', { as })).body as { skill_id: string; pages?: string }[];
  const pages = Object.fromEntries(icons.map((i) => [i.skill_id, i.pages]));
  assert.equal(pages, { shared: 'root', quiet: undefined, said: undefined, safe: 'root' });
});

test.run();
