import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FAILURES, OFF_S, offFor, openBudget, WINDOW_S } from '../../firmware/skills/budget.ts';

/** Failures so many seconds apart, the last one at 10,000. */
const apart = (n: number, s: number) => Array.from({ length: n }, (_, i) => 10_000 - (n - 1 - i) * s);

const table: [what: string, failed: number[], now: number, off: number][] = [
  ['nothing failed', [], 10_000, 0],
  ['one short of the budget', apart(FAILURES - 1, 1), 10_000, 0],
  ['the budget in a moment', apart(FAILURES, 1), 10_000, OFF_S],
  ['the same a minute later', apart(FAILURES, 1), 10_060, OFF_S - 60],
  ['the same when its time is over', apart(FAILURES, 1), 10_000 + OFF_S, 0],
  ['just inside the window', apart(FAILURES, WINDOW_S / (FAILURES - 1)), 10_000, OFF_S],
  ['spread wider than the window', apart(FAILURES, WINDOW_S / (FAILURES - 1) + 1), 10_000, 0],
  ['more than the budget, the first of them long ago', [1, ...apart(FAILURES, 1)], 10_000, OFF_S],
  ['old ones, and one after the time off', [...apart(FAILURES, 1), 10_000 + OFF_S], 10_001 + OFF_S, 0],
];
for (const [what, failed, now, off] of table)
  test(`how long a skill stays off: ${what}`, () => assert.is(offFor(failed, now), off));

function budget() {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-budget-'));
  const clock = { now: 50_000, booted: 49_000 };
  const open = (bundle?: string) =>
    openBudget(
      folder,
      'lamp',
      bundle,
      () => clock.now,
      () => clock.booted,
    );
  const code = () => {
    try {
      open().begin();
      return '';
    } catch (e) {
      const { code, details } = e as { code: string; details: { retry_after: number } };
      return `${code} ${details.retry_after}`;
    }
  };
  return { clock, open, code, file: join(folder, '.runs') };
}

test('runs that do not end in order add up over processes; those that do never count', () => {
  const b = budget();
  for (let i = 0; i < 20; i++) {
    const run = b.open();
    run.begin();
    run.ended();
  }
  for (let i = 0; i < FAILURES; i++) {
    b.clock.now += 2;
    assert.is(b.code(), '', `failure ${i}`);
  }
  assert.is(b.code(), `unavailable ${OFF_S}`);
  b.clock.now += OFF_S - 1;
  assert.is(b.code(), 'unavailable 1');
  b.clock.now += 1;
  assert.is(b.code(), '', 'then it has its budget again');
  assert.is(b.code(), '');
});

test('what a restart of the machine cut short does not count, nor does a clock that was set back or a torn file', () => {
  const b = budget();
  for (let i = 0; i < FAILURES; i++) b.open().begin();
  assert.match(b.code(), /^unavailable/);
  b.clock.booted = b.clock.now + 10;
  b.clock.now += 20;
  assert.is(b.code(), '');
  for (let i = 1; i < FAILURES; i++) b.open().begin();
  assert.match(b.code(), /^unavailable/);
  Object.assign(b.clock, { now: 1000, booted: 900 });
  assert.is(b.code(), '');
  for (const text of ['', '[1,', '{"a":1}', 'null', '["x",{},null]']) {
    writeFileSync(b.file, text);
    assert.is(b.code(), '', text);
    assert.is(JSON.parse(readFileSync(b.file, 'utf8')).at(-1), 1000);
  }
});

test('a new version begins with its whole budget, and so does the one that comes back', () => {
  const b = budget();
  for (let i = 0; i < FAILURES; i++) b.open('lamp-1').begin();
  assert.throws(() => b.open('lamp-1').begin(), /stays off/);
  for (let i = 0; i < FAILURES; i++) b.open('lamp-2').begin();
  assert.throws(() => b.open('lamp-2').begin(), /stays off/);
  b.open('lamp-1').begin();
  b.open().begin();
});

test('what began up to five seconds before the machine is of this start: its clock is not that exact', () => {
  const b = budget();
  for (let i = 0; i < FAILURES; i++) b.open().begin();
  b.clock.booted = b.clock.now + 5;
  assert.match(b.code(), /^unavailable/);
  b.clock.booted = b.clock.now + 5.1;
  assert.is(b.code(), '');
});

test('on this machine and its own clock: for an hour, in minutes, and nobody else reads the marks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-budget-'));
  for (let i = 0; i < FAILURES; i++) openBudget(folder, 'lamp').begin();
  assert.throws(
    () => openBudget(folder, 'lamp').begin(),
    /"lamp" has failed 10 times and stays off for 60 minutes/,
  );
  assert.is(statSync(join(folder, '.runs')).mode & 0o777, 0o600);
  assert.is(JSON.parse(readFileSync(join(folder, '.runs'), 'utf8')).length, FAILURES);
});

test('what a skill puts in the place of its marks holds up no start', () => {
  const puts: [string, (file: string) => void][] = [
    ['a pipe', (file) => execFileSync('mkfifo', [file])],
    ['a folder', (file) => mkdirSync(join(file, 'deep'), { recursive: true })],
    ['a link to a device', (file) => symlinkSync('/dev/zero', file)],
    ['a flood', (file) => writeFileSync(file, `[${'1,'.repeat(4096)}1]`)],
  ];
  for (const [what, put] of puts) {
    const b = budget();
    put(b.file);
    assert.is(b.code(), '', what);
    assert.equal(JSON.parse(readFileSync(b.file, 'utf8')), [b.clock.now], what);
  }
});

test('a folder that cannot be written keeps no skill from starting', () => {
  const run = openBudget('/proc/nowhere', 'lamp');
  run.begin();
  run.ended();
});

test.run();
