// What a desktop gives a role, and that no document gives a role more than its owner has.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import { documentsOf, facesOf, glancing } from '../../firmware/desktop/documents.ts';
import { effective } from '../../firmware/desktop/effective.ts';
import { checkUses, namedIn, type Scenario, scenarioSchema } from '../../firmware/desktop/scenario.ts';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';
import {
  type CallerRole,
  type PersonRole,
  personRoles,
  type Role,
  roles,
} from '../../firmware/protocol/roles.ts';
import { checkManifest, type Manifest } from '../../firmware/skills/manifest.ts';

const test = suite('the desktop of a role');

type Made = { ownerOnly?: boolean; roles?: PersonRole[] | undefined; visual?: boolean };
const skill = (id: string, o: Made = {}): Manifest => ({
  id,
  version: '1.0.0',
  capabilities:
    o.visual === false ? {} : { visual: true, ui: { title: id, modes: ['modal'], schema: 'ui/v0' } },
  ...(o.ownerOnly
    ? { permissions: { ownerOnly: true } }
    : o.roles
      ? { permissions: { roles: o.roles } }
      : {}),
});
const all = [
  skill('weather'),
  skill('lamp'),
  skill('logs', { ownerOnly: true }),
  skill('bare', { visual: false }),
];
const doc = (policy: Partial<Scenario['policy']>, roles?: Scenario['roles']): Scenario => ({
  ...defaultScenario,
  policy: { ...defaultScenario.policy, ...policy },
  ...(roles ? { roles } : {}),
});
/** Skills of a role: `*` after those that open to the owner alone, in brackets those without an icon. */
const told = (document: Scenario, role: Role) =>
  effective(document, role, all)
    .skills.map(({ manifest: { id }, ownerOnly, shown }) => (shown ? id : `(${id})`) + (ownerOnly ? '*' : ''))
    .join(' ');

test('the table of documents and roles', () => {
  const rows: [document: Scenario, role: Role, skills: string][] = [
    [doc({}), 'owner', 'weather lamp logs* (bare)'],
    [doc({}), 'admin', 'weather lamp (bare)'],
    [doc({}), 'guest', 'weather lamp (bare)'],
    [doc({ allowSkills: ['lamp', 'logs'] }), 'owner', 'lamp logs*'],
    [doc({ allowSkills: ['lamp', 'logs'] }), 'kid', 'lamp'],
    [doc({ allowSkills: [] }), 'owner', ''],
    [doc({ ownerOnlySkills: ['lamp'] }), 'owner', 'weather lamp* logs* (bare)'],
    [doc({ ownerOnlySkills: ['lamp'] }), 'adult', 'weather (bare)'],
    [doc({}, { kid: { allowSkills: ['weather'] } }), 'kid', 'weather'],
    [doc({}, { kid: { allowSkills: ['weather'] } }), 'adult', 'weather lamp (bare)'],
    [doc({ allowSkills: ['lamp'] }, { kid: { allowSkills: ['weather', 'lamp'] } }), 'kid', 'lamp'],
    [doc({ allowSkills: ['lamp'] }, { kid: { allowSkills: ['*'] } }), 'kid', 'lamp'],
    [doc({}, { guest: { ownerOnlySkills: ['lamp'] } }), 'guest', 'weather (bare)'],
    [doc({}, { guest: { ownerOnlySkills: ['lamp'] } }), 'owner', 'weather lamp logs* (bare)'],
    [doc({}, { admin: { allowSkills: ['logs'] } }), 'admin', ''],
  ];
  for (const [document, role, skills] of rows) assert.is(told(document, role), skills, role);
});

test('a skill that names roles is for the owner and these, as far as the document lets them, and none is for a hub', () => {
  const list = [skill('grown', { roles: ['admin', 'adult'] }), skill('mine', { roles: [] }), skill('open')];
  const told = (document: Scenario, role: CallerRole) =>
    effective(document, role, list)
      .skills.map((s) => s.manifest.id)
      .join(' ');
  const rows: [document: Scenario, role: CallerRole, skills: string][] = [
    [doc({}), 'owner', 'grown mine open'],
    [doc({}), 'admin', 'grown open'],
    [doc({}), 'kid', 'open'],
    [doc({}, { kid: { allowSkills: ['grown', 'mine'] } }), 'kid', ''],
    [doc({}, { adult: { allowSkills: ['grown'] } }), 'adult', 'grown'],
    [doc({ allowSkills: ['open'] }), 'adult', 'open'],
    [doc({ ownerOnlySkills: ['grown'] }), 'adult', 'open'],
    [doc({}), 'member', ''],
  ];
  for (const [document, role, skills] of rows) assert.is(told(document, role), skills, role);
});

test('a role may have another layout, whole or in part', () => {
  const document = doc({}, { kid: { layout: { grid: { cols: 2 }, statusBar: false } } });
  assert.equal(effective(document, 'kid', []).layout, {
    grid: { ...defaultScenario.layout.grid, cols: 2 },
    statusBar: false,
  });
  assert.equal(effective(document, 'owner', []).layout, defaultScenario.layout);
});

const ids = ['a', 'b', 'c', 'd', 'e'];
const some = fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 5 });
const allow = fc.oneof(
  some,
  fc.constant(['*']),
  some.map((l) => [...l, '*']),
);
const override = fc.record({ allowSkills: allow, ownerOnlySkills: some }, { requiredKeys: [] });
const scenarios = fc.record({
  policy: fc.record({ allowSkills: allow, ownerOnlySkills: some }),
  roles: fc.record(
    { admin: override, adult: override, kid: override, guest: override },
    { requiredKeys: [] },
  ),
});
const manifests = fc
  .uniqueArray(
    fc.record({
      id: fc.constantFrom(...ids),
      ownerOnly: fc.boolean(),
      visual: fc.boolean(),
      roles: fc.option(fc.subarray([...personRoles]), { nil: undefined }),
    }),
    { selector: (m) => m.id },
  )
  .map((list) => list.map(({ id, ...o }) => skill(id, o)));

test('whatever a document says, a role has no more than without what is said of it, and no more than the owner', () => {
  fc.assert(
    fc.property(scenarios, manifests, (drawn, list) => {
      const document = { ...defaultScenario, ...drawn } as Scenario;
      const of = (d: Scenario, role: Role) =>
        new Set(effective(d, role, list).skills.map((s) => s.manifest.id));
      const { roles: _, ...plain } = document;
      const owners = of(document, 'owner');
      for (const role of roles) {
        const mine = of(document, role);
        const without = of(plain as Scenario, role);
        for (const id of mine) assert.ok(without.has(id) && owners.has(id), `${role} has ${id}`);
      }
      for (const { manifest, ownerOnly } of effective(document, 'owner', list).skills)
        assert.ok(ownerOnly || !manifest.permissions?.ownerOnly, 'what a manifest closes stays closed');
      for (const role of roles)
        if (role !== 'owner')
          for (const s of effective(document, role, list).skills)
            assert.not(
              s.ownerOnly ||
                s.manifest.permissions?.ownerOnly ||
                s.manifest.permissions?.roles?.includes(role) === false,
              `${role} has ${s.manifest.id}`,
            );
      assert.equal(effective(document, 'member', list).skills, [], 'a hub has none');
    }),
  );
});

test("the image's own document is whole, and one without the icon manager is refused", () => {
  assert.equal(faultsOf(scenarioSchema, defaultScenario), []);
  checkUses(defaultScenario);
  assert.throws(() => checkUses({ ...defaultScenario, uses: [] }, '/document'), /\/document\/uses must have/);
});

test('every fault of a document is told with its place', () => {
  const faults = faultsOf(scenarioSchema, {
    ...defaultScenario,
    layout: { grid: { cols: 13, gap: -1, padding: 65 }, statusBar: 1 },
    behavior: { sourceOfApps: 'rm.everything', onIconClick: 'icon_manager.erase' },
    policy: { allowSkills: ['**'], ownerOnlySkills: ['A'] },
    roles: { owner: {}, kid: { layout: { grid: { cols: 0 } } } },
  });
  assert.equal(faults.map((f) => f.pointer).sort(), [
    '/behavior/onIconClick',
    '/behavior/sourceOfApps',
    '/layout/grid/cols',
    '/layout/grid/gap',
    '/layout/grid/padding',
    '/layout/statusBar',
    '/policy/allowSkills/0',
    '/policy/ownerOnlySkills/0',
    '/roles/kid/layout/grid/cols',
    '/roles/owner',
  ]);
});

test('the skills a document names are listed with their places', () => {
  const document = doc(
    { allowSkills: ['*', 'lamp'], ownerOnlySkills: ['logs'] },
    { kid: { allowSkills: ['weather'] } },
  );
  assert.equal(namedIn(document), [
    { skill_id: 'lamp', pointer: '/policy/allowSkills/1' },
    { skill_id: 'logs', pointer: '/policy/ownerOnlySkills/0' },
    { skill_id: 'weather', pointer: '/roles/kid/allowSkills/0' },
  ]);
});

test('the documents of 200 skills with the largest drawings fit, and every icon is there', () => {
  const icon = `data:image/svg+xml,${'x'.repeat(8000)}`;
  const titles = Object.fromEntries(['en', 'ru', 'de'].map((l) => [l, 'т'.repeat(80)]));
  const many = Array.from({ length: 200 }, (_, i) => {
    const m = skill(`s${i}`);
    return checkManifest({
      ...m,
      capabilities: { visual: true, ui: { ...m.capabilities.ui, icon, titles } },
    });
  });
  const faces = facesOf(effective(defaultScenario, 'owner', many));
  assert.is(faces.length, 200);
  assert.ok(Buffer.byteLength(JSON.stringify(faces)) < 700_000);
  assert.is(facesOf(effective(defaultScenario, 'owner', many.slice(0, 20)))[0]!.icon, icon);
});

test('the documents say the same whatever order the skills came in', () => {
  const arrangement = { pins: [], order: ['lamp'], groups: [] };
  const made = (list: Manifest[]) =>
    JSON.stringify(
      documentsOf(defaultScenario, effective(defaultScenario, 'owner', list), arrangement, () => true, {}),
    );
  assert.is(made(all), made([...all].reverse()));
});

test('a tile tells nothing of a skill that the owner has closed behind the passkey, nor of one without an icon', () => {
  const telling = (id: string, permissions?: Manifest['permissions']): Manifest => ({
    ...skill(id),
    ...(permissions ? { permissions } : {}),
    capabilities: {
      visual: true,
      ui: { title: id, modes: ['modal'], schema: 'ui/v0', glance: { line: '{{state.line}}' } },
    },
  });
  const open = telling('open');
  const closed = telling('closed');
  // Its author has declared what is seen before the passkey.
  const own = telling('own', { ownerOnly: true });
  const hidden: Manifest = { ...open, id: 'hidden', capabilities: { ...open.capabilities, visual: false } };
  const policy = { allowSkills: ['*', 'hidden'], ownerOnlySkills: ['closed'] };
  const seen = (role: 'owner' | 'kid') =>
    glancing(effective({ ...defaultScenario, policy }, role, [open, closed, own, hidden])).map(
      (g) => g.skill_id,
    );
  assert.equal(seen('owner'), ['open', 'own']);
  assert.equal(seen('kid'), ['open']);
});

test("no skill takes an id that is the hub's own", () => {
  for (const id of ['desktop', 'icon_manager', 'commands'])
    assert.throws(() => checkManifest(skill(id)), /the hub's own/, id);
});

test.run();
