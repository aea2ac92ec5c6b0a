// What is known of the hub's boots, whatever ended them.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Boot,
  begun,
  ended,
  MAX_BOOTS,
  openBoots,
  parseBoots,
  watchdogSays,
} from '../../firmware/node/boots.ts';

const dir = mkdtempSync(join(tmpdir(), 'ingle-boots-'));
const test = suite('boots');
test.after(() => rmSync(dir, { recursive: true, force: true }));

const at = 1764000000;
const first = { id: 'a', at, version: '1.0.0' };
const second = { id: 'b', at: at + 60, version: '1.0.0' };
const endsOf = (boots: readonly Boot[]) => boots.map((b) => `${b.id} ${b.end}`);

const cases: [how: string, before: Boot[], byWatchdog: boolean, after: string[]][] = [
  ['the first boot', [], false, ['b running']],
  ['after one that ended in order', [{ ...first, end: 'orderly' }], false, ['b running', 'a orderly']],
  [
    'after one that ended in order, under a watchdog that says too much',
    [{ ...first, end: 'orderly' }],
    true,
    ['b running', 'a orderly'],
  ],
  ['after one nobody ended', [{ ...first, end: 'running' }], false, ['b running', 'a crash_or_power_cut']],
  ['after one the watchdog ended', [{ ...first, end: 'running' }], true, ['b running', 'a watchdog']],
  ['a service that was killed and comes back', [{ ...second, end: 'running' }], false, ['b running']],
  ['a service that was restarted in order', [{ ...second, end: 'orderly' }], true, ['b running']],
];
for (const [how, before, byWatchdog, after] of cases)
  test(how, () => assert.equal(endsOf(begun(before, second, byWatchdog)), after));

test('a clock that was set back changes nothing of it, and the list stays small', () => {
  let boots: Boot[] = [];
  for (let i = 0; i < 100; i++) boots = ended(begun(boots, { id: `${i}`, at: at - i, version: '1' }, false));
  assert.is(boots.length, MAX_BOOTS);
  assert.equal(endsOf(boots).slice(0, 2), ['99 orderly', '98 orderly']);
});

test('a torn file, or one of another shape, counts for nothing', () => {
  const whole = JSON.stringify([{ ...first, end: 'running' }]);
  assert.is(parseBoots(whole).length, 1);
  for (let i = 0; i < whole.length; i++) assert.equal(parseBoots(whole.slice(0, i)), [], `${i}`);
  for (const other of [
    '{}',
    '7',
    '[7]',
    '[{"id":1}]',
    whole.replace('running', 'odd'),
    `[${'['.repeat(100_000)}`,
  ])
    assert.equal(parseBoots(other), []);
});

test('what the watchdog left in the machine is read', () => {
  const folder = join(dir, 'watchdog');
  assert.is(watchdogSays(folder), false);
  mkdirSync(join(folder, 'watchdog0'), { recursive: true });
  for (const [said, byWatchdog] of [
    ['0\n', false],
    ['32\n', true],
    ['33\n', true],
    ['odd', false],
  ] as const) {
    writeFileSync(join(folder, 'watchdog0', 'bootstatus'), said);
    assert.is(watchdogSays(folder), byWatchdog, said);
  }
});

test('boots follow one another on the disk', async () => {
  const faults: unknown[] = [];
  const open = (boot: string) =>
    openBoots({ data: dir, runtime: join(dir, boot), version: '1', failed: (e) => faults.push(e) });
  await open('one');
  await (await open('one')).end();
  await open('two');
  const three = await open('three');
  assert.equal(
    three.list().map((b) => b.end),
    ['running', 'crash_or_power_cut', 'orderly'],
  );
  assert.is(parseBoots(readFileSync(join(dir, 'boots.json'), 'utf8')).length, 3);
  assert.equal(faults, []);
});

test('a disk that takes nothing stops nobody', async () => {
  const faults: unknown[] = [];
  const file = join(dir, 'file');
  writeFileSync(file, '');
  chmodSync(file, 0o400);
  for (const where of [
    { data: file, runtime: join(dir, 'four') },
    { data: dir, runtime: join(file, 'x') },
  ]) {
    const boots = await openBoots({ ...where, version: '1', failed: (e) => faults.push(e) });
    await boots.end();
  }
  assert.ok(faults.length >= 2, `${faults.length}`);
});

test.run();
