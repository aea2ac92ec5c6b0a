// What decides about updates, without a process: versions, the index, the table, the night, the verdicts.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { updateText } from '../../firmware/text/update.ts';
import { updateTable } from '../../firmware/update/machine.ts';
import { isNight, nextNight } from '../../firmware/update/night.ts';
import { bundleUrl, indexUrl, isChannel, MAX_BUNDLE, parseIndex } from '../../firmware/update/offer.ts';
import { mountsBelow } from '../../firmware/update/sticks.ts';
import { judge, reasonOf, refusal } from '../../firmware/update/verdict.ts';
import { compareVersions, isVersion } from '../../firmware/update/version.ts';

const test = suite('update rules');

/** Every move there is, one a line; what is not here is refused. */
const moves = `
idle offered available
idle prepare verifying
idle roll_back draining
available offered available
available none idle
available fetch downloading
available prepare verifying
available roll_back draining
downloading fetched downloaded
downloading failed available
downloading cancel available
downloaded offered available
downloaded none idle
downloaded prepare verifying
downloaded roll_back draining
verifying verified installing
verifying failed idle
installing written installed
installing failed idle
installing on_trial trial
installing came_up idle
installed restart draining
installed night waiting
installed set_aside idle
installed on_trial trial
installed came_up idle
installed fell_back idle
waiting restart draining
waiting cancel installed
waiting set_aside idle
waiting on_trial trial
waiting came_up idle
waiting fell_back idle
draining drained restarting
draining on_trial trial
draining came_up idle
draining fell_back idle
restarting stuck installed
restarting on_trial trial
restarting came_up idle
restarting fell_back idle
trial came_up idle
trial fell_back idle
trial roll_back draining`;

test('the table has exactly these moves', () => {
  const have = Object.entries(updateTable).flatMap(([s, row]) =>
    Object.entries(row).map(([e, next]) => `${s} ${e} ${next}`),
  );
  assert.equal(have.sort(), moves.trim().split('\n').sort());
});

test('while a version runs on trial the slot behind it is never written', () => {
  for (const [state, row] of Object.entries(updateTable))
    if (Object.values(row).includes('verifying'))
      assert.ok(['idle', 'available', 'downloaded'].includes(state));
});

test('every state and reason has its text', () => {
  for (const s of Object.keys(updateTable))
    for (const k of [`busy_${s}`, `state_${s}`]) assert.ok(Object.hasOwn(updateText.en, k), k);
});

test('versions are ordered as semver.org says', () => {
  const order =
    '0.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.2 1.10 2026.11.5'.split(
      ' ',
    );
  order.forEach((a, i) => {
    order.forEach((b, j) => {
      assert.is(Math.sign(compareVersions(a, b)), Math.sign(i - j), `${a} ${b}`);
    });
  });
  assert.is(compareVersions('1.0', '1.0.0'), 0);
  assert.is(compareVersions('1.0.0+a', '1.0.0+b'), 0);
  for (const bad of ['', 'one', '1..2', 'v1', '1.2.3.4.5', '-1', '1.0.0 ', '9'.repeat(70), 1, null])
    assert.not(isVersion(bad), String(bad));
});

const word = fc.stringMatching(/^[0-9A-Za-z-]{1,6}$/);
const version = fc
  .tuple(fc.array(fc.nat(999_999_999), { minLength: 1, maxLength: 4 }), fc.array(word, { maxLength: 3 }))
  .map(([n, pre]) => n.join('.') + (pre.length > 0 ? `-${pre.join('.')}` : ''))
  .filter(isVersion);

test('the order of versions is one: reversed when swapped, and it goes on over three', () => {
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      assert.is(compareVersions(a, a), 0);
      assert.is(Math.sign(compareVersions(a, b)), -Math.sign(compareVersions(b, a)));
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) assert.ok(compareVersions(a, c) <= 0);
    }),
    { numRuns: 2000 },
  );
});

const home = 'https://updates.example.org/stable/generic.json';
const good = {
  version: '1.2.3',
  url: 'x.raucb',
  size: 100,
  sha256: 'a'.repeat(64),
  notes: 'New\u0007s\nline',
};

test('an index is read, its address made whole, its words made plain', () => {
  const o = parseIndex(JSON.stringify({ ...good, future: { more: 1 } }), home);
  assert.equal(o, {
    version: '1.2.3',
    url: 'https://updates.example.org/stable/x.raucb',
    size: 100,
    sha256: 'a'.repeat(64),
    notes: { en: 'New s\nline', ru: 'New s\nline' },
    min_version: '',
  });
  assert.is(indexUrl('https://u.example/', 'beta', 'my hub/1'), 'https://u.example/beta/my%20hub%2F1.json');
});

test('a hostile index is refused with the place of its fault', () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ version: '../1' }, '/version'],
    [{ version: 7 }, '/version'],
    [{ size: 0 }, '/size'],
    [{ size: 1.5 }, '/size'],
    [{ size: MAX_BUNDLE + 1 }, '/size'],
    [{ size: '100' }, '/size'],
    [{ sha256: 'A'.repeat(64) }, '/sha256'],
    [{ sha256: '' }, '/sha256'],
    [{ url: 'http://elsewhere.example/x.raucb' }, '/url'],
    [{ url: 'file:///etc/shadow' }, '/url'],
    [{ url: 'https://user:pass@updates.example.org/x' }, '/url'],
    [{ url: `https://x/${'y'.repeat(3000)}` }, '/url'],
    [{ min_version: 'new' }, '/min_version'],
    [{ notes: {} }, '/notes'],
  ];
  for (const [change, pointer] of cases)
    try {
      parseIndex(JSON.stringify({ ...good, ...change }), home);
      assert.unreachable(JSON.stringify(change));
    } catch (e) {
      assert.instance(e, IngleError);
      assert.is((e as IngleError).details?.['pointer'], pointer);
    }
  for (const text of [
    '',
    '[]',
    'null',
    '{"__proto__": 1}',
    `{"a":${'['.repeat(99)}${']'.repeat(99)}}`,
    'x'.repeat(70_000),
  ])
    assert.throws(
      () => parseIndex(text, home),
      (e: unknown) => e instanceof IngleError,
    );
});

test('no index, whatever it says, is more than an error or an offer over HTTPS', () => {
  const field = fc.constantFrom('version', 'url', 'size', 'sha256', 'notes', 'min_version');
  fc.assert(
    fc.property(fc.array(fc.tuple(field, fc.jsonValue()), { maxLength: 6 }), fc.webUrl(), (changes, url) => {
      const text = JSON.stringify({ ...good, url, ...Object.fromEntries(changes) });
      try {
        const o = parseIndex(text, home);
        assert.ok(o.url.startsWith('https://') && isVersion(o.version) && o.size <= MAX_BUNDLE);
      } catch (e) {
        assert.instance(e, IngleError);
      }
    }),
    { numRuns: 500 },
  );
});

test('plain HTTP is for the place the maker named alone', () => {
  const lab = 'http://10.0.0.1:8000/updates';
  assert.is(bundleUrl('http://10.0.0.1:8000/x.raucb', lab), 'http://10.0.0.1:8000/x.raucb');
  assert.throws(() => bundleUrl('http://10.0.0.2:8000/x.raucb', lab));
  assert.throws(() => bundleUrl('http://10.0.0.1:8000/x.raucb', ''));
  assert.ok(
    isChannel('beta') && !isChannel('../x') && !isChannel('') && !isChannel('a..b') && !isChannel('A'),
  );
});

test('a signed bundle is refused for its device, its age, and an index that lied', () => {
  const device = { compatible: 'hub', min_version: '1.0.0', running: '1.5.0' };
  const bundle = { version: '1.6.0', compatible: 'hub' };
  assert.is(refusal(bundle, device), undefined);
  assert.is(refusal({ ...bundle, version: '1.0.0' }, device), undefined);
  assert.is(refusal({ ...bundle, compatible: 'Hub' }, device), 'other_device');
  assert.is(refusal({ ...bundle, version: '0.9.9' }, device), 'too_old');
  assert.is(refusal({ ...bundle, version: '1.0.0-rc.1' }, device), 'too_old');
  assert.is(refusal({ ...bundle, version: 'x' }, device), 'bad_bundle');
  assert.is(refusal(bundle, device, { version: '1.7.0', min_version: '' }), 'wrong_version');
  assert.is(refusal(bundle, device, { version: '1.6.0', min_version: '1.5.1' }), 'too_far');
});

test('what came of a restart is told by the boot and the slot that runs', () => {
  const p = {
    kind: 'update' as const,
    from: { slot: 'rootfs.0', version: '1' },
    to: { slot: 'rootfs.1', version: '2' },
    boot_id: 'x',
  };
  const now = (boot_id: string, slot: string, committed: boolean) => judge(p, { boot_id, slot, committed });
  assert.is(now('x', 'rootfs.0', true), 'same_boot');
  assert.is(now('y', 'rootfs.0', true), 'fell_back');
  assert.is(now('y', 'rootfs.1', false), 'on_trial');
  assert.is(now('y', 'rootfs.1', true), 'came_up');
});

test("RAUC's words are understood where they are known", () => {
  const said: [string, string][] = [
    ['signature verification failed: Verify error: unable to get local issuer certificate', 'bad_signature'],
    ['signature verification failed: ECDSA verify:CMS_verify:content verify error', 'bad_signature'],
    ['Invalid bundle format: Signature size (13186674670534971587) exceeds bundle size', 'bad_bundle'],
    ['Invalid bundle format: Signature size is 0', 'bad_bundle'],
    ["Failed mounting bundle: Unexpected dm-verity status 'C' (instead of '\\0')", 'bad_bundle'],
    ["Version mismatch: Expected at least '1.0.0' but bundle manifest has '0.9.0'", 'too_old'],
    ["Compatible mismatch: Expected 'hub' but bundle manifest has 'x'", 'other_device'],
    ['Invalid identifier. Did you pass a valid RAUC bundle?', 'bad_bundle'],
    ['failed to open bundle: No such file or directory', 'not_found'],
    ['something else', 'install_failed'],
  ];
  for (const [words, reason] of said) assert.is(reasonOf(words), reason, words);
});

test('night is from three to five by the clock of the house', () => {
  const at = (h: number, m = 0) => new Date(2026, 10, 21, h, m);
  assert.ok(isNight(at(3)) && isNight(at(4, 59)) && !isNight(at(5)) && !isNight(at(2, 59)));
  assert.equal(nextNight(at(4)), at(4));
  assert.equal(nextNight(at(1)), at(3));
  assert.equal(nextNight(at(23)), new Date(2026, 10, 22, 3));
});

test('mounted sticks are found by their mount points, with blanks in their names', () => {
  const mounts = `proc /proc proc rw 0 0
/dev/sda1 /run/media/MY\\040STICK vfat ro 0 0
/dev/sdb1 /run/mediation vfat ro 0 0
/dev/vda1 / ext4 rw 0 0`;
  assert.equal(mountsBelow(mounts, '/run/media'), ['/run/media/MY STICK']);
});

test.run();
