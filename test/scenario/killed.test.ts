// timeout: 300 s
// The engine as a process on a real file: SIGKILL at every point of its way, and power cuts in which everything that was not
// flushed may be lost. What the world saw is compared with what an undisturbed run does.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const { compile } = await import('../compile.mjs' as string);
const victim: string = (await compile(['test/scenario/victim.ts'], { whole: true })).get(
  'test/scenario/victim.ts',
);

interface Told {
  points: number;
  run: string;
  job: string;
  ticks: number;
  letters: number;
}

/** What an undisturbed life looks like. */
const test = suite<{ folder: string; calm: { told: Told; effects: string[] } }>('the engine killed');
const filesOf = (dir: string) => [join(dir, 's.db'), join(dir, 'effects'), join(dir, 'world')] as const;

function live(dir: string, at: number, around: string[] = []): Promise<Told | undefined> {
  const [db, effects, world] = filesOf(dir);
  const [program, ...args] = [...around, process.execPath, victim, db, effects, String(at), world];
  const child = spawn(program!, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, INGLE_LOG: 'silent' },
  });
  let out = '';
  child.stdout.on('data', (d) => {
    out += d;
  });
  return new Promise((done) => {
    child.on('close', () =>
      done(out.trim() ? (JSON.parse(out.trim().split('\n').at(-1)!) as Told) : undefined),
    );
  });
}
const effectsOf = (dir: string): string[] =>
  existsSync(join(dir, 'effects')) ? readFileSync(join(dir, 'effects'), 'utf8').trim().split('\n') : [];
/** Without the job's run, whose id has its time. */
const named = (effects: string[]) => effects.map((e) => e.replace(/^tick-j-\d+/, 'tick'));

/** Nothing is missing, one key is one effect, and what is done once at most is. */
function hold(effects: string[], calm: string[], says: string): void {
  const [mine, theirs] = [new Set(named(effects)), new Set(named(calm))];
  for (const e of theirs) assert.ok(mine.has(e) || e.endsWith(' once'), `${says}: ${e} is missing`);
  for (const e of mine) assert.ok(theirs.has(e), `${says}: ${e} is too much`);
  const keys = named(effects).map((e) => e.split(' ')[0]!);
  const once = named(effects).filter((e) => e.endsWith(' once'));
  assert.is(new Set(once).size, once.length, `${says}: said twice`);
  assert.is(new Set(keys).size, mine.size, `${says}: one key, two effects`);
}

test.before(async (c) => {
  c.folder = mkdtempSync(join(tmpdir(), 'ingle-killed-'));
  const dir = join(c.folder, 'calm');
  mkdirSync(dir);
  const told = await live(dir, -1);
  assert.ok(told, 'the undisturbed run ends');
  c.calm = { told, effects: effectsOf(dir) };
  assert.equal({ ...told, points: 0 }, { points: 0, run: 'FAILED', job: 'DONE', ticks: 1, letters: 1 });
});
test.after((c) => rmSync(c.folder, { recursive: true, force: true }));

test('killed at any point, everything goes on and nothing is done twice', async ({ folder, calm }) => {
  // Which of the two runs is first differs a little, so a few points more than one life had.
  const points = calm.told.points + 4;
  const one = async (at: number) => {
    const dir = join(folder, `at${at}`);
    mkdirSync(dir);
    await live(dir, at);
    const told = await live(dir, -1);
    assert.ok(told, `it goes on after point ${at}`);
    assert.equal({ ...told, points: 0 }, { ...calm.told, points: 0 }, `point ${at}`);
    hold(effectsOf(dir), calm.effects, `point ${at}`);
  };
  for (let at = 0; at < points; at += 2)
    await Promise.all([one(at), ...(at + 1 < points ? [one(at + 1)] : [])]);
  console.log(`FIGURE killed_points ${points}`);
});

/** One write or flush of a file, as strace saw it. */
interface Call {
  kind: 'write' | 'flush' | 'size' | 'gone';
  file: string;
  at: number;
  bytes: Buffer;
}

/** The writes of a life, in order. `write` to a file that was opened to append goes to its end. */
function callsOf(trace: string, dir: string): Call[] {
  const fds = new Map<string, string>();
  const ends = new Map<string, number>();
  const calls: Call[] = [];
  const open = new Map<string, string>();
  for (const line of trace.split('\n')) {
    const m = /^(\d+)\s+(.*)$/.exec(line);
    if (!m) continue;
    const [, pid] = m as unknown as [string, string];
    let text = m[2]!;
    if (text.endsWith('<unfinished ...>')) {
      open.set(pid, text.replace(/\s*<unfinished \.\.\.>$/, ''));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(text);
    if (resumed) text = (open.get(pid) ?? '') + resumed[1]!;
    const call = /^(\w+)\((.*)\)\s*=\s*(-?\d+)/.exec(text);
    if (!call || Number(call[3]) < 0) continue;
    const [, name, args, result] = call as unknown as [string, string, string, string];
    const fd = /^(\d+)/.exec(args)?.[1] ?? '';
    if (name === 'openat') {
      const path = /"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '';
      const name = Buffer.from(path.replace(/\\x/g, ''), 'hex').toString();
      if (name.startsWith(dir)) fds.set(result, name.slice(dir.length + 1));
      else fds.delete(result);
      continue;
    }
    if (name === 'unlink') {
      const path = Buffer.from(
        (/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '').replace(/\\x/g, ''),
        'hex',
      ).toString();
      if (path.startsWith(dir)) {
        ends.delete(path.slice(dir.length + 1));
        calls.push({ kind: 'gone', file: path.slice(dir.length + 1), at: 0, bytes: Buffer.alloc(0) });
      }
      continue;
    }
    if (name === 'close') fds.delete(fd);
    const file = fds.get(fd);
    if (!file || file.endsWith('-shm')) continue;
    if (name === 'pwrite64' || name === 'write') {
      const bytes = Buffer.from((/"((?:\\x[0-9a-f]{2})*)"/.exec(args)?.[1] ?? '').replace(/\\x/g, ''), 'hex');
      const at = name === 'write' ? (ends.get(file) ?? 0) : Number(/,\s*(\d+)$/.exec(args)![1]);
      assert.is(bytes.length, Number(result), 'strace told all bytes');
      ends.set(file, Math.max(ends.get(file) ?? 0, at + bytes.length));
      calls.push({ kind: 'write', file, at, bytes });
    } else if (name === 'fdatasync' || name === 'fsync')
      calls.push({ kind: 'flush', file, at: 0, bytes: Buffer.alloc(0) });
    else if (name === 'ftruncate')
      calls.push({ kind: 'size', file, at: Number(/,\s*(\d+)$/.exec(args)![1]), bytes: Buffer.alloc(0) });
  }
  return calls;
}

/** Files as they are after a cut behind `calls[cut]`: what was flushed, and of the rest what chance leaves. */
function afterCut(calls: readonly Call[], cut: number, chance: () => boolean): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const put = ({ file, at, bytes, kind }: Call) => {
    if (kind === 'gone') {
      files.delete(file);
      return;
    }
    let now = files.get(file) ?? Buffer.alloc(0);
    if (kind === 'size')
      now = now.length > at ? now.subarray(0, at) : Buffer.concat([now, Buffer.alloc(at - now.length)]);
    else {
      if (now.length < at + bytes.length)
        now = Buffer.concat([now, Buffer.alloc(at + bytes.length - now.length)]);
      bytes.copy(now, at);
    }
    files.set(file, Buffer.from(now));
  };
  const last = new Map<string, number>();
  calls.slice(0, cut).forEach((c, i) => {
    if (c.kind === 'flush') last.set(c.file, i);
  });
  calls.slice(0, cut).forEach((c, i) => {
    // A journal that was deleted is gone at once: SQLite flushes the folder with it.
    if (c.kind === 'gone' || (c.kind !== 'flush' && (i < (last.get(c.file) ?? -1) || chance()))) put(c);
  });
  return files;
}

test('a power cut that forgets what was not flushed loses nothing that was acknowledged', async ({
  folder,
  calm,
}) => {
  const dir = join(folder, 'traced');
  mkdirSync(dir);
  const log = join(folder, 'trace');
  const traced = [
    'strace',
    '-f',
    '-xx',
    '-s',
    '200000',
    '-e',
    'trace=openat,close,unlink,pwrite64,write,fdatasync,fsync,ftruncate',
    '-o',
    log,
  ];
  assert.ok(await live(dir, -1, traced), 'it ends');
  const calls = callsOf(readFileSync(log, 'utf8'), dir);
  const flushes = calls.flatMap((c, i) => (c.kind === 'flush' ? [i] : []));
  assert.ok(flushes.length > 15, `${flushes.length} flushes`);
  // Before each flush, when nothing since the last one is safe, and after it.
  const cuts = [...new Set(flushes.flatMap((i) => [i, i + 1]))].filter((i) => i > 0);
  let seed = 7;
  const chance = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed > 1073741824;
  };
  let tried = 0;
  for (const cut of cuts) {
    const at = join(folder, `cut${cut}`);
    mkdirSync(at);
    for (const [name, bytes] of afterCut(calls, cut, chance)) writeFileSync(join(at, name), bytes);
    // The world outside keeps what it saw until the cut.
    const seen = calls
      .slice(0, cut)
      .filter((c) => c.kind === 'write' && (c.file === 'effects' || c.file === 'world'));
    for (const f of ['effects', 'world']) {
      const bytes = Buffer.concat(seen.filter((c) => c.file === f).map((c) => c.bytes));
      if (bytes.length > 0) writeFileSync(join(at, f), bytes);
      else rmSync(join(at, f), { force: true });
    }
    const told = await live(at, -1);
    assert.ok(told, `it goes on after cut ${cut}`);
    assert.equal({ ...told, points: 0 }, { ...calm.told, points: 0 }, `cut ${cut}`);
    hold(effectsOf(at), calm.effects, `cut ${cut}`);
    rmSync(at, { recursive: true, force: true });
    tried++;
  }
  console.log(`FIGURE power_cuts ${tried}`);
});

test.run();
