// timeout: 2400 s
// Updates of a flashed hub by real bundles: those it must refuse, one that fails its trial, and a good one, which rots.
// Tries and waits are the product's own but where bundles.ts says so.
import { closeSync, openSync, writeSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { offsetOf } from '../../image/disk.ts';
import { refused } from '../lab/vm/bundles.ts';
import { call, plain } from '../lab/vm/hub.ts';
import { bare, whole, wired } from '../lab/vm/interrupt.ts';
import { cannotRun, type Vm } from '../lab/vm/lab.ts';
import { checksOf } from '../lab/vm/suite.ts';
import { backend, carry, flashed, isOn, slow, type World } from '../lab/vm/updates.ts';

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<World>('updates of a flashed hub');
/** Read in place of /etc/ingle/config.json, as a laboratory may. */
const config = 'systemd.setenv=INGLE_CONFIG=/var/lab/config.json';
flashed(test, why, `${config} ${wired} systemd.wants=ingle-restart.path`);
const check = checksOf(test, why, { chain: true });

const kept = (vm: Vm) => vm.must('cat /var/lab/kept');
const version = (vm: Vm) => vm.must('sed -n s/^IMAGE_VERSION=//p /etc/os-release');
/** Waits until ingle-update has said this so often since the boot; what it said. */
const says = (vm: Vm, what: string, times = 1) =>
  vm.must(`grep -m ${times} '${what}' <(journalctl -b -f -n all -u ingle-update -o cat)`, {
    timeoutMs: slow,
  });
/** ingle-update, which comes by itself when it is called; the bus waits 25 s, and this one longer. */
const updates = (vm: Vm) => vm.must('systemctl start ingle-update', { timeoutMs: slow });
async function order(vm: Vm, source: string, restart: '' | 'now'): Promise<void> {
  await updates(vm);
  await call(vm, 'Update1', 'Install', 'ss', source, restart);
}

/** Waits until the machine runs this slot and the boot is over for good: a trial that will fail is over when it fell. */
async function runs(vm: Vm, slot: 'a' | 'b'): Promise<void> {
  for (let boots = 1; (await vm.must('cat /run/ingle/slot')) !== slot; boots++) {
    assert.ok(boots < 3, `slot ${slot} does not come`);
    await vm.restart('true', { timeoutMs: slow });
  }
}

interface Result {
  ok: boolean;
  from: string;
  to: string;
  reason: string;
  text: string;
}
/** What came of the passage that ended in this boot. */
async function result(vm: Vm): Promise<Result> {
  await updates(vm);
  await says(vm, 'the version that was started stays\\|the hub went back');
  const [, , , detail] = await call(vm, 'Update1', 'Status');
  return (plain(detail) as { result: Result }).result;
}
check('a bundle badly signed, changed, truncated, for another device or too old is refused', async (c) => {
  const { vm, server } = c;
  await vm.put('/var/lab/config.json', JSON.stringify({ update: { url: server.http } }));
  const names = Object.keys(refused);
  await carry(c, names);
  // A server the hub trusts: its CA stands beside the others.
  await vm.put('/run/lab-ca.pem', server.ca);
  const trusted = '/etc/ssl/certs/ca-certificates.crt';
  await vm.must(`cat ${trusted} >>/run/lab-ca.pem; mount --bind /run/lab-ca.pem ${trusted}`);
  let said = '';
  for (const [n, name] of names.entries()) {
    await order(vm, `${server.https}/${name}.raucb`, 'now');
    said = await says(vm, 'the update failed', n + 1);
  }
  const reasons = said.split('\n').map((line) => /reason=(\w+)/.exec(line)?.[1]);
  assert.equal(reasons, Object.values(refused), said);
  // Nor does one go in by hand, past the hub's own service.
  const hand = names.map((name) => `rauc install /var/lab/${name}.raucb && echo ${name} went in`).join('; ');
  assert.not.match(await vm.must(`${hand}; true`, { timeoutMs: slow }), /went in/);
  assert.is(await backend(vm, 'get-primary'), 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
});

check('one whose uplink cannot start is not called good and left, and the owner reads why', async (c) => {
  const { vm, server } = c;
  // Streamed from the maker's own server: it never lies on the disk. Then the machine restarts by itself.
  const up = vm.restart('true', { timeoutMs: slow });
  await order(vm, `${server.http}/uplink.raucb`, 'now');
  await up;
  await runs(vm, 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
  assert.is(await kept(vm), 'kept');
  const r = await result(vm);
  assert.equal([r.ok, r.to, r.reason], [false, '1.1.0', 'not_healthy']);
  assert.match(r.text, /io\.ingle\.Uplink1 missing/);
});

check('an update of the channel is fetched, tried, found good and kept, also without the time', async (c) => {
  const { vm, server, a } = c;
  server.offer(a.model, 'b.raucb', '1.1.0');
  await updates(vm);
  assert.match(await vm.must('ingle update check'), /1\.1\.0/);
  await vm.must('ingle update install', { timeoutMs: slow });
  await vm.must('sync');
  await vm.kill();
  // A machine without a battery and a network yet has the time of its image.
  await vm.start(`${config} ${whole}`, { rtc: '2020-01-01T00:00:00' });
  await runs(vm, 'b');
  assert.ok(Number(await vm.must('date +%s')) >= a.date, 'the clock is older than the image');
  assert.is(await version(vm), '1.1.0');
  const r = await result(vm);
  assert.equal([r.ok, r.from, r.to], [true, a.version, '1.1.0']);
  await vm.must('test -e /run/ingle/trial && test -e /run/ingle/committed');
  assert.is.not((await vm.run('/usr/lib/ingle/rauc-backend trial')).code, 0);
  assert.is(await kept(vm), 'kept');
  const api = (path: string) =>
    `curl -sf -H "X-Service-Token: $(cat /var/lib/ingle/api/token)" http://127.0.0.1:8777${path}`;
  // Skills start just now, and a slow machine has no time for RAUC to tell of its slots.
  const said = await vm.until(api('/api/admin/update/status'), {
    test: (s) => s.startsWith('{'),
  });
  const status = JSON.parse(said) as Record<string, unknown>;
  assert.equal([status['version'], status['slot']], ['1.1.0', 'b']);
  // What the screen of the skill in slot 2 shows.
  await vm.must('systemctl start ingle-skill@2', { timeoutMs: slow });
  await vm.until(api('/skills/updates/v1/state'), {
    test: (s) => s.includes('1.1.0'),
  });
});

check('a good root that rots gives way to the other', async (c) => {
  const { vm } = c;
  await vm.must('sync');
  await vm.kill();
  const fd = openSync(vm.disk, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0x55), 0, 4096, offsetOf('ingle-root-b'));
  closeSync(fd);
  await vm.start(bare);
  await isOn(vm, 'a');
  assert.is(await backend(vm, 'get-state', 'b'), 'bad');
});

test.run();
