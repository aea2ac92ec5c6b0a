// When sleeping skills are woken for their timers, with a real store and a clock that is given.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryDisk } from '../../firmware/skills/disk.ts';
import { duesSchema, openDues } from '../../firmware/skills/dues.ts';
import { openKept } from '../../firmware/skills/keep.ts';
import { type Clock, openTimers } from '../../firmware/skills/timers.ts';
import { openStore } from '../../firmware/system/store.ts';

const log = { error() {}, warn() {}, notice() {}, info() {}, debug() {} };
const dir = mkdtempSync(join(tmpdir(), 'ingle-dues-'));
test.after(() => rmSync(dir, { recursive: true, force: true }));
let files = 0;

/** Time that stands until it is moved. */
function givenTime() {
  let now = 1000;
  const waiting = new Set<{ at: number; work: () => void }>();
  const clock: Clock = {
    now: () => now,
    after(ms, work) {
      const one = { at: now + ms, work };
      waiting.add(one);
      return () => void waiting.delete(one);
    },
  };
  function move(to: number): void {
    for (;;) {
      const [next] = [...waiting].filter((w) => w.at <= to).sort((a, b) => a.at - b.at);
      if (!next) break;
      waiting.delete(next);
      now = next.at;
      next.work();
    }
    now = to;
  }
  return { clock, move };
}

async function bench(file = join(dir, `${files++}.db`)) {
  const store = await openStore(file, [duesSchema]);
  const time = givenTime();
  const woken: string[] = [];
  const gone = new Set<string>();
  const dues = await openDues({
    store,
    log,
    clock: time.clock,
    wake(id) {
      woken.push(`${id} ${time.clock.now()}`);
      return !gone.has(id);
    },
  });
  return { file, store, woken, gone, dues, move: time.move };
}

test('each is woken at its time, the next one first, and not before', async () => {
  const b = await bench();
  b.dues.begin();
  await b.dues.keep('late', 90_000_000);
  await b.dues.keep('soon', 5000);
  b.move(4999);
  assert.equal(b.woken, []);
  b.move(5000);
  assert.equal(b.woken, ['soon 5000']);
  await b.dues.keep('soon', 0);
  b.move(90_000_000);
  assert.equal(b.woken, ['soon 5000', 'late 90000000']);
  await b.store.close();
});

test('what was due while nobody was there is woken at the next start, once, however long ago', async () => {
  const b = await bench();
  await b.dues.keep('a', 900);
  await b.store.close();
  const again = await bench(b.file);
  again.move(2000);
  assert.equal(again.woken, [], 'not before it may');
  again.dues.begin();
  again.move(2000);
  assert.equal(again.woken, ['a 2000']);
  await again.dues.keep('a', 3_000_000);
  again.move(2_999_999);
  assert.is(again.woken.length, 1);
  await again.store.close();
});

test('one that does not come is woken again each minute, until it says when it is due', async () => {
  const b = await bench();
  b.dues.begin();
  await b.dues.keep('a', 2000);
  b.move(2000 + 3 * 60_000);
  assert.equal(b.woken, ['a 2000', 'a 62000', 'a 122000', 'a 182000']);
  await b.dues.keep('a', 500_000);
  b.move(499_999);
  assert.is(b.woken.length, 4);
  await b.store.close();
});

test('one that is no longer installed is forgotten, on the disk too', async () => {
  const b = await bench();
  b.gone.add('a');
  b.dues.begin();
  await b.dues.keep('a', 2000);
  b.move(2000);
  for (let i = 0; i < 100 && (await b.store.all('SELECT * FROM dues')).length > 0; i++);
  assert.equal(await b.store.all('SELECT * FROM dues'), []);
  b.move(10_000_000);
  assert.is(b.woken.length, 1);
  b.dues.stop();
  await b.store.close();
});

test('once it is stopped nobody is woken', async () => {
  const b = await bench();
  b.dues.begin();
  await b.dues.keep('a', 2000);
  b.dues.stop();
  b.move(10_000_000);
  assert.equal(b.woken, []);
  await b.store.close();
});

test('a skill may go only once its very next time is kept by somebody, and that is not close', async () => {
  const { clock, move } = givenTime();
  const told: number[] = [];
  const vault = await openKept(memoryDisk(), '1.0.0', { log });
  const t = openTimers(vault, log, clock, (next) => told.push(next));
  assert.equal([t.next(), t.waiting()], [0, false]);
  await t.timers.set('far', 500_000);
  assert.equal([t.next(), t.waiting()], [500_000, true]);
  t.kept(500_000);
  assert.not.ok(t.waiting());
  await t.timers.set('near', 400_000);
  assert.ok(t.waiting(), 'the time that is kept is not the next any more');
  t.kept(400_000);
  assert.not.ok(t.waiting());
  move(370_000);
  assert.ok(t.waiting(), 'half a minute before');
  await t.timers.clear('near');
  await t.timers.clear('far');
  assert.equal([t.next(), t.waiting()], [0, false]);
  assert.equal(told.splice(0), [500_000, 400_000, 500_000, 0]);
  // What was asked before the next was set is kept after it: it is told once more, and then it is well.
  await t.timers.set('late', 900_000);
  t.kept(800_000);
  assert.equal([t.waiting(), told.splice(0)], [true, [900_000, 900_000]]);
  t.kept(900_000);
  assert.equal([t.waiting(), told], [false, []]);
});

test.run();
