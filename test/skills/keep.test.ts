// What a skill keeps, over writes that fail, kills, updates and ways back.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Disk, diskIn, memoryDisk } from '../../firmware/skills/disk.ts';
import { openKept, skillDisk, type Way, wayOf } from '../../firmware/skills/keep.ts';
import { KEPT, MAX_TIMERS, parseKept } from '../../firmware/skills/kept.ts';
import type { Json, Migration, SkillStorage } from '../../firmware/skills/sdk/skill.ts';
import { openStorage } from '../../firmware/skills/storage.ts';
import { openTimers } from '../../firmware/skills/timers.ts';
import { logger } from '../../firmware/system/log.ts';
import { child } from '../lab/child.ts';
import { until } from '../lab/wait.ts';

process.env['INGLE_LOG'] = 'error';
const told: string[] = [];
const log = { ...logger('test'), error: (m: string) => void told.push(m), notice: () => {} };

type Migrate = (m: Migration) => void | Promise<void>;
const open = async (disk: Disk, version = '1.0.0', migrate?: Migrate, timeoutMs?: number) => {
  const vault = await openKept(disk, version, { log, migrate, timeoutMs });
  return { vault, storage: openStorage(vault) };
};
const all = (s: SkillStorage) => Object.fromEntries(s.keys().map((k) => [k, s.get(k)]));
const code = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return '';
  } catch (e) {
    assert.instance(e, IngleError);
    return (e as IngleError).code;
  }
};
const folder = () => mkdtempSync(join(tmpdir(), 'ingle-keep-'));

test('what was set is there after a restart, for the skill and for each owner apart', async () => {
  const dir = folder();
  const { storage } = await open(skillDisk(dir));
  assert.is(storage.get('n'), undefined);
  const value: Json = { list: [1, 'é', null, { deep: true }], __proto__x: 1 };
  await storage.set('n', value);
  await storage.of('ann').set('n', 2);
  await storage.set('__proto__', 'plain');
  await storage.set('gone', 1);
  await storage.delete('gone');
  const again = (await open(skillDisk(dir))).storage;
  assert.equal(again.get('n'), value);
  assert.is(again.get('__proto__'), 'plain');
  assert.is(again.of('ann').get('n'), 2);
  assert.is(again.of('bob').get('n'), undefined);
  assert.equal(again.keys(), ['n', '__proto__']);
  assert.throws(
    () => again.of('../x'),
    (e: IngleError) => e.code === 'invalid_request',
  );
});

test('what the skill does to a value it read or gave changes nothing that is stored', async () => {
  const { storage } = await open(memoryDisk());
  const given = { list: [1] };
  await storage.set('v', given);
  given.list.push(2);
  storage.get<{ list: number[] }>('v')!.list.push(3);
  assert.equal(storage.get('v'), { list: [1] });
});

test('a change shows once it is stored; one the disk refuses never shows, and the next one may succeed', async () => {
  const disk = memoryDisk();
  let full = false;
  const failing: Disk = {
    ...disk,
    write: (n, t) => (full ? Promise.reject(new Error('ENOSPC: no space left')) : disk.write(n, t)),
  };
  const { storage } = await open(failing);
  const first = storage.set('a', 1);
  assert.is(storage.get('a'), undefined);
  await first;
  full = true;
  assert.is(await code(storage.set('a', 2)), 'unavailable');
  assert.is(storage.get('a'), 1);
  full = false;
  await storage.set('b', 3);
  assert.equal(all(storage), { a: 1, b: 3 });
  assert.equal(all((await open(disk)).storage), { a: 1, b: 3 });
});

test('changes that come together are stored together, and what was set before costs no write', async () => {
  const disk = memoryDisk();
  let writes = 0;
  const counting: Disk = {
    ...disk,
    write: (n, t) => {
      writes++;
      return disk.write(n, t);
    },
  };
  const { storage } = await open(counting);
  writes = 0;
  await Promise.all(Array.from({ length: 500 }, (_, i) => storage.set(`k${i}`, i)));
  assert.ok(writes <= 2, `${writes} writes`);
  writes = 0;
  await storage.set('k0', 0);
  assert.is(writes, 0);
});

test('a storage that is full says so and keeps all it has; room that is made can be used', async () => {
  const { storage } = await open(memoryDisk());
  const big = 'x'.repeat(KEPT.value - 2);
  assert.is(await code(storage.set('one', `${big}x`)), 'too_large');
  assert.is(await code(storage.set('one', 'é'.repeat(KEPT.value / 2))), 'too_large');
  const n = Math.floor(KEPT.total / KEPT.value);
  const done = await Promise.all(Array.from({ length: n + 3 }, (_, i) => code(storage.set(`k${i}`, big))));
  const kept = done.filter((c) => c === '').length;
  assert.ok(kept >= n - 1 && kept <= n);
  assert.ok(done.slice(kept).every((c) => c === 'too_large'));
  assert.is(storage.keys().length, kept);
  await storage.delete('k0');
  await storage.set('k0', big);
  assert.is(await code(storage.of('ann').set('k', big)), 'too_large', 'the quota is over all owners');
});

test('keys are bounded in number and length, and only JSON is taken', async () => {
  const { storage } = await open(memoryDisk());
  await Promise.all(Array.from({ length: KEPT.keys }, (_, i) => storage.set(`k${i}`, 0)));
  assert.is(await code(storage.set('more', 0)), 'too_large');
  await storage.set('k0', 1);
  let deep: Json = 1;
  for (let i = 0; i < 40; i++) deep = [deep];
  for (const bad of [undefined, Number.NaN, 1n, () => 1, new Date(), new Map(), deep])
    assert.is(await code(storage.set('k1', bad as Json)), 'invalid_request');
  for (const key of ['', 'x'.repeat(129), 5 as unknown as string])
    assert.is(await code(storage.set(key, 1)), 'invalid_request');
  assert.is(storage.get('k1'), 0);
});

test('data that cannot be used is put aside and told, whatever lies there, and the skill begins anew', async () => {
  const puts: [string, (file: string) => void][] = [
    ['torn', (f) => writeFileSync(f, '{"version":"1.0.0","values":{"":{"a"')],
    ['empty', (f) => writeFileSync(f, '')],
    ['null', (f) => writeFileSync(f, 'null')],
    ['of no version', (f) => writeFileSync(f, '{"values":{},"timers":{}}')],
    [
      'a timer that is none',
      (f) => writeFileSync(f, '{"version":"1.0.0","values":{},"timers":{"t":{"due":"x"}}}'),
    ],
    [
      'every zero',
      (f) => writeFileSync(f, '{"version":"1.0.0","values":{},"timers":{"t":{"due":1,"every":0}}}'),
    ],
    ['a flood', (f) => writeFileSync(f, ' '.repeat(9 * 1024 * 1024))],
    ['a pipe', (f) => void execFileSync('mkfifo', [f])],
    ['a folder', (f) => void mkdirSync(join(f, 'deep'), { recursive: true })],
    ['a link to a device', (f) => symlinkSync('/dev/zero', f)],
  ];
  for (const [what, put] of puts) {
    const dir = folder();
    mkdirSync(join(dir, '.kept', 'data.json.bad', 'deep'), { recursive: true });
    put(join(dir, '.kept', 'data.json'));
    told.length = 0;
    const { storage } = await open(skillDisk(dir));
    assert.is(told.length, 1, what);
    assert.equal(storage.keys(), [], what);
    await storage.set('a', 1);
    assert.is((await open(skillDisk(dir))).storage.get('a'), 1, what);
    assert.ok(readdirSync(join(dir, '.kept')).includes('data.json.bad'), what);
  }
});

test('a folder nobody can write keeps no skill from starting; a change says why it fails', async () => {
  const { storage } = await open(diskIn('/proc/nowhere', 1000));
  assert.is(await code(storage.set('a', 1)), 'unavailable');
  assert.is(storage.get('a'), undefined);
});

const ways: [from: string | undefined, before: string | undefined, to: string, Way][] = [
  [undefined, undefined, '1.0.0', 'keep'],
  [undefined, '1.0.0', '1.0.0', 'keep'],
  ['1.0.0', undefined, '1.0.0', 'keep'],
  ['1.0.0', undefined, '1.0.1', 'migrate'],
  ['1.0.0', '0.9.0', '2.0.0', 'migrate'],
  ['1.0.0-a', undefined, '1.0.0', 'migrate'],
  ['1.0.0+a', undefined, '1.0.0+b', 'migrate'],
  ['odd', undefined, '1.0.0', 'migrate'],
  ['2.0.0', '1.0.0', '1.0.0', 'restore'],
  ['1.0.0', '1.0.0-a', '1.0.0-a', 'restore'],
  ['2.0.0', '1.0.0', '1.5.0', 'refuse'],
  ['2.0.0', undefined, '1.0.0', 'refuse'],
];
for (const [from, before, to, way] of ways)
  test(`data of ${from} with a copy of ${before}, started as ${to}: ${way}`, () =>
    assert.is(wayOf(from, before, to), way));

const doubled: Migrate = async ({ from, to, storage }) => {
  await storage.set('n', storage.get<number>('n')! * 2);
  await storage.set('from', `${from} ${to}`);
};

test('an update brings the data along; the way back finds it as it was; a second try migrates again', async () => {
  const dir = folder();
  const disk = skillDisk(dir);
  const one = await open(disk);
  await one.storage.set('n', 21);
  await one.vault.change((k) => ({ ...k, timers: new Map([['t', { due: 5 }]]) }));
  const two = await open(disk, '2.0.0', doubled);
  assert.equal(all(two.storage), { n: 42, from: '1.0.0 2.0.0' });
  assert.is(two.vault.now().timers.get('t')!.due, 5);
  await two.storage.set('n', 1000);
  const back = await open(disk, '1.0.0');
  assert.equal(all(back.storage), { n: 21 });
  assert.equal(all((await open(disk, '1.0.0')).storage), { n: 21 });
  assert.equal(all((await open(disk, '2.0.0', doubled)).storage), { n: 42, from: '1.0.0 2.0.0' });
  assert.equal(readdirSync(join(dir, '.kept')).sort(), ['before.json', 'data.json'], 'one copy is kept');
});

test('a version that kept nothing can be gone back to as well, and an update without migrate keeps the data', async () => {
  const disk = memoryDisk();
  await open(disk, '1.0.0');
  const two = await open(disk, '2.0.0', () => assert.unreachable('there is nothing to migrate'));
  await two.storage.set('n', 1);
  assert.equal(all((await open(disk, '3.0.0')).storage), { n: 1 });
  assert.is(await code(open(disk, '1.0.0')), 'unavailable', 'only one way back');
  assert.equal(all((await open(disk, '3.0.0')).storage), { n: 1 });
  const fresh = memoryDisk();
  await open(fresh, '1.0.0');
  await (await open(fresh, '2.0.0')).storage.set('n', 1);
  assert.equal(all((await open(fresh, '1.0.0')).storage), {});
});

const breaks: [string, Migrate][] = [
  [
    'throws',
    () => {
      throw new Error('no such field');
    },
  ],
  [
    'throws after it has changed everything',
    async (m) => {
      await doubled(m);
      await m.storage.delete('n');
      throw new Error('late');
    },
  ],
  [
    'throws what is no error',
    () => {
      throw 'words';
    },
  ],
  ['hangs', () => new Promise(() => {})],
  [
    'fills the storage',
    async ({ storage }) => {
      for (let i = 0; ; i++) await storage.set(`k${i}`, 'x'.repeat(60_000));
    },
  ],
];
for (const [what, migrate] of breaks)
  test(`a migration that ${what} leaves the data as it was, and the old version starts`, async () => {
    const disk = memoryDisk();
    await (await open(disk)).storage.set('n', 21);
    const before = disk.read('data.json');
    try {
      await open(disk, '2.0.0', migrate, 50);
      assert.unreachable();
    } catch (e) {
      assert.is((e as IngleError).code, 'unavailable');
      assert.equal((e as IngleError).details, { migration: { from: '1.0.0', to: '2.0.0' } });
      assert.match(
        (e as IngleError).message,
        /of version 1\.0\.0 cannot be brought to 2\.0\.0: .*use version 1\.0\.0/,
      );
    }
    assert.is(disk.read('data.json'), before);
    assert.equal(all((await open(disk)).storage), { n: 21 });
    assert.is((await open(disk, '2.0.0', doubled)).storage.get('n'), 42);
  });

test('a migration that goes on after its time reaches nothing', async () => {
  const disk = memoryDisk();
  await (await open(disk)).storage.set('n', 21);
  let late: SkillStorage | undefined;
  await code(
    open(
      disk,
      '2.0.0',
      ({ storage }) => {
        late = storage;
        return new Promise(() => {});
      },
      20,
    ),
  );
  assert.is(await code(late!.set('n', 0)), 'conflict');
  assert.is((await open(disk)).storage.get('n'), 21);
});

test('killed or out of space at any step of an update, the data is of the old version or of the new, whole', async () => {
  for (const way of ['killed', 'full']) {
    for (let at = 0; ; at++) {
      const disk = memoryDisk();
      await (await open(disk)).storage.set('n', 21);
      let step = 0;
      let dead = (_: string) => {};
      const died = new Promise<string>((resolve) => {
        dead = resolve;
      });
      const end = (): Promise<void> => {
        if (way === 'full') return Promise.reject(new Error('ENOSPC'));
        dead('dead');
        return new Promise(() => {});
      };
      const dying: Disk = { ...disk, write: (n, t) => (step++ >= at ? end() : disk.write(n, t)) };
      const done = await Promise.race([code(open(dying, '2.0.0', doubled)), died]);
      if (done === '') {
        assert.is(at, 2, 'steps of an update');
        break;
      }
      const old = parseKept(disk.read('data.json')!);
      assert.is(old.version, '1.0.0', `${way} at ${at}`);
      // Either may be next: the hub goes back, or tries again.
      const copy = memoryDisk();
      for (const f of ['data.json', 'before.json']) if (disk.read(f)) await copy.write(f, disk.read(f)!);
      assert.equal(all((await open(disk)).storage), { n: 21 });
      assert.is((await open(copy, '2.0.0', doubled)).storage.get('n'), 42);
      assert.equal(all((await open(copy)).storage), { n: 21 });
    }
  }
});

test('killed at any moment, what was acknowledged is there and the file is whole', async () => {
  const dir = folder();
  const program = `
    import { openKept, skillDisk } from './firmware/skills/keep.ts';
    import { openStorage } from './firmware/skills/storage.ts';
    import { logger } from './firmware/system/log.ts';
    const s = openStorage(await openKept(skillDisk(${JSON.stringify(dir)}), '1.0.0', { log: logger('x') }));
    for (let n = s.get('n') ?? 0; ; ) { await s.set('n', ++n); await s.set('pad', 'x'.repeat(n % 7 * 8000)); process.stdout.write(n + '\\n'); }`;
  let acked = 0;
  for (let i = 0; i < 4; i++) {
    const c = child(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    c.stdout!.on('data', (d) => (said += d));
    const ended = new Promise((done) => c.once('close', done));
    const many = acked + 20 + i * 7;
    await until(() => Number(said.split('\n').at(-2) ?? 0) > many, 'some writes');
    c.kill('SIGKILL');
    await ended;
    acked = Number(said.split('\n').at(-2));
    told.length = 0;
    const n = (await open(skillDisk(dir))).storage.get<number>('n')!;
    assert.ok(n === acked || n === acked + 1, `${n} after ${acked}`);
    assert.equal(told, []);
  }
  assert.ok(readFileSync(join(dir, '.kept', 'data.json'), 'utf8').startsWith('{"version":"1.0.0"'));
});

test('a skill may have only so many timers', async () => {
  const { vault } = await open(memoryDisk());
  const { timers } = openTimers(vault, log);
  for (let i = 0; i < MAX_TIMERS; i++) await timers.set(`t${i}`, i);
  assert.is(await code(timers.set('more', 1)), 'too_large');
  await timers.clear('t0');
  await timers.set('more', 1);
});

test.run();
