// npm run test:updates   (test/vm/ takes it over once it has been run to its end)
// Updates of a flashed hub by real bundles through RAUC: those it must refuse, those that fail after the restart, and
// the power cut in the middle of one. Tries and waits are the product's own but where a line says so.
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must } from '../../firmware/system/exec.ts';
import { top } from '../../image/build.ts';
import { findDevice, readDevice } from '../../image/device.ts';
import { offsetOf } from '../../image/disk.ts';
import { type Flash, flash, update } from '../../image/flash.ts';
import { makeKeys } from '../../image/keys.ts';
import { appendTree, fixedSalt } from '../../image/verity.ts';
import { journal } from '../vm/hub.ts';
import { bare, cutInstall } from '../vm/interrupt.ts';
import { boot, cannotRun, type Vm } from '../vm/lab.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<{ vm: Vm; dir: string }>('updates of a flashed hub');
/** A step that fails says so at once; what comes after it stands on it. */
let broken = '';
const check = (name: string, run: (c: { vm: Vm; dir: string }) => Promise<void>) =>
  why
    ? test.skip(name, run)
    : test(name, async (c) => {
        if (broken) throw new Error(`not tried, as this failed before: ${broken}`);
        const began = Date.now();
        try {
          await run(c);
          console.log(
            `FIGURE ${name.replace(/[^a-z]+/gi, '_').slice(0, 40)}_s ${((Date.now() - began) / 1000).toFixed(0)}`,
          );
        } catch (e) {
          broken = name;
          console.log(`failed: ${name}\n${(e as Error).message}\n${c.vm?.console().slice(-3000)}`);
          throw e;
        }
      });

/** A root that is one in name only: its kernel finds nothing to start. */
async function hollow(dir: string, like: Flash): Promise<Flash> {
  const rootfs = join(dir, 'hollow.img');
  const from = join(dir, 'hollow');
  await must('mkdir', ['-p', ...['proc', 'sys', 'dev', 'run'].map((d) => join(from, d))]);
  writeFileSync(join(from, 'filling'), createHash('sha512').update('x').digest('hex').repeat(20_000));
  await must('mkfs.erofs', ['-T0', '--all-root', '--quiet', rootfs, from]);
  return { ...like, rootfs, verity: appendTree(rootfs, fixedSalt('hollow')) };
}

/** Serves a folder with ranges, as a server of updates does. */
const server = `
const { createServer } = require('node:http');
const { createReadStream, statSync } = require('node:fs');
createServer((q, a) => {
  const file = '/run/lab/' + q.url.slice(1);
  const { size } = statSync(file);
  const m = /bytes=(\\d+)-(\\d*)/.exec(q.headers.range ?? '');
  const [start, end] = m ? [Number(m[1]), m[2] ? Math.min(Number(m[2]), size - 1) : size - 1] : [0, size - 1];
  a.writeHead(m ? 206 : 200, { 'content-length': end - start + 1, 'accept-ranges': 'bytes',
    ...(m ? { 'content-range': 'bytes ' + start + '-' + end + '/' + size } : {}) });
  if (q.method === 'HEAD') return a.end();
  createReadStream(file, { start, end }).pipe(a);
}).listen(8099, '127.0.0.1', () => console.log('ready'));
`;

test.before(async (c) => {
  if (why) return;
  const dir = mkdtempSync(join(tmpdir(), 'ingle-update-'));
  c.dir = dir;
  const generic = readDevice(findDevice(top, 'generic'));
  const device = {
    ...generic,
    device: { ...generic.device, update: { ...generic.device.update, min_version: '0.9.0' } },
  };
  const a = await flash({ device, version: '1.0.0' });
  const b = await flash({ device, version: '1.1.0' });
  const nodeless = await flash({
    device,
    version: '1.2.0',
    change: { name: 'no node', make: (root) => rmSync(join(root, 'usr/bin/node')) },
  });
  const empty = await hollow(dir, a);
  const file = (name: string) => join(dir, name);
  await update(a, { out: file('a.raucb') });
  await update(b, { out: file('b.raucb') });
  await update(b, {
    out: file('uplink.raucb'),
    version: '1.2.1',
    options: ['systemd.mask=ingle-uplink.service'],
  });
  await update(nodeless, { out: file('nodeless.raucb'), options: ['systemd.mask=ingle-health.service'] });
  await update(empty, { out: file('panic.raucb'), version: '1.2.2' });
  await update(empty, { out: file('old.raucb'), version: '0.8.9' });
  await update(empty, { out: file('other.raucb'), version: '1.2.3', compatible: 'another-device' });
  await update(empty, {
    out: file('stranger.raucb'),
    version: '1.2.3',
    keys: await makeKeys(join(dir, 'keys')),
  });
  const panic = readFileSync(file('panic.raucb'));
  copyFileSync(file('panic.raucb'), file('short.raucb'));
  truncateSync(file('short.raucb'), Math.floor(panic.length / 2));
  panic[200_000]! ^= 0xff;
  writeFileSync(file('changed.raucb'), panic);
  writeFileSync(file('server.cjs'), server);
  const names = ['a', 'b', 'uplink', 'nodeless', 'panic', 'old', 'other', 'stranger', 'short', 'changed'];
  const files = Object.fromEntries(names.map((n) => [`${n}.raucb`, file(`${n}.raucb`)]));
  console.log(`FIGURE bundle_bytes ${statSync(file('b.raucb')).size}`);
  c.vm = await boot({ flash: a, files: { ...files, 'server.cjs': file('server.cjs') } });
  await c.vm.must('echo kept >/var/lib/kept; sync');
});
test.after(async (c) => {
  await c.vm?.stop();
  if (c.dir) rmSync(c.dir, { recursive: true, force: true });
});

const slot = (vm: Vm) => vm.must('cat /run/ingle/slot');
const kept = (vm: Vm) => vm.must('cat /var/lib/kept');
const backend = (vm: Vm, ...args: string[]) => vm.must(`/usr/lib/ingle/rauc-backend ${args.join(' ')}`);
const version = (vm: Vm) => vm.must('sed -n s/^IMAGE_VERSION=//p /etc/os-release');
const install = (vm: Vm, from: string) => vm.must(`rauc install ${from}`, { timeoutMs: 400_000 });
/** The running root was found good: its entry has no counter any more. */
const committed = (vm: Vm) =>
  vm
    .until('test -e /run/ingle/committed && ! /usr/lib/ingle/rauc-backend trial', { timeoutMs: 300_000 })
    .catch(async (e: Error) => {
      throw new Error(`${e.message}\n${await journal(vm)}`);
    });

check(
  'a bundle badly signed, changed, truncated, for another device or too old is refused',
  async ({ vm }) => {
    const refusals: [string, RegExp][] = [
      ['stranger', /signature|certificate/i],
      ['changed', /./],
      ['short', /signature|bundle/i],
      ['other', /compatible/i],
      ['old', /version/i],
    ];
    for (const [name, says] of refusals) {
      const r = await vm.run(`rauc install /run/lab/${name}.raucb`, { timeoutMs: 200_000 });
      assert.is.not(r.code, 0, name);
      assert.match(r.stdout + r.stderr, says, name);
    }
    assert.is(await backend(vm, 'get-primary'), 'a');
  },
);

check(
  'the power fails five times in the middle of an update, and the hub comes up as it was',
  async ({ vm }) => {
    await vm.kill();
    await vm.start(bare);
    for (const at of [0, 40, 55, 70, 'esp'] as const) {
      await cutInstall(vm, '/run/lab/b.raucb', at);
      assert.is(await slot(vm), 'a');
      assert.is(await kept(vm), 'kept');
      assert.is(await backend(vm, 'get-primary'), 'a');
    }
  },
);

check('a streamed update is tried, found good and kept', async ({ vm }) => {
  await vm.must('systemd-run -q --collect --unit=lab-updates node /run/lab/server.cjs');
  await vm.until('curl -sfI http://127.0.0.1:8099/b.raucb');
  await install(vm, 'http://127.0.0.1:8099/b.raucb');
  assert.is(await backend(vm, 'get-primary'), 'b');
  await vm.must('sync');
  await vm.kill();
  await vm.start('');
  assert.is(await slot(vm), 'b');
  assert.is(await version(vm), '1.1.0');
  await committed(vm);
  assert.is(await kept(vm), 'kept');
});

check('one whose kernel panics is left after three tries', async ({ vm }) => {
  await install(vm, '/run/lab/panic.raucb');
  assert.is(await backend(vm, 'get-primary'), 'a');
  await vm.restart();
  assert.is(await slot(vm), 'b');
  assert.is(await backend(vm, 'get-state', 'a'), 'bad');
  assert.is(await backend(vm, 'get-primary'), 'b');
  assert.is(await kept(vm), 'kept');
  // It had its tries.
  const tries = vm.console().match(/Attempted to kill init/g)?.length ?? 0;
  assert.is(tries, 3);
});

check('one whose uplink cannot start is not called good, and left', async ({ vm }) => {
  await install(vm, '/run/lab/uplink.raucb');
  await vm.must('sync');
  await vm.kill();
  // Four minutes are the product's; however long it waits, this uplink never comes.
  await vm.start('systemd.setenv=INGLE_HEALTH_S=20');
  assert.is(await slot(vm), 'a');
  await vm.restart('true', { timeoutMs: 600_000 });
  assert.is(await slot(vm), 'b');
  assert.is(await backend(vm, 'get-state', 'a'), 'bad');
  assert.is(await kept(vm), 'kept');
});

check('one that cannot even run its own health check is given up by the dead-man', async ({ vm }) => {
  await install(vm, '/run/lab/nodeless.raucb');
  assert.is(await backend(vm, 'get-primary'), 'a');
  await vm.must('sync');
  await vm.kill();
  // Seven minutes are the product's; the lab's agent needs node too, so the first answer comes from the old root.
  await vm.start('ingle.deadman=60');
  assert.is(await slot(vm), 'b');
  assert.is(await backend(vm, 'get-state', 'a'), 'bad');
  assert.is(await kept(vm), 'kept');
});

check('it goes back to the first version by its bundle', async ({ vm }) => {
  await install(vm, '/run/lab/a.raucb');
  await vm.restart();
  assert.is(await slot(vm), 'a');
  assert.is(await version(vm), '1.0.0');
  await committed(vm);
  assert.is(await kept(vm), 'kept');
});

check('a good root that rots gives way to the other', async ({ vm }) => {
  await vm.must('sync');
  await vm.kill();
  const fd = openSync(vm.disk, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0x55), 0, 4096, offsetOf('ingle-root-a'));
  closeSync(fd);
  await vm.start(bare);
  assert.is(await slot(vm), 'b');
  assert.is(await backend(vm, 'get-state', 'a'), 'bad');
  assert.is(await kept(vm), 'kept');
});

test.run();
