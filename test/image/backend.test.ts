import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../../firmware/system/exec.ts';
import { entryText } from '../../image/esp.ts';

interface Esp {
  dir: string;
  /** Runs the backend as RAUC does; its exit status and what it says. */
  ask(...args: string[]): Promise<{ code: number; said: string }>;
  entries(): string[];
}

const test = suite<Esp>('boot entries');
test.before.each((c) => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-esp-'));
  mkdirSync(join(dir, 'loader/entries'), { recursive: true });
  mkdirSync(join(dir, 'ingle/a'), { recursive: true });
  c.dir = dir;
  c.entries = () => readdirSync(join(dir, 'loader/entries')).sort();
  c.ask = async (...args) => {
    const r = await run('sh', ['image/rauc/rauc-backend', ...args], {
      env: { INGLE_ESP: dir, INGLE_SLOT: 'a' },
    });
    return { code: r.code, said: r.stdout.toString().trim() };
  };
  writeFileSync(join(dir, 'loader/entries/ingle-0001-a.conf'), entryText('a', 'Ingle 1', ['quiet']));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));

/** A folder as a bundle holds it. */
function content(c: Esp): string {
  const dir = join(c.dir, 'content');
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'linux'), 'kernel 2');
  writeFileSync(join(dir, 'initrd'), 'initrd 2');
  writeFileSync(join(dir, 'entry'), entryText('@slot@', 'Ingle 2', ['quiet']));
  return dir;
}

const said = async (c: Esp, ...args: string[]) => (await c.ask(...args)).said;

test('a fresh hub boots a, and b is not bootable', async (c) => {
  assert.is(await said(c, 'get-current'), 'a');
  assert.is(await said(c, 'get-primary'), 'a');
  assert.is(await said(c, 'get-state', 'a'), 'good');
  assert.is(await said(c, 'get-state', 'b'), 'bad');
  assert.is.not((await c.ask('set-primary', 'b')).code, 0);
  assert.is.not((await c.ask('set-state', 'b', 'good')).code, 0);
  // RAUC says so of the slot it is about to write; an empty one is bad already.
  assert.is((await c.ask('set-state', 'b', 'bad')).code, 0);
  assert.equal(c.entries(), ['ingle-0001-a.conf']);
});

test('an installed root is tried three times, and good once it says so', async (c) => {
  assert.is((await c.ask('put', 'b', content(c))).code, 0);
  assert.is(await said(c, 'get-primary'), 'a');
  assert.is((await c.ask('set-primary', 'b')).code, 0);
  assert.equal(c.entries(), ['ingle-0001-a.conf', 'ingle-0002-b+3.conf', 'ingle-rescue.conf']);
  assert.is(await said(c, 'get-primary'), 'b');
  assert.is(await said(c, 'get-state', 'b'), 'good');
  assert.is((await c.ask('set-state', 'b', 'good')).code, 0);
  assert.equal(c.entries(), ['ingle-0001-a.conf', 'ingle-0002-b.conf', 'ingle-rescue.conf']);
});

test('the entry names its own kernel and slot, and rescue the root that runs', async (c) => {
  await c.ask('put', 'b', content(c));
  await c.ask('set-primary', 'b');
  const entry = readFileSync(join(c.dir, 'loader/entries/ingle-0002-b+3.conf'), 'utf8');
  assert.is(entry, entryText('b', 'Ingle 2', ['quiet']));
  assert.is(readFileSync(join(c.dir, 'ingle/b/linux'), 'utf8'), 'kernel 2');
  assert.is(readFileSync(join(c.dir, 'ingle/b/initrd'), 'utf8'), 'initrd 2');
  const rescue = readFileSync(join(c.dir, 'loader/entries/ingle-rescue.conf'), 'utf8');
  assert.match(rescue, /^options .*ingle\.slot=a .*systemd\.unit=rescue\.target$/m);
  assert.match(rescue, /^sort-key zz$/m);
  assert.match(rescue, /^linux \/ingle\/a\/linux$/m);
});

test('a root whose tries are used up gives way, also when it has the higher number', async (c) => {
  await c.ask('put', 'b', content(c));
  await c.ask('set-primary', 'b');
  const entries = join(c.dir, 'loader/entries');
  // As systemd-boot counts.
  const entry = readFileSync(join(entries, 'ingle-0002-b+3.conf'));
  rmSync(join(entries, 'ingle-0002-b+3.conf'));
  writeFileSync(join(entries, 'ingle-0002-b+1-2.conf'), entry);
  assert.is(await said(c, 'get-primary'), 'b');
  rmSync(join(entries, 'ingle-0002-b+1-2.conf'));
  writeFileSync(join(entries, 'ingle-0002-b+0-3.conf'), entry);
  assert.is(await said(c, 'get-primary'), 'a');
  assert.is(await said(c, 'get-state', 'b'), 'bad');
});

test('going back and forth counts up, and what boots next and is good is left alone', async (c) => {
  await c.ask('put', 'b', content(c));
  await c.ask('set-primary', 'b');
  await c.ask('set-state', 'b', 'good');
  await c.ask('set-primary', 'b');
  assert.ok(c.entries().includes('ingle-0002-b.conf'));
  await c.ask('set-primary', 'a');
  assert.ok(c.entries().includes('ingle-0003-a+3.conf'));
  await c.ask('set-state', 'a', 'good');
  await c.ask('set-primary', 'b');
  assert.equal(c.entries(), ['ingle-0003-a.conf', 'ingle-0004-b+3.conf', 'ingle-rescue.conf']);
});

test('numbers with zeroes in front are decimal', async (c) => {
  const entries = join(c.dir, 'loader/entries');
  rmSync(join(entries, 'ingle-0001-a.conf'));
  writeFileSync(join(entries, 'ingle-0009-a.conf'), 'x');
  writeFileSync(join(entries, 'ingle-0008-b.conf'), 'x');
  await c.ask('set-primary', 'b');
  assert.equal(c.entries(), ['ingle-0009-a.conf', 'ingle-0010-b+3.conf']);
  assert.is(await said(c, 'get-primary'), 'b');
});

test('two entries of one slot, as a cut may leave them, become one', async (c) => {
  const entries = join(c.dir, 'loader/entries');
  writeFileSync(join(entries, 'ingle-0000-b+0-1.conf'), 'old');
  writeFileSync(join(entries, 'ingle-0002-b+3.conf'), 'new');
  assert.is(await said(c, 'get-state', 'b'), 'good');
  assert.is((await c.ask('set-state', 'b', 'good')).code, 0);
  assert.equal(c.entries(), ['ingle-0001-a.conf', 'ingle-0002-b.conf']);
  assert.is(readFileSync(join(entries, 'ingle-0002-b.conf'), 'utf8'), 'new');
});

test('a cut anywhere while a root is put leaves the running one first', async (c) => {
  const from = content(c);
  for (const missing of ['entry', 'initrd', 'linux']) {
    rmSync(join(from, missing));
    assert.is.not((await c.ask('put', 'b', from)).code, 0);
    assert.is(await said(c, 'get-primary'), 'a');
    content(c);
  }
  // What a cut left half written is written again.
  mkdirSync(join(c.dir, 'ingle/b'), { recursive: true });
  writeFileSync(join(c.dir, 'ingle/b/linux.new'), 'half');
  assert.is((await c.ask('put', 'b', from)).code, 0);
  assert.equal(readdirSync(join(c.dir, 'ingle/b')).sort(), ['initrd', 'linux']);
});

test('the running slot is not written, and no other than a and b is named', async (c) => {
  assert.is.not((await c.ask('put', 'a', content(c))).code, 0);
  for (const slot of ['c', '', '../a', 'a b', '*'])
    for (const command of ['set-primary', 'get-state', 'put'])
      assert.is.not((await c.ask(command, slot, c.dir)).code, 0, `${command} ${slot}`);
  assert.is.not((await c.ask('set-state', 'a', 'fine')).code, 0);
  assert.is.not((await c.ask('nothing')).code, 0);
  assert.equal(c.entries(), ['ingle-0001-a.conf']);
});

test('the running slot on trial is known as such', async (c) => {
  assert.is.not((await c.ask('trial')).code, 0);
  await c.ask('put', 'b', content(c));
  await c.ask('set-primary', 'b');
  const b = (...args: string[]) =>
    run('sh', ['image/rauc/rauc-backend', ...args], { env: { INGLE_ESP: c.dir, INGLE_SLOT: 'b' } });
  assert.is((await b('trial')).code, 0);
  assert.is((await b('good')).code, 0);
  assert.is.not((await b('trial')).code, 0);
});

test.run();
