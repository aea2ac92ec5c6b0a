import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FREE_TRIES, noTries, oneMore, openGate, type Tries, waitMs } from '../../firmware/setup/backoff.ts';
import { openState } from '../../firmware/setup/state.ts';
import { house, patient, type World } from './world.ts';

const s = 1000;
const h = 3600 * s;
const day = 24 * h;

test('five wrong tries cost nothing; then the wait doubles from half a minute to an hour', () => {
  let t: Tries = noTries;
  const waits: number[] = [];
  for (let i = 0, now = 10 * s; i < 14; i++) {
    t = oneMore(t, now);
    waits.push(waitMs(t, now) / s);
    now += waitMs(t, now);
    assert.is(waitMs(t, now), 0);
  }
  assert.equal(waits, [0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
});

/** Tries of somebody who has every PIN window open for a year and pauses `pause` ms after every `burst` tries. */
function tries(burst: number, pause: number): number {
  let t: Tries = noTries;
  let n = 0;
  for (let now = 0; now < 365 * day; n++) {
    t = oneMore(t, now);
    now += Math.max(1, waitMs(t, now));
    if ((n + 1) % burst === 0) now += pause;
  }
  return n;
}

test('a PIN of six digits cannot be searched in a year, with pauses or without', () => {
  const steady = tries(1e9, 0);
  assert.is(steady, 8770);
  for (let burst = 1; burst <= 30; burst++)
    assert.ok(tries(burst, day) <= steady, `bursts of ${burst} with a calm day between them`);
});

test('whatever the machine is told of time, no start of it shortens a wait', () => {
  fc.assert(
    fc.property(
      // Real time that goes by between tries, and whether the power is cut in between.
      fc.array(fc.record({ ms: fc.integer({ min: 0, max: 2 * h }), cut: fc.boolean() }), { maxLength: 60 }),
      (steps) => {
        let t: Tries = noTries;
        let real = 0;
        let booted = 0;
        let free = 0;
        for (const { ms, cut } of steps) {
          // A cut takes all of the step's time but the last second from the uptime.
          real += ms;
          if (cut) booted = real - Math.min(ms, s);
          if (waitMs(t, real - booted) > 0) continue;
          if (t.wrong >= FREE_TRIES) {
            const due = Math.min(h, 30 * s * 2 ** (t.wrong - FREE_TRIES));
            assert.ok(real - free >= due, `${real - free} of ${due} ms after ${t.wrong}`);
          }
          t = oneMore(t, real - booted);
          free = real;
        }
      },
    ),
  );
});

test('after a calm day the count begins anew', () => {
  const t: Tries = { wrong: 12, at: h };
  assert.is(oneMore(t, h + day - 1).wrong, 13);
  assert.is(oneMore(t, h + day).wrong, 1);
  // Started since: up for a day is a day, whenever that was.
  assert.is(oneMore({ wrong: 12, at: 40 * h }, day).wrong, 1);
});

test('tries that come together are counted one by one, and one that cannot be kept is not taken', async () => {
  const kept: Tries[] = [];
  let full = false;
  const gate = openGate({
    tries: noTries,
    uptime: () => 0,
    async save(t) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (full) throw new Error('disk full');
      kept.push(t);
    },
  });
  const taken = await Promise.all(Array.from({ length: 50 }, () => gate.take()));
  assert.is(taken.filter(Boolean).length, FREE_TRIES);
  assert.equal(
    kept.map((t) => t.wrong),
    [1, 2, 3, 4, 5],
  );
  await gate.right();
  assert.is(gate.left(), FREE_TRIES);
  full = true;
  assert.match(String(await gate.take().catch((e) => e)), /disk full/);
});

test('kill -9 while a try is looked at gives none away', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'ingle-tries-')), 'setup.db');
  const script = `
    import { openGate } from './firmware/setup/backoff.ts';
    import { openState } from './firmware/setup/state.ts';
    const f = await openState(${JSON.stringify(file)});
    const gate = openGate({ tries: f.tries, save: (t) => f.saveTries(t), uptime: () => 1000 });
    if (!(await gate.take())) process.exit(7);
    process.kill(process.pid, 'SIGKILL');
    setInterval(() => {}, 1000);
  `;
  const ends: (string | number | null)[] = [];
  for (let i = 0; i < FREE_TRIES + 1; i++) {
    const r = spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    });
    ends.push(r.signal ?? r.status);
    if (r.status !== null && r.status !== 7) throw new Error(r.stderr);
  }
  assert.equal(ends, [...Array(FREE_TRIES).fill('SIGKILL'), 7]);
  const f = await openState(file);
  assert.equal(f.tries, { wrong: FREE_TRIES, at: 1000 });
  await f.close();
});

const label = { psk: 'printedprinted', pin: '123456' };

test('the PIN of a label is locked out as well, over restarts of setup and of the machine', async () => {
  const world: World = patient({ label, uptime: 100 * s });
  const first = await house(world);
  await first.setup.begin();
  await first.reach('CHANNELS');
  const window = first.setup.secrets().window;
  const wrong = () => first.setup.authorise('bot', '000000');
  for (let left = FREE_TRIES - 1; left > 0; left--)
    assert.equal(await wrong(), { ok: false, left, wait_s: 0 });
  assert.equal(await wrong(), { ok: false, left: 0, wait_s: 30 });
  assert.is(first.setup.secrets().window, window, 'a label has no other PIN to open a new window for');
  assert.equal(await first.setup.authorise('bot', label.pin), { ok: false, left: 0, wait_s: 30 });
  assert.is(await first.setup.takeTry('ble'), 30);
  assert.ok(first.progress.includes('bot failed pin_wait'));
  await first.setup.stop();

  // Started again ten seconds later, then by a power cut that has the uptime begin anew.
  world.uptime = 110 * s;
  const second = await house(world, first.file);
  await second.setup.begin();
  assert.is(second.setup.status().pin_wait_s, 20);
  await second.setup.stop();
  world.uptime = 5 * s;
  const third = await house(world, first.file);
  await third.setup.begin();
  assert.equal(await third.setup.authorise('bot', label.pin), { ok: false, left: 0, wait_s: 25 });
  world.uptime = 30 * s;
  assert.equal(await third.setup.authorise('bot', '123-456'), { ok: true, left: FREE_TRIES, wait_s: 0 });
  await third.setup.stop();
});

test('a one-time PIN is made anew after five wrong ones, and the wait goes on', async () => {
  const world: World = patient({ uptime: 0 });
  const hub = await house(world);
  await hub.setup.begin();
  await hub.reach('CHANNELS');
  const before = hub.setup.secrets();
  const wrong = before.pin === '000000' ? '000001' : '000000';
  for (let i = 0; i < FREE_TRIES; i++) await hub.setup.authorise('bot', wrong);
  const after = hub.setup.secrets();
  assert.is.not(after.pin, before.pin);
  assert.is(after.psk, before.psk, 'whoever uses the access point is not disturbed');
  assert.is((await hub.setup.authorise('bot', after.pin)).wait_s, 30);
  world.uptime = 30 * s;
  assert.is((await hub.setup.authorise('bot', wrong)).wait_s, 60);
  await hub.setup.stop();
});

test('wrong tries do not keep a window open; a right one does', async () => {
  const world = patient({ idle: 1000 });
  const hub = await house(world);
  await hub.setup.begin();
  await hub.reach('CHANNELS');
  const opened = Date.now();
  const trying = setInterval(() => {
    // The machine's time flies, so that each try is taken.
    world.uptime = (world.uptime ?? 0) + 2 * h;
    void hub.setup.authorise('bot', 'wrong!').catch(() => {});
    // Nor does looking around without a proof.
    hub.setup.touch('');
  }, 20);
  while (hub.setup.state !== 'HINT' && Date.now() - opened < 10_000)
    await new Promise((resolve) => setTimeout(resolve, 10));
  clearInterval(trying);
  assert.is(hub.setup.state, 'HINT');
  hub.setup.restart('button');
  await hub.reach('CHANNELS');
  let closed = false;
  void hub.reach('HINT').then(() => (closed = true));
  for (let i = 0; i < 6; i++) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    world.uptime = (world.uptime ?? 0) + 2 * h;
    assert.ok((await hub.setup.authorise('bot', hub.setup.secrets().pin)).ok);
  }
  assert.not.ok(closed);
  await hub.setup.stop();
});

test.run();
