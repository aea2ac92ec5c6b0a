// Who may join a document, cell by cell.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  checkPrincipal,
  isAclEntry,
  isElevated,
  type Principal,
  rightsOf,
  skillAcl,
} from '../../firmware/documents/acl.ts';
import { commandsSkill, parseKey } from '../../firmware/documents/key.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { roles } from '../../firmware/protocol/roles.ts';

const test = suite('acl');
const me: Principal = { owner_id: 'own1', browser: 'phone1', role: 'owner', elevated_until: 100 };
const rights = (branch: string, acl: string[], who: Partial<Principal> | null, skill = 'lamp') => {
  const { read, write } = rightsOf(parseKey(`own1/${skill}/${branch}`), acl, who && { ...me, ...who });
  return `${read ? 'r' : '-'}${write ? 'w' : '-'}`;
};

test('an entry is written in exactly these forms', () => {
  assert.equal(skillAcl('lamp'), ['OWNER:read', 'SKILL:lamp:write']);
  const good = ['OWNER:read', 'ROLE:KID:read', 'ROLE:A_1:read', 'SKILL:lamp:write', 'SKILL:l_2:write'];
  good.push(`ROLE:${'A'.repeat(32)}:read`, `SKILL:${'a'.repeat(48)}:write`);
  for (const e of good) assert.ok(isAclEntry(e), e);
  const bad = [
    'OWNER:write',
    'ROLE:KID:write',
    'SKILL:lamp:read',
    'ROLE:kid:read',
    'SKILL:Lamp:write',
    '',
    'OWNER',
  ];
  bad.push('xOWNER:read', 'OWNER:readx', 'ROLE::read', 'SKILL::write', 'ROLE:1:read', 'SKILL:1:write');
  bad.push(
    `ROLE:${'A'.repeat(33)}:read`,
    `SKILL:${'a'.repeat(49)}:write`,
    'ROLE:A-B:read',
    'SKILL:a-b:write',
  );
  for (const e of bad) assert.not(isAclEntry(e), e);
  for (const e of [null, 7, ['OWNER:read'], undefined]) assert.not(isAclEntry(e));
});

test('the owner reads what an entry opens, and writes only the branches of its own', () => {
  const acl = skillAcl('lamp');
  assert.is(rights('view:main', acl, {}), 'r-');
  assert.is(rights('view:main', [], {}), '--');
  assert.is(
    rights('view:main', ['SKILL:lamp:write'], {}),
    '--',
    'the entry of a skill opens nothing to a browser',
  );
  assert.is(rights('state:main', acl, {}), 'r-');
  assert.is(rights('state:device/phone1', [], {}), 'rw');
  assert.is(rights('state:owner/own1', [], {}), 'rw');
  assert.is(rights('state:device/phone2', acl, {}), 'r-');
  assert.is(rights('state:device/phone2', [], {}), '--');
  assert.is(rights('state:owner/own2', [], {}), '--');
  assert.is(rights('view:device/phone1', [], {}), 'rw', 'a view that lies over the skill’s');
  assert.is(rights('view:owner/own1', acl, {}), 'rw');
  assert.is(rights('view:device/phone2', acl, {}), 'r-');
  assert.is(rights('view:owner/own2', [], {}), '--');
  for (const branch of ['view:ab/A', 'view:preview/phone1']) assert.is(rights(branch, acl, {}), 'r-', branch);
  assert.is(rights('view:device/phone1', acl, {}, commandsSkill), 'r-', 'commands have no view');
  assert.is(rights('state:preview/phone1', [], {}), '--');
  assert.is(rights('state:owner/own1', acl, {}, commandsSkill), 'r-', 'commands go by the device’s branch');
  assert.is(rights('state:device/phone1', [], {}, commandsSkill), 'rw');
});

test('another owner has nothing, and another role what is opened to it', () => {
  const acl = ['OWNER:read', 'ROLE:KID:read'];
  for (const branch of ['view:main', 'state:device/phone1', 'state:owner/own1'])
    assert.is(rights(branch, acl, { owner_id: 'own2' }), '--', branch);
  assert.is(rights('view:main', acl, { role: 'kid' }), 'r-');
  assert.is(rights('view:main', acl, { role: 'guest' }), '--');
  assert.is(rights('view:main', ['OWNER:read'], { role: 'admin' }), '--');
  assert.is(rights('state:owner/own1', [], { role: 'adult' }), '--', 'the owner’s branch is the owner’s');
  assert.is(rights('state:device/phone1', [], { role: 'guest' }), 'rw');
});

test('a person who was invited owns documents of their own, and reads of the household what is opened to their role', () => {
  const kid: Principal = { ...me, owner_id: 'person_1', role: 'kid', household: 'own1' };
  const of = (owner: string, branch: string, acl: string[], who = kid) => {
    const { read, write } = rightsOf(parseKey(`${owner}/lamp/${branch}`), acl, who);
    return `${read ? 'r' : '-'}${write ? 'w' : '-'}`;
  };
  const acl = skillAcl('lamp');
  assert.is(of('person_1', 'state:main', acl), 'r-');
  assert.is(of('person_1', 'state:owner/person_1', []), 'rw');
  assert.is(of('person_1', 'state:device/phone1', []), 'rw');
  assert.is(of('own1', 'state:main', acl), '--');
  assert.is(of('own1', 'state:main', [...acl, 'ROLE:KID:read']), 'r-');
  assert.is(of('own1', 'state:main', [...acl, 'ROLE:GUEST:read']), '--');
  for (const branch of ['state:device/phone1', 'state:owner/person_1', 'state:owner/own1'])
    assert.is(of('own1', branch, []), '--', `${branch} of the owner`);
  assert.is(of('own2', 'state:main', ['ROLE:KID:read']), '--', 'another household');
  assert.is(of('person_2', 'state:main', ['ROLE:KID:read', ...acl]), '--', 'another person');
  assert.not(isElevated({ ...kid, elevated_until: 9e9 }, 1));
});

test('local control reads all and writes what a browser could', () => {
  assert.is(rights('view:main', [], null), 'r-');
  assert.is(rights('state:main', [], null), 'r-');
  assert.is(rights('state:device/any', [], null), 'rw');
  assert.is(rights('state:owner/any', [], null), 'rw');
  assert.is(rights('state:preview/device', [], null), 'r-');
  assert.is(rights('view:device/any', [], null), 'rw');
  assert.is(rights('view:preview/any', [], null), 'r-');
});

test('admin skills are open to the owner until the time is up, and to local control', () => {
  assert.ok(isElevated(me, 99));
  assert.not(isElevated(me, 100));
  assert.not(isElevated({ ...me, role: 'admin' }, 99));
  assert.ok(isElevated(null, 1e12));
});

test('a principal is exactly that', () => {
  assert.equal(checkPrincipal({ ...me }), me);
  for (const role of roles) assert.is(checkPrincipal({ ...me, role }).role, role);
  const kid = { ...me, owner_id: 'person_1', role: 'kid', household: 'own1' } as const;
  assert.equal(checkPrincipal({ ...kid }), kid);
  const longest = 'x'.repeat(128);
  assert.is(checkPrincipal({ ...me, browser: longest }).browser, longest);
  const bad: [unknown, string][] = [
    [null, ''],
    [undefined, ''],
    ['x', ''],
    [[], ''],
    [[me], ''],
    [{ ...me, more: 1 }, '/more'],
    [{ ...me, ['y'.repeat(60)]: 1 }, `/${'y'.repeat(40)}`],
    [{ ...me, owner_id: 7 }, '/owner_id'],
    [{ ...me, owner_id: 'owner' }, '/owner_id'],
    [{ ...me, owner_id: '' }, '/owner_id'],
    [{ ...me, browser: ['phone1'] }, '/browser'],
    [{ ...me, browser: '' }, '/browser'],
    [{ ...me, browser: `${longest}x` }, '/browser'],
    [{ ...me, browser: 'a/b' }, '/browser'],
    [{ ...me, browser: '/b' }, '/browser'],
    [{ ...me, browser: 'b/' }, '/browser'],
    [{ ...me, role: 'root' }, '/role'],
    [{ ...me, elevated_until: '1' }, '/elevated_until'],
    [{ ...me, elevated_until: Number.NaN }, '/elevated_until'],
    [{ ...me, elevated_until: Number.POSITIVE_INFINITY }, '/elevated_until'],
    [{ ...me, household: 'own2' }, '/household'],
    [{ ...me, role: 'kid', household: 'own1' }, '/household'],
    [{ ...me, role: 'kid', household: 'owner' }, '/household'],
    [{ ...me, role: 'kid', household: 7 }, '/household'],
  ];
  for (const [value, pointer] of bad)
    assert.throws(
      () => checkPrincipal(value),
      (e: IngleError) => {
        assert.equal([e.code, e.details], ['invalid_request', { pointer }], JSON.stringify(value));
        return true;
      },
    );
});

test.run();
