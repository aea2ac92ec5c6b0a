// npm run test:updates   (test/vm/ takes it over once it has been run to its end)
// Updates of a flashed hub by real bundles: those it must refuse, those that fail after the restart, and the power cut
// in the middle of one. Tries and waits are the product's own but where test/vm/bundles.ts says so.
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { offsetOf } from '../../image/disk.ts';
import { type Flash, flash } from '../../image/flash.ts';
import { makeBundles, refused } from '../vm/bundles.ts';
import { journal } from '../vm/hub.ts';
import { bare, cutInstall } from '../vm/interrupt.ts';
import { boot, cannotRun, type Vm } from '../vm/lab.ts';
import { type Shelf, shelf } from '../vm/shelf.ts';
import { figure } from '../vm/suite.ts';

interface World {
  vm: Vm;
  dir: string;
  /** What is flashed. */
  a: Flash;
  server: Shelf;
}
const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<World>('updates of a flashed hub');
/** A step that fails says so at once; what comes after it stands on it. */
let broken = '';
const check = (name: string, run: (c: World) => Promise<void>) =>
  why
    ? test.skip(name, run)
    : test(name, async (c) => {
        if (broken) throw new Error(`not tried, as this failed before: ${broken}`);
        const began = Date.now();
        try {
          await run(c);
          const short = name.replace(/[^a-z]+/gi, '_').slice(0, 40);
          figure(`${short}_s`, ((Date.now() - began) / 1000).toFixed(0));
        } catch (e) {
          broken = name;
          const said = await journal(c.vm).catch(() => '');
          console.log(`failed: ${name}\n${(e as Error).message}\n${said}\n${c.vm?.console().slice(-3000)}`);
          throw e;
        }
      });

/** Read in place of /etc/ingle/config.json, as a laboratory may. */
const config = 'systemd.setenv=INGLE_CONFIG=/var/lab/config.json';

test.before(async (c) => {
  if (why) return;
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-update-'));
  c.a = await flash();
  await makeBundles(c.dir, c.a);
  figure('bundle_bytes', statSync(join(c.dir, 'b.raucb')).size);
  c.server = await shelf(c.dir);
  c.vm = await boot({ flash: c.a, cable: true, cmdline: config });
  await c.vm.put('/var/lab/config.json', JSON.stringify({ update: { url: c.server.http } }));
  await c.vm.put('/var/lab/kept', 'kept');
  await c.vm.must('sync; systemctl try-restart ingle-update', { timeoutMs: 240_000 });
});
test.after(async (c) => {
  await c.vm?.stop();
  c.server?.close();
  if (c.dir) rmSync(c.dir, { recursive: true, force: true });
});

const kept = (vm: Vm) => vm.must('cat /var/lab/kept');
const backend = (vm: Vm, ...args: string[]) => vm.must(`/usr/lib/ingle/rauc-backend ${args.join(' ')}`);
const version = (vm: Vm) => vm.must('sed -n s/^IMAGE_VERSION=//p /etc/os-release');
/** Brings a bundle to the machine's own disk. */
const carry = (c: World, name: string) =>
  c.vm.must(`curl -sSf -o /var/lab/${name}.raucb ${c.server.http}/${name}.raucb`, { timeoutMs: 200_000 });

/** Installs by hand, on a machine that runs bare. */
async function install(vm: Vm, path: string): Promise<void> {
  await vm.must(`rauc install ${path}`, { timeoutMs: 400_000 });
  assert.is(await backend(vm, 'get-primary'), 'a');
}
/** This slot runs, starts next, and the data is there. */
async function isOn(vm: Vm, slot: 'a' | 'b'): Promise<void> {
  const said = await vm.must(
    'cat /run/ingle/slot /var/lab/kept; echo; /usr/lib/ingle/rauc-backend get-primary',
  );
  assert.is(said, `${slot}\nkept\n${slot}`);
}

/** Waits until the machine runs this slot and the boot is over for good: a trial that will fail is over when it fell. */
async function runs(vm: Vm, slot: 'a' | 'b'): Promise<void> {
  for (let boots = 1; (await vm.must('cat /run/ingle/slot')) !== slot; boots++) {
    assert.ok(boots < 3, `slot ${slot} does not come`);
    await vm.restart('true', { timeoutMs: 600_000 });
  }
}

interface Result {
  ok: boolean;
  from: string;
  to: string;
  reason: string;
  text: string;
  at: number;
}
/** What came of the newest passage, as the hub tells by command, API and on the owner's screen. */
async function result(vm: Vm, since: number, timeoutMs = 400_000): Promise<Result> {
  // Asked before the boot is over, it would only take longer.
  const said = await vm.until('systemctl is-active -q ingle-booted && ingle update status --json', {
    timeoutMs,
    test: (s) => {
      const { state, result: r } = JSON.parse(s) as { state: string; result?: Result };
      return state !== 'trial' && r !== undefined && r.at > since;
    },
  });
  return (JSON.parse(said) as { result: Result }).result;
}
/** Machine's clock, Unix seconds. */
const clock = async (vm: Vm) => Number(await vm.must('date +%s'));
/** An order by the owner's command that restarts the machine. */
const passage = (vm: Vm, source: string) =>
  vm.restart(`ingle update install ${source && `--source ${source}`} --restart now`, { timeoutMs: 900_000 });

check('a bundle badly signed, changed, truncated, for another device or too old is refused', async (c) => {
  const { vm, server } = c;
  // A server the hub trusts: its CA stands beside the others.
  await vm.put('/run/lab-ca.pem', server.ca);
  const trusted = '/etc/ssl/certs/ca-certificates.crt';
  await vm.must(`cat ${trusted} >>/run/lab-ca.pem; mount --bind /run/lab-ca.pem ${trusted}`);
  for (const [name, reason] of Object.entries(refused)) {
    await carry(c, name);
    const path = `/var/lab/${name}.raucb`;
    const source = `${server.https}/${name}.raucb`;
    const by = await vm.run(`ingle update install --source ${source} --restart now --json`, {
      timeoutMs: 200_000,
    });
    assert.is.not(by.code, 0, name);
    assert.match(by.stdout + by.stderr, reason, name);
    // Nor does it go in by hand, past the hub's own service.
    const hand = await vm.run(`rauc install ${path}`, { timeoutMs: 200_000 });
    assert.is.not(hand.code, 0, name);
  }
  assert.is(await backend(vm, 'get-primary'), 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
});

check('one whose uplink cannot start is not called good and left, and the owner reads why', async (c) => {
  const { vm, server } = c;
  const since = await clock(vm);
  // Streamed from the maker's own server: it never lies on the disk.
  await passage(vm, `${server.http}/uplink.raucb`);
  await runs(vm, 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
  assert.is(await kept(vm), 'kept');
  const r = await result(vm, since);
  assert.equal([r.ok, r.to, r.reason], [false, '1.1.0', 'not_healthy']);
  assert.match(r.text, /io\.ingle\.Uplink1 missing/);
});

check('an update of the channel is fetched, tried, found good and kept, and its owner sees so', async (c) => {
  const { vm, server, a } = c;
  server.offer(a.model, 'b.raucb', '1.1.0');
  const since = await clock(vm);
  assert.match(await vm.must('ingle update check'), /1\.1\.0/);
  await passage(vm, '');
  await runs(vm, 'b');
  assert.is(await version(vm), '1.1.0');
  const r = await result(vm, since);
  assert.equal([r.ok, r.from, r.to], [true, a.version, '1.1.0']);
  await vm.must('test -e /run/ingle/trial && test -e /run/ingle/committed');
  assert.is.not((await vm.run('/usr/lib/ingle/rauc-backend trial')).code, 0);
  assert.is(await kept(vm), 'kept');
  const api = (path: string) =>
    vm.must(`curl -sf -H "X-Service-Token: $(cat /var/lib/ingle/api/token)" http://127.0.0.1:8777${path}`);
  const status = JSON.parse(await api('/api/admin/update/status')) as { version: string; slot: string };
  assert.equal([status.version, status.slot], ['1.1.0', 'b']);
  // What the screen of the skill shows.
  await vm.until(
    'curl -sf -H "X-Service-Token: $(cat /var/lib/ingle/api/token)" http://127.0.0.1:8777/skills/updates/v1/state',
    { test: (s) => s.includes('1.1.0'), timeoutMs: 120_000 },
  );
});

check('a hub that lost the time goes back to the first version by its bundle', async (c) => {
  const { vm, a } = c;
  for (const name of ['a', 'panic', 'mute']) await carry(c, name);
  // A machine without a battery and a network yet: now it has the time of its image, after the restart that of 2020.
  await vm.must(`date -s 2020-01-01; busybox hwclock -wu; date -s @${a.date}`);
  const since = await clock(vm);
  await passage(vm, '/var/lab/a.raucb');
  await runs(vm, 'a');
  assert.ok((await clock(vm)) >= a.date, 'the clock is older than the image');
  assert.is(await version(vm), a.version);
  const r = await result(vm, since);
  assert.equal([r.ok, r.from, r.to], [true, '1.1.0', a.version]);
  assert.is(await kept(vm), 'kept');
});

check('a good root that rots gives way to the other', async (c) => {
  const { vm } = c;
  await vm.must('sync');
  await vm.kill();
  const fd = openSync(vm.disk, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0x55), 0, 4096, offsetOf('ingle-root-a'));
  closeSync(fd);
  await vm.start(bare);
  await isOn(vm, 'b');
  assert.is(await backend(vm, 'get-state', 'a'), 'bad');
});

check('the power fails five times in the middle of an update, and the hub comes up as it was', async (c) => {
  const { vm } = c;
  for (const at of [0, 45, 65, 90, 'esp'] as const) {
    await cutInstall(vm, '/var/lab/a.raucb', at);
    await vm.start(bare);
    await isOn(vm, 'b');
  }
});

check('one whose kernel panics is left after three tries', async (c) => {
  const { vm } = c;
  await install(vm, '/var/lab/panic.raucb');
  await vm.restart();
  await isOn(vm, 'b');
  assert.is(await backend(vm, 'get-state', 'a'), 'bad');
  // It had its tries.
  assert.is(vm.console().match(/Attempted to kill init/g)?.length, 3);
});

check('one whose userland does nothing at all is given up by the dead-man', async (c) => {
  const { vm } = c;
  await install(vm, '/var/lab/mute.raucb');
  await vm.restart();
  await isOn(vm, 'b');
  assert.is(await backend(vm, 'get-state', 'a'), 'bad');
});

test.run();
