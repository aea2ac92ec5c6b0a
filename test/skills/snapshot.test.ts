// What slots of skills start from: a snapshot of their host, by the Node that runs these tests.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import { forAnyProcessor, withoutCodeCache } from '../../firmware/skills/snapshot.ts';
import { connect } from '../../firmware/system/bus.ts';
import { hostFlags } from '../../services/cli/house/snapshot.ts';
import { privateBus } from '../lab/bus.ts';
import { child, ended } from '../lab/child.ts';
import { until } from '../lab/wait.ts';

const { build } = await import('../../services/cli/build.mjs' as string);
await build();

const main = resolve('dist/services/skill-host/main.js');
const dir = mkdtempSync(join(tmpdir(), 'ingle-snapshot-'));
test.after(() => rmSync(dir, { recursive: true, force: true }));

/** A size as the snapshot has it, and what has it. */
const sized = (what: Buffer) => {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(what.length));
  return Buffer.concat([size, what]);
};
const text = (s: string) => sized(Buffer.from(s));
/** A snapshot in the form of Node 20, with V8's own part and so many caches. */
function blobOf(own: Buffer, caches: readonly Buffer[]): Buffer {
  const count = Buffer.alloc(8);
  count.writeBigUInt64LE(BigInt(caches.length));
  const head = [Buffer.from([0x19, 0xda, 0x43, 0x01, 1]), text('20.1.0'), text('x64'), text('linux')];
  const rest = caches.flatMap((c, i) => [text(`internal/module_${i}`), sized(c)]);
  return Buffer.concat([...head, Buffer.from([1, 2, 3, 4]), own, count, ...rest]);
}

test('a snapshot loses the caches of modules and nothing else, whatever lies in it', () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((b) => Buffer.from(b));
  const own = fc.uint8Array({ minLength: 64, maxLength: 400 }).map((b) => Buffer.from(b));
  fc.assert(
    fc.property(own, fc.array(bytes, { minLength: 101, maxLength: 140 }), (v8, caches) => {
      assert.equal(withoutCodeCache(blobOf(v8, caches)), blobOf(v8, []));
    }),
    { numRuns: 50 },
  );
});

test('a snapshot is marked as good for every processor, and one that Node writes otherwise is refused', () => {
  const blob = blobOf(Buffer.alloc(64, 7), []);
  const marked = forAnyProcessor(blob);
  const tag = 5 + 8 + 6 + 8 + 3 + 8 + 5;
  assert.equal([marked[4], marked.readUInt32LE(tag)], [0, 0]);
  assert.equal(marked.subarray(tag + 4), blob.subarray(tag + 4));
  assert.throws(() => forAnyProcessor(marked), /in another way/);
  assert.throws(() => withoutCodeCache(blob), /in another way/);
  for (const size of [0, 4, 63, 64, 200]) {
    assert.throws(() => forAnyProcessor(Buffer.alloc(size)));
    assert.throws(() => withoutCodeCache(Buffer.alloc(size)));
  }
});

test('a skill that starts from a snapshot has its own start: environment, log, code, interest, and its end', async () => {
  const flags = await hostFlags(resolve('dist'));
  assert.is(flags.length, 1, 'this Node makes one');
  assert.equal(await hostFlags(resolve('dist')), flags, 'and it is kept');
  assert.ok(statSync(flags[0]!.split('=')[1]!).size < 3.5e6);
  const skills = join(dir, 'skills');
  mkdirSync(join(skills, 'counter'), { recursive: true });
  writeFileSync(join(skills, 'slots.json'), '{"counter":1}');
  const capabilities = { visual: false, streams: { supportsDeclarativeInterest: true } };
  writeFileSync(
    join(skills, 'counter/manifest.json'),
    JSON.stringify({ id: 'counter', version: '1.0.0', capabilities }),
  );
  writeFileSync(join(skills, 'counter/more.cjs'), 'exports.more = 2;');
  writeFileSync(
    join(skills, 'counter/skill.js'),
    `const { basename } = require('node:path');
    exports.skill = { start: (ctx) => ({ endpoints: [{ method: 'GET', path: '/v1/which', answer: async () => ({ body: {
      id: ctx.id, pid: process.pid, said: process.env.SAID ?? '', more: require('./more.cjs').more, at: basename(__filename),
      } }) }] }) };`,
  );
  const bus = await privateBus({ quiet: true });
  const asker = await connect(bus.address);
  try {
    // systemd hears of its start, its being well and its end.
    mkdirSync(join(dir, 'bin'));
    const notify = join(dir, 'bin/systemd-notify');
    writeFileSync(notify, `#!/bin/sh\necho "$2" >> ${dir}/told\n`, { mode: 0o755 });
    const systemd = {
      PATH: `${join(dir, 'bin')}:/usr/bin:/bin`,
      NOTIFY_SOCKET: 'x',
      WATCHDOG_USEC: '600000',
    };
    const told = () => (existsSync(join(dir, 'told')) ? readFileSync(join(dir, 'told'), 'utf8') : '');
    const env = {
      ...systemd,
      INGLE_BUS_ADDRESS: bus.address,
      INGLE_DATA: join(dir, 'data'),
      INGLE_SKILLS: skills,
    };
    const c = child(process.execPath, [...flags, main, '1'], {
      env: { ...env, INGLE_CONFIG: '/nonexistent', INGLE_LOG: 'debug', SAID: 'now', JOURNAL_STREAM: '1:1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    c.stderr!.on('data', (d) => (log += d));
    const busName = skillBusName(1);
    await until(async () => (await asker.listNames()).includes(busName), 'the skill');
    const caller = asker.client(skill1, { busName });
    const owner_id = 'o-test';
    await caller.Attach({ owner_id, viewers: 0, documents: [] });
    const ask = async (method: string, path: string, body: object = {}) => {
      const r = { id: path, owner_id, method, path, headers: {}, body: Buffer.from(JSON.stringify(body)) };
      return JSON.parse(Buffer.from((await caller.Request(r)).body).toString());
    };
    const which = await ask('GET', '/v1/which');
    assert.equal(which, { id: 'counter', pid: c.pid, said: 'now', more: 2, at: 'skill.js' });
    const refused = await ask('POST', '/v1/interest', { streams: 1 });
    assert.is(refused.error, 'invalid_request', 'the checker of interest is loaded from beside the program');
    await until(() => /--ready[\s\S]*WATCHDOG=1/.test(told()), 'the watchdog to be fed');
    await ended(c, 'SIGTERM', 'the skill');
    assert.match(told(), /STOPPING=1\n/);
    assert.is(c.exitCode, 0);
    assert.match(log, /^<6>skill 1: serving skill=counter version=1\.0\.0$/m);
    assert.not.match(log, /Warning|rehearsal/i);
  } finally {
    asker.close();
    await bus.stop();
  }
});

test('a snapshot holds nothing that a process draws or measures', () => {
  const program = resolve('dist/services/skill-host/snapshot.cjs');
  const make = () => {
    const blob = join(dir, 'alike.blob');
    const v8 = ['--no-flush-bytecode', '--hash-seed=1', '--random-seed=1', '--predictable'];
    const node = [process.execPath, ...v8, `--snapshot-blob=${blob}`, '--build-snapshot', program];
    const alike = ['--pid', '--fork', 'setarch', '-R', 'env', '-i', 'HOME=/'];
    const r = spawnSync('unshare', [...alike, ...node], { encoding: 'utf8' });
    assert.is(r.status, 0, r.stderr);
    return withoutCodeCache(forAnyProcessor(readFileSync(blob)));
  };
  if (process.getuid?.() !== 0) console.log('SKIP two snapshots alike: process numbers take root rights');
  else assert.ok(make().equals(make()), 'two snapshots are equal');
});

test.run();
