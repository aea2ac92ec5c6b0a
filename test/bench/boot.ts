// From the kernel's start to the access point's first beacon on a hub as it was flashed, and to READY on one that is
// set up; beside them a bare Debian 13 (minbase, systemd, its own initial RAM disk) that reaches multi-user in the same
// machine: one processor, whose clock counts its instructions (1 ns each; see ownTime in test/lab/vm/lab.ts), so what else
// this computer does is in no figure. QEMU starts the kernels itself; firmware and boot loader are in none of them.
//   npm run bench -- boot          ROUNDS=1 for a quick look
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, start } from '../../firmware/system/exec.ts';
import { cache } from '../../image/build.ts';
import { emulated, emulator } from '../../image/emulator.ts';
import { type Flash, flash, kernelOptions } from '../../image/flash.ts';
import { sources, suite } from '../../image/packages.ts';
import { call, reach } from '../lab/vm/hub.ts';
import { boot, cannotKeepTime } from '../lab/vm/lab.ts';
import { realTime } from '../lab/vm/machine.ts';
import { median } from './_sides.ts';
import { steps } from './_steps.ts';

const rounds = Number(process.env['ROUNDS'] ?? 3);
const why = cannotKeepTime();
if (why) throw new Error(why);
const dir = mkdtempSync(join(tmpdir(), 'ingle-boot-'));
const step = steps();

/** Kernel, initial RAM disk and disk of a bare Debian; made once, then kept. */
async function debian(): Promise<string> {
  const kept = join(cache, 'bench-debian');
  return existsSync(kept) ? kept : step('a bare Debian is made, once', () => makeDebian(kept));
}

async function makeDebian(kept: string): Promise<string> {
  const fresh = `${kept}.${process.pid}`;
  const root = join(fresh, 'root');
  mkdirSync(fresh, { recursive: true });
  const options = ['--mode=root', '--variant=minbase', '--format=directory'];
  const packages = 'linux-image-amd64,initramfs-tools,systemd-sysv,udev,dbus';
  await must('mmdebstrap', [...options, `--include=${packages}`, suite, root, ...sources()], {
    timeoutMs: 20 * 60_000,
  });
  for (const name of ['vmlinuz', 'initrd.img']) {
    const file = readdirSync(join(root, 'boot')).find((f) => f.startsWith(`${name}-`))!;
    renameSync(join(root, 'boot', file), join(fresh, name));
  }
  await must('mke2fs', ['-q', '-t', 'ext4', '-d', root, join(fresh, 'disk.raw'), '1500M'], {
    timeoutMs: 300_000,
  });
  rmSync(root, { recursive: true });
  renameSync(fresh, kept);
  return kept;
}

/** What both kernels are told; a hub is told more. */
const words = ['console=tty0', 'console=ttyS0,115200', 'loglevel=4', emulated, 'systemd.show_status=false'];

/**
 * Starts a copy of `disk`, until its teller has spoken.
 * @param teller lines of a shell that ends in what was reached and when, `[seconds]` on the kernel's clock
 * @param units more units of this boot, by name
 * @returns milliseconds
 */
async function reached(o: {
  kernel: string;
  initrd: string;
  disk: string;
  words: readonly string[];
  teller: string;
  /** The unit it begins after: until then it takes nothing from what is measured. */
  after: string;
  units?: Readonly<Record<string, string>>;
}): Promise<number> {
  const disk = join(dir, 'disk.raw');
  await must('cp', ['--sparse=always', o.disk, disk], { timeoutMs: 120_000 });
  // The medium is larger than what is on it.
  truncateSync(disk, 4096 * 2 ** 20);
  const script = Buffer.from(`${o.teller} > /dev/ttyS0\nsystemctl poweroff --force --force\n`).toString(
    'base64',
  );
  const units: Record<string, string> = {
    ...o.units,
    'teller.service': `[Unit]\nDefaultDependencies=no\nAfter=${o.after}\n[Service]\nExecStart=/bin/bash -c 'eval "$$(echo ${script} | base64 -d)"'\n`,
  };
  const log = join(dir, 'console.log');
  const strings = Object.entries(units).map(
    ([name, text]) =>
      `value=io.systemd.credential.binary:systemd.extra-unit.${name}=${Buffer.from(text).toString('base64')}`,
  );
  const child = start('chrt', [
    ...[...realTime, ...(await emulator('amd64')).command],
    ...['-accel', 'tcg,thread=single', '-icount', 'shift=0,sleep=on'],
    ...['-cpu', 'Nehalem', '-smp', '1', '-m', '2048', '-machine', 'q35'],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-serial', `file:${log}`],
    ...['-kernel', o.kernel, '-initrd', o.initrd],
    ...['-append', [...words, ...o.words, ...Object.keys(units).map((u) => `systemd.wants=${u}`)].join(' ')],
    ...['-drive', `if=none,id=disk,file=${disk},format=raw,cache=unsafe`],
    ...['-device', 'virtio-blk-pci,drive=disk', '-device', 'virtio-rng-pci'],
    ...['-smbios', `type=11,${strings.join(',')}`],
  ]);
  const off = () => child.kill('SIGKILL');
  process.once('exit', off);
  const late = setTimeout(off, 900_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(late);
  process.off('exit', off);
  const said = readFileSync(log, 'utf8');
  const seconds = /reached .*\[ *(\d+\.\d+)\]/.exec(said)?.[1];
  if (!seconds) throw new Error(`It did not come up:\n${said.slice(-2000)}`);
  return Number(seconds) * 1000;
}

async function bare(): Promise<number> {
  const from = await debian();
  return reached({
    kernel: join(from, 'vmlinuz'),
    initrd: join(from, 'initrd.img'),
    disk: join(from, 'disk.raw'),
    words: ['root=/dev/vda', 'rw'],
    after: 'multi-user.target',
    // It is said in microseconds.
    teller: `until at=$(systemctl show -P ActiveEnterTimestampMonotonic multi-user.target) && [ "$at" != 0 ]; do sleep 1; done
printf 'reached multi-user [%d.%06d]\\n' $((at / 1000000)) $((at % 1000000))`,
  });
}

/** The radios come as udev would bring them: beside the rest of the system's start. */
const radios = `[Unit]
DefaultDependencies=no
After=systemd-udev-trigger.service
[Service]
ExecStart=/usr/sbin/modprobe mac80211_hwsim radios=2
`;
/** An access point's interface has a carrier once its beacons are set; they go out every 102.4 ms, the first within that. */
const interval = 102.4;

const hub = (f: Flash, disk: string, teller: string) =>
  reached({
    kernel: f.built.kernel,
    initrd: f.built.initrd,
    disk,
    words: [...kernelOptions('ttyS0', f.verity), 'ingle.slot=a', 'rauc.slot=a'].filter(
      (w) => !words.includes(w),
    ),
    teller,
    after: 'ingle-setup.service',
    units: { 'radios.service': radios },
  });

/** What the journal said of it, and when. */
const said = (unit: string, what: string) =>
  `echo "reached $(journalctl -b -u ${unit} -o short-monotonic | grep -m 1 -e '${what}')"`;

/** The first boot; the other radio hears the beacon. */
async function firstBeacon(f: Flash): Promise<number> {
  const at = await hub(
    f,
    f.disk,
    `until [ -e /run/ingle/setup/access-point.json ]; do sleep 1; done
until iw dev wlan0 scan | grep -q 'SSID: Ingle'; do sleep 1; done
${said('systemd-networkd', 'wlan1: Gained carrier')}`,
  );
  return at + interval;
}

const ready = (f: Flash, disk: string) =>
  hub(
    f,
    disk,
    `until journalctl -b -u ingle-setup | grep -q 'ladder BOOT -> READY'; do sleep 1; done
${said('ingle-setup', 'ladder BOOT -> READY')}`,
  );

/** The disk of a hub whose setup was finished, by a cable to its root, which says it lives and no more. */
async function setUp(f: Flash): Promise<string> {
  const root = createServer((_, answer) => answer.end('{"ok":true}')).listen(0, '127.0.0.1');
  await once(root, 'listening');
  const { port } = root.address() as AddressInfo;
  const vm = await boot({
    flash: f,
    cmdline: `systemd.setenv=INGLE_ROOT=http://10.0.2.2:${port}`,
    cable: true,
    radios: 2,
  });
  try {
    const s = await reach(vm, 'setup', (x) => x.state === 'CHANNELS' || x.state.startsWith('READY'), 300_000);
    if (s.state === 'CHANNELS') {
      await vm.until(`curl -sf http://10.0.2.2:${port}/health/live`, { timeoutMs: 120_000 });
      // It may have gone on by itself at the sight of the network.
      await call(vm, 'Setup1', 'Finish', 's', 'serial').catch(() => {});
    }
    await reach(vm, 'ready', (x) => x.state.startsWith('READY'), 300_000);
    await vm.until('systemctl is-active ingle-booted', { timeoutMs: 300_000 });
    await vm.run('systemctl poweroff --no-block');
    // Until it is off.
    while ((await vm.run('sleep 1', { timeoutMs: 300_000 })).code >= 0);
    const disk = join(dir, 'ready.raw');
    await must('cp', ['--sparse=always', vm.disk, disk], { timeoutMs: 120_000 });
    return disk;
  } finally {
    await vm.stop();
    root.close();
  }
}

const times: { beacon: number[]; ready: number[]; peer: number[] } = { beacon: [], ready: [], peer: [] };
try {
  const f = await step('the disk that is flashed', () => flash());
  for (let i = 0; i < rounds; i++) {
    times.peer.push(await step(`bare Debian, round ${i + 1} of ${rounds}`, bare));
    console.log(`bare Debian in multi-user: ${Math.round(times.peer.at(-1)!)} ms`);
    times.beacon.push(await step(`first boot, round ${i + 1} of ${rounds}`, () => firstBeacon(f)));
    console.log(`first beacon: ${Math.round(times.beacon.at(-1)!)} ms`);
  }
  const disk = await step('a hub is set up', () => setUp(f));
  for (let i = 0; i < rounds; i++) {
    times.ready.push(await step(`boot of a ready hub, round ${i + 1} of ${rounds}`, () => ready(f, disk)));
    console.log(`READY: ${Math.round(times.ready.at(-1)!)} ms`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
const [ours, peer] = [Math.round(median(times.beacon)), Math.round(median(times.peer))];
console.log(`FIGURE boot_to_beacon_ms ${ours}`);
console.log(`FIGURE boot_to_ready_ms ${Math.round(median(times.ready))}`);
console.log(
  JSON.stringify({
    bench: 'boot',
    ours,
    peer,
    unit: 'ms',
    ratio: Number((ours / peer).toFixed(3)),
    target: '<= 1.6',
    ours_is: "kernel start to the access point's first beacon, first boot after flashing",
    peer_is: 'kernel start to multi-user of a bare Debian 13',
    ready: Math.round(median(times.ready)),
    rounds,
    ours_all: times.beacon.map(Math.round),
    ready_all: times.ready.map(Math.round),
    peer_all: times.peer.map(Math.round),
  }),
);
process.exit(0);
