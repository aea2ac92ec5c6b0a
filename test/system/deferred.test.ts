// Writes that go into the tables later: what a kill, a torn log, a full disk or another program leave of them.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DeferredOptions, openDeferred } from '../../firmware/system/deferred.ts';
import { run } from '../../firmware/system/exec.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';
import { cutOff } from '../lab/cutoff.ts';

const test = suite<{ dir: string }>('deferred writes');
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-deferred-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));

type Options = Partial<DeferredOptions> & { isFull?: () => boolean; gate?: () => Promise<void> };
/** A store of words; `writes` has what went into its table at once, and whether it had been there before. */
async function words(file: string, o: Options = {}) {
  const store = await openStore(file, ['CREATE TABLE words (word TEXT PRIMARY KEY, n INTEGER)']);
  const writes: { words: string[]; again: boolean }[] = [];
  let tries = 0;
  const deferred = openDeferred({
    store,
    async write(tx, entries, again) {
      tries++;
      const some = entries.flatMap((entry) => JSON.parse(entry.toString()) as string[]);
      for (const word of some)
        await tx.run(
          `INSERT ${again ? 'OR IGNORE ' : ''}INTO words (word, n) SELECT ?, count(*) FROM words`,
          word,
        );
      await o.gate?.();
      if (o.isFull?.()) throw new Error('the disk is full');
      writes.push({ words: some, again });
    },
    isKnown: (entry) => entry[0] === '['.charCodeAt(0),
    ...{ wait: 1e6, ...o },
  });
  const add = (some: string[]) => deferred.add(Buffer.from(JSON.stringify(some)));
  const lacking = () => deferred.lacking()?.flatMap((entry) => JSON.parse(entry.toString()) as string[]);
  const all = async () =>
    (await store.all('SELECT word FROM words ORDER BY n')).map((r) => r['word'] as string);
  return { store, deferred, writes, tries: () => tries, all, add, lacking };
}
const close = async ({ deferred, store }: { deferred: { close(): Promise<void> }; store: Store }) => {
  await deferred.close();
  await store.close();
};
const why = (e: unknown) => String((e as Error).message ?? e);

test('what was added is there when the store is asked, though it was in the log alone', async ({ dir }) => {
  const a = await words(join(dir, 'a.db'));
  await a.add(['one']);
  await a.add(['two', 'three']);
  assert.equal(a.writes, []);
  assert.equal(a.lacking(), ['one', 'two', 'three']);
  assert.equal(await a.all(), ['one', 'two', 'three']);
  assert.equal(a.lacking(), []);
  assert.equal(a.writes, [{ words: ['one', 'two', 'three'], again: false }]);
  await a.add(['four']);
  await close(a);
  const b = await words(join(dir, 'a.db'));
  assert.equal(await b.all(), ['one', 'two', 'three', 'four']);
  assert.equal(b.writes, [], 'nothing is done twice');
  await close(b);
});

test('a kill at any moment loses nothing that was acknowledged, and does nothing twice', async ({ dir }) => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ add: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 2, arbitrary: fc.constant('settle' as const) },
    { weight: 2, arbitrary: fc.constant('kill' as const) },
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      let file = join(dir, `p${run++}.db`);
      let a = await words(file);
      const known: string[] = [];
      let cuts = 0;
      for (const s of steps) {
        if (s === 'settle') await a.deferred.settle();
        else if (s === 'kill') {
          const after = cutOff(file, join(dir, `p${run++}.db`));
          cuts++;
          await close(a);
          file = after;
          a = await words(file);
        } else {
          const some = Array.from({ length: s.add }, (_, i) => `${known.length + i}`);
          await a.add(some);
          known.push(...some);
        }
      }
      assert.equal(await a.all(), known, `${cuts} kills`);
      await close(a);
    }),
    { numRuns: 30, seed: 7 },
  );
});

test('a torn end of the log costs what was not acknowledged alone, whatever byte it tears at', async ({
  dir,
}) => {
  const file = join(dir, 'a.db');
  const a = await words(file);
  await a.deferred.settle();
  const ends: number[] = [];
  for (const word of ['one', 'two', 'three']) {
    await a.add([word]);
    ends.push(readFileSync(`${file}-log1`).length);
  }
  const log = readFileSync(`${file}-log1`);
  const torn = join(dir, 'torn.db');
  const near = new Set(ends.flatMap((end) => [end - 1, end, end + 1]));
  for (let at = 0; at <= log.length; at++) {
    if (at % 7 !== 0 && !near.has(at)) continue;
    // Cut off here, or what follows never came to the disk.
    for (const rest of [0, log.length - at]) {
      cutOff(file, torn);
      writeFileSync(`${torn}-log1`, Buffer.concat([log.subarray(0, at), Buffer.alloc(rest)]));
      const b = await words(torn);
      const whole = ends.filter((end) => end <= at).length;
      assert.equal(await b.all(), ['one', 'two', 'three'].slice(0, whole), `${at}`);
      await close(b);
    }
  }
  await close(a);
});

test('an older log at the end of a newer one is not read', async ({ dir }) => {
  const file = join(dir, 'a.db');
  const a = await words(file);
  for (const word of ['1st', '2nd']) await a.add([word]);
  await a.deferred.settle();
  await a.add(['3rd']);
  await a.deferred.settle();
  // The first file again, where the second entry still stands after one that is as long as the first was.
  await a.add(['4th']);
  const b = await words(cutOff(file, join(dir, 'b.db')));
  assert.equal(await b.all(), ['1st', '2nd', '3rd', '4th']);
  assert.equal(b.writes, [{ words: ['4th'], again: true }]);
  const c = await words(cutOff(join(dir, 'b.db'), join(dir, 'c.db')));
  assert.equal(await c.all(), ['1st', '2nd', '3rd', '4th']);
  assert.equal(c.writes, [], 'and is read once');
  for (const one of [a, b, c]) await close(one);
});

test('what comes while the tables take the rest is there, too, at once and after a kill', async ({ dir }) => {
  const file = join(dir, 'a.db');
  let open = () => {};
  const gates: Promise<void>[] = [];
  const a = await words(file, { gate: async () => void (await gates[0]) });
  await a.add(['one']);
  // In its log by half when the tables are asked for.
  const second = a.add(['two']);
  await a.deferred.settle();
  await second;
  assert.equal(await a.all(), ['one', 'two']);
  gates.push(new Promise<void>((done) => (open = done)));
  await a.add(['three']);
  const settled = a.deferred.settle();
  const asked = a.all();
  await a.add(['four']);
  await a.add(['five']);
  assert.equal(a.lacking(), ['three', 'four', 'five']);
  const b = await words(cutOff(file, join(dir, 'b.db')));
  assert.equal(await b.all(), ['one', 'two', 'three', 'four', 'five'], 'after a kill');
  open();
  await settled;
  assert.equal((await asked).slice(0, 3), ['one', 'two', 'three']);
  assert.equal(await a.all(), ['one', 'two', 'three', 'four', 'five']);
  for (const one of [a, b]) await close(one);
});

test('the log of another store means nothing', async ({ dir }) => {
  const a = await words(join(dir, 'a.db'));
  await a.add(['one']);
  for (const end of ['-log0', '-log1']) copyFileSync(join(dir, `a.db${end}`), join(dir, `b.db${end}`));
  const b = await words(join(dir, 'b.db'));
  assert.equal(await b.all(), []);
  await close(a);
  await close(b);
});

test('what another build has logged is put aside, and keeps out nothing else', async ({ dir }) => {
  const file = join(dir, 'a.db');
  const a = await words(file);
  await a.add(['one']);
  const newer = Buffer.from('in a form that is not known yet');
  for (let i = 0; i < 2; i++) await a.deferred.add(newer);
  await a.add(['two']);
  const told: [string, number][] = [];
  const killed = cutOff(file, join(dir, 'b.db'));
  const b = await words(killed, { setAside: (...what) => void told.push(what) });
  assert.equal(await b.all(), ['one', 'two']);
  assert.is(told.length, 1);
  const [aside, count] = told[0]!;
  assert.is(count, 2);
  assert.equal(readFileSync(aside), Buffer.concat([newer, newer]));
  await b.add(['three']);
  assert.equal(await b.all(), ['one', 'two', 'three']);
  await close(b);
  const c = await words(killed, { setAside: (...what) => void told.push(what) });
  assert.equal(await c.all(), ['one', 'two', 'three']);
  assert.is(told.length, 1, 'it is told once');
  await close(c);
  await a.store.close();
});

test('while the tables take nothing, what was acknowledged stays, what comes is refused, and others are answered', async ({
  dir,
}) => {
  const file = join(dir, 'a.db');
  let isFull = false;
  const a = await words(file, { isFull: () => isFull });
  await a.add(['one']);
  await a.deferred.settle();
  isFull = true;
  await a.add(['two']);
  assert.equal(await a.all(), ['one'], 'an answer without it');
  const tries = a.tries();
  for (let i = 0; i < 3; i++) await a.all();
  assert.is(a.tries(), tries, 'not tried for each question');
  assert.equal(a.lacking(), ['two']);
  for (let i = 0; i < 3; i++) assert.match(await a.add(['three']).then(() => 'taken', why), /disk is full/);
  assert.match(await a.deferred.settle().then(() => 'settled', why), /disk is full/);
  const b = await words(cutOff(file, join(dir, 'b.db')));
  assert.equal(await b.all(), ['one', 'two'], 'after a kill');
  isFull = false;
  await a.add(['four']);
  assert.equal(await a.all(), ['one', 'two', 'four']);
  await a.add(['five']);
  const c = await words(cutOff(file, join(dir, 'c.db')));
  assert.equal(await c.all(), ['one', 'two', 'four', 'five'], 'nothing of what was refused');
  for (const one of [a, b, c]) await close(one);
});

const small = mkdtempSync(join(tmpdir(), 'ingle-small-'));
const isMounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small]).then(
  (r) => r.code === 0,
  () => false,
);
test.after(async () => {
  if (isMounted) await run('umount', [small]);
  rmSync(small, { recursive: true });
});
if (!isMounted) console.log('SKIP a disk without room: tmpfs cannot be mounted here');
(isMounted ? test : test.skip)(
  'a disk without room for the log refuses what comes, until there is some',
  async ({ dir }) => {
    const file = join(dir, 'a.db');
    // That of the second epoch.
    symlinkSync(join(small, 'log'), `${file}-log0`);
    const a = await words(file);
    await a.add(['one']);
    await a.deferred.settle();
    const big = 'x'.repeat(100_000);
    assert.match(await a.add([big]).then(() => 'taken', why), /ENOSPC/);
    const b = await words(cutOff(file, join(dir, 'b.db')));
    assert.equal(await b.all(), ['one'], 'after a kill');
    await a.add(['three']);
    assert.equal(await a.all(), ['one', 'three']);
    await close(a);
    await close(b);
  },
);

test('a log that cannot be opened refuses what comes, and others are answered', async ({ dir }) => {
  const file = join(dir, 'a.db');
  mkdirSync(`${file}-log0`);
  const a = await words(file);
  assert.match(await a.add(['one']).then(() => 'taken', why), /EISDIR/);
  assert.equal(await a.all(), []);
  assert.is(a.lacking(), undefined, 'who knows');
  rmSync(`${file}-log0`, { recursive: true });
  await a.add(['two']);
  assert.equal(await a.all(), ['two']);
  await close(a);
});

test('what the tables refuse, as somebody else has been there, is written so that it fits', async ({
  dir,
}) => {
  const a = await words(join(dir, 'a.db'));
  await a.deferred.settle();
  await a.store.run("INSERT INTO words VALUES ('two', -1)");
  await a.add(['one', 'two', 'three']);
  assert.equal(await a.all(), ['two', 'one', 'three']);
  assert.equal(a.writes, [{ words: ['one', 'two', 'three'], again: true }]);
  await close(a);
});

test('what is much goes into the tables in groups, and all of it or nothing', async ({ dir }) => {
  let isFull = true;
  const a = await words(join(dir, 'a.db'), { isFull: () => isFull && a.tries() > 2 });
  const long = (n: number) => `${n}${'-'.repeat(300_000)}`;
  for (let n = 0; n < 9; n++) await a.add([long(n)]);
  assert.equal(await a.all(), [], 'the third group is refused');
  isFull = false;
  await a.deferred.settle();
  assert.equal(
    await a.all(),
    Array.from({ length: 9 }, (_, n) => long(n)),
  );
  assert.equal(
    a.writes.slice(-3).map((w) => w.words.length),
    [4, 4, 1],
  );
  await close(a);
});

test('a log that has grown goes into the tables by itself, and so does what waits', async ({ dir }) => {
  const a = await words(join(dir, 'a.db'), { enough: 200 });
  const words8 = (from: number) => Array.from({ length: 8 }, (_, i) => `a word of some length ${from + i}`);
  for (const word of words8(0)) await a.add([word]);
  for (let i = 0; i < 500 && a.writes.length === 0; i++) await new Promise((done) => setTimeout(done, 10));
  assert.ok(a.writes.length > 0, 'by itself');
  for (const from of [8, 16, 24]) for (const word of words8(from)) await a.add([word]);
  assert.ok(readFileSync(join(dir, 'a.db-log0')).length < 2000);
  assert.equal((await a.all()).length, 32);
  await close(a);
  const b = await words(join(dir, 'b.db'), { wait: 20 });
  await b.add(['one']);
  for (let i = 0; i < 500 && b.writes.length === 0; i++) await new Promise((done) => setTimeout(done, 10));
  assert.equal(b.writes, [{ words: ['one'], again: false }]);
  await close(b);
});

test('a store in memory has no log', async ({ dir }) => {
  let isFull = false;
  const a = await words(':memory:', { isFull: () => isFull });
  await a.add(['one']);
  isFull = true;
  assert.match(await a.add(['two']).then(() => 'taken', why), /disk is full/);
  isFull = false;
  await a.add(['three']);
  assert.equal(await a.all(), ['one', 'three']);
  assert.equal(readdirSync(dir), []);
  await close(a);
});

test.run();
