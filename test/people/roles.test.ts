// The table of roles: every declared endpoint asked as each role, and the page of the docs as the declarations are.
import { readFileSync, writeFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import { effective } from '../../firmware/desktop/effective.ts';
import type { Principal } from '../../firmware/documents/acl.ts';
import { cellOf, rolesPage } from '../../firmware/people/roles-page.ts';
import type { Area } from '../../firmware/protocol/endpoint/endpoint.ts';
import { methodsOf } from '../../firmware/protocol/endpoint/endpoint.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { type Role, roles } from '../../firmware/protocol/roles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Known } from '../../firmware/skills/known.ts';
import { checkManifest, type Manifest } from '../../firmware/skills/manifest.ts';
import type { LocalWho } from '../../firmware/system/local-api.ts';
import { areas } from '../../services/api/areas.ts';
import { dispatcher, type LocalEndpoint } from '../../services/api/dispatch.ts';

const test = suite('roles');
const file = 'firmware/people/ROLES.md';
const manifest = (id: string, permissions?: Manifest['permissions']): Manifest =>
  checkManifest({ id, version: '1.0.0', capabilities: {}, ...(permissions ? { permissions } : {}) });
const manifests = [
  manifest('open'),
  manifest('safe', { ownerOnly: true }),
  manifest('grown', { roles: ['admin', 'adult'] }),
  manifest('mine', { roles: [] }),
];
const known = new Map<string, Known>(manifests.map((m) => [m.id, { manifest: m, available: true }]));
const all = Object.values(areas as Record<string, Area<LocalWho>>).flatMap((area) => Object.values(area));
const { route } = dispatcher({
  endpoints: all.map(
    (endpoint) => ({ endpoint, answer: () => ({ status: 200 }) }) as unknown as LocalEndpoint,
  ),
  skills: { known: () => known } as unknown as Skills,
  desktop: { of: (role, some) => effective(defaultScenario, role, some) },
  admit() {},
});
const as = (role: Role, elevated_until = 9e9): Principal => ({
  ...{ owner_id: role === 'owner' ? 'own' : 'person_x', browser: 'b', role, elevated_until },
  ...(role === 'owner' ? {} : { household: 'own' }),
});
/** The code of the refusal; nothing when it is let in. */
function refusal(method: string, path: string, caller: Principal): string {
  try {
    route({ caller, method }, path);
    return '';
  } catch (e) {
    return (e as IngleError).code;
  }
}
const pathOf = (path: string, skill: string) =>
  path
    .replace('{skill_id}', skill)
    .replace('{id}', 'person_AAAAAAAAAAAAAAAAAAAA')
    .replace(/\{[^}]*\}/g, 'x');

test('each endpoint lets in the roles the page says, however fresh a passkey, and nobody else', () => {
  for (const e of all.filter((e) => e.who !== 'public' && e.who !== 'signed'))
    for (const method of methodsOf(e))
      for (const role of roles) {
        const path = pathOf(e.path, 'open');
        const wanted = cellOf(e.who, role) === '' ? 'forbidden' : '';
        assert.is(refusal(method, path, as(role)), wanted, `${method} ${path} as ${role}`);
        const stale = e.who === 'elevated' && role === 'owner' ? 'assertion_required' : wanted;
        assert.is(
          refusal(method, path, as(role, 0)),
          stale,
          `${method} ${path} as ${role}, long after a check`,
        );
      }
});

test('kids and guests reach nothing but their own desktop, and people no elevated endpoint', () => {
  const open = (role: Role) =>
    all.filter((e) => refusal(methodsOf(e)[0]!, pathOf(e.path, 'open'), as(role)) === '');
  assert.equal(
    open('guest')
      .filter((e) => e.who !== 'public')
      .map((e) => e.path)
      .sort(),
    [
      // Which scenarios they may start, the scenarios say themselves.
      ...[
        '/api/intent/recognize',
        '/api/scenario/cancel',
        '/api/scenario/run',
        '/api/scenario/runs',
        '/api/scenario/status',
        '/api/scenarios/instances',
      ],
      ...['happened', 'kill', 'pause', 'resume', 'stop'].map((o) => `/api/scenarios/instances/{iid}/${o}`),
      ...['/api/scenarios/prototypes', '/api/scenarios/{id}/rehearse', '/api/scenarios/{id}/run'],
      ...[
        '/api/skills/actions',
        '/docs/index',
        '/docs/token',
        '/skills/{skill_id}/v1/{path*}',
        '/v1/apps',
        '/v1/apps/{skill_id}',
        '/v1/brand',
        '/v1/icons',
      ],
      ...[
        '/v1/icons/arrangement',
        '/v1/icons/order',
        '/v1/icons/pin',
        '/v1/me',
        '/v1/notices/read',
        '/v1/open',
      ],
    ],
  );
  const more = open('kid').filter((e) => !open('guest').includes(e));
  assert.equal([...new Set(more.map((e) => e.path))].sort(), [
    ...['/api/mcp', '/api/openapi.json', '/api/push'],
    ...[
      '/api/scenarios/dead-letters',
      '/api/scenarios/dead-letters/{id}',
      '/api/scenarios/dead-letters/{id}/replay',
    ],
    ...['/api/scenarios/impl/{user}/{id}', '/api/scenarios/instances/stopByActivity'],
    ...['/api/schedule/create', '/api/schedule/delete', '/api/schedule/list'],
    // What a kid says starts what is for kids.
    ...['/api/voice', '/api/voice/stop', '/api/voice/wake'],
  ]);
  for (const role of ['admin', 'adult'] as const) assert.equal(open(role), open('kid'));
});

test('a skill stays with those it is for', () => {
  const path = (id: string) => `/skills/${id}/v1/x`;
  const letIn = (id: string) => roles.filter((role) => refusal('GET', path(id), as(role)) === '');
  assert.equal(letIn('open'), [...roles]);
  assert.equal(letIn('safe'), ['owner']);
  assert.equal(letIn('grown'), ['owner', 'admin', 'adult']);
  assert.equal(letIn('mine'), ['owner']);
});

test('a manifest that names roles nobody has, or for a skill of the owner alone, is refused', () => {
  for (const permissions of [
    { roles: ['owner'] },
    { roles: ['kid', 'kid'] },
    { roles: 'kid' },
    { ownerOnly: true, roles: [] },
  ])
    assert.throws(
      () => manifest('x', permissions as never),
      (e: IngleError) => e.code === 'invalid_request',
    );
});

test('the page of the docs is as the declarations are', () => {
  const page = rolesPage(areas as Record<string, Area<LocalWho>>);
  if (process.env['INGLE_WRITE']) writeFileSync(file, page);
  assert.is(readFileSync(file, 'utf8'), page, 'write it anew: INGLE_WRITE=1 node test/run.mjs people/roles');
});

test.run();
