// From the kernel's start to the access point's first beacon on a hub as it was flashed, and to READY on one that is
// set up; beside them a bare Debian 13 (minbase, systemd, its own initial RAM disk) that reaches multi-user in the same
// QEMU. Times are the kernel's own clock, so firmware and boot loader are in none of them.
//   npm run bench -- boot          ROUNDS=1 for a quick look
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must, start } from '../../firmware/system/exec.ts';
import { cache } from '../../image/build.ts';
import { flash } from '../../image/flash.ts';
import { sources, suite } from '../../image/packages.ts';
import { call, reach } from '../vm/hub.ts';
import { boot, cannotRun, type Vm } from '../vm/lab.ts';
import { median } from './_sides.ts';

const rounds = Number(process.env['ROUNDS'] ?? 3);
const why = cannotRun();
if (why) throw new Error(why);
const dir = mkdtempSync(join(tmpdir(), 'ingle-boot-'));

/** Kernel, initial RAM disk and disk of a bare Debian; made once, then kept. */
async function debian(): Promise<string> {
  const kept = join(cache, 'bench-debian');
  if (existsSync(kept)) return kept;
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

/** Says when multi-user was reached, microseconds on the kernel's clock, and ends the machine. */
const teller = `[Unit]
DefaultDependencies=no
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo reached $$(systemctl show -P ActiveEnterTimestampMonotonic multi-user.target) us > /dev/ttyS0'
ExecStart=/usr/bin/systemctl poweroff --force --force
`;

/** Milliseconds from the kernel's start to multi-user. */
async function bare(): Promise<number> {
  const from = await debian();
  const disk = join(dir, 'debian.raw');
  await must('cp', ['--sparse=always', join(from, 'disk.raw'), disk], { timeoutMs: 120_000 });
  const unit = Buffer.from(teller).toString('base64');
  const log = join(dir, 'debian.log');
  // The same machine as the lab's.
  const child = start('qemu-system-x86_64', [
    ...['-accel', 'tcg,thread=multi', '-cpu', 'Nehalem', '-smp', '2', '-m', '2048', '-machine', 'q35'],
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-serial', `file:${log}`],
    ...['-kernel', join(from, 'vmlinuz'), '-initrd', join(from, 'initrd.img')],
    ...[
      '-append',
      'console=ttyS0 root=/dev/vda rw loglevel=4 mitigations=off systemd.show_status=false systemd.wants=bench.service',
    ],
    ...['-drive', `if=none,id=disk,file=${disk},format=raw,cache=unsafe`],
    ...['-device', 'virtio-blk-pci,drive=disk', '-device', 'virtio-rng-pci'],
    ...['-smbios', `type=11,value=io.systemd.credential.binary:systemd.extra-unit.bench.service=${unit}`],
  ]);
  const off = () => child.kill('SIGKILL');
  process.once('exit', off);
  const late = setTimeout(off, 600_000);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(late);
  process.off('exit', off);
  const said = readFileSync(log, 'utf8');
  const us = /reached (\d+) us/.exec(said)?.[1];
  if (!us) throw new Error(`The bare Debian did not come up:\n${said.slice(-2000)}`);
  return Number(us) / 1000;
}

/** When the journal of this boot first said `pattern`, milliseconds on the kernel's clock. */
async function logged(vm: Vm, unit: string, pattern: string): Promise<number> {
  // One program that waits: asking again and again would take the processor from the hub.
  const line = await vm.must(
    `grep -m 1 -E -- '${pattern}' <(journalctl -b -n all -f -u ${unit} -o short-monotonic)`,
    { timeoutMs: 300_000 },
  );
  return Number(/\[ *(\d+\.\d+)\]/.exec(line)![1]) * 1000;
}

const radios = 'mitigations=off modules_load=mac80211_hwsim mac80211_hwsim.radios=2';
/** hostapd has the kernel send beacons every 102.4 ms; the first one follows what it says. */
const interval = 102.4;

async function firstBeacon(): Promise<number> {
  const vm = await boot({ flash: await flash(), cmdline: radios });
  try {
    const at = await logged(vm, 'ingle-wifi', 'softap starting -> on');
    // The other radio hears it.
    await vm.until("iw dev wlan0 scan | grep -E 'SSID: Ingle'", { timeoutMs: 120_000 });
    return at + interval;
  } finally {
    await vm.stop();
  }
}

/** A hub with a cable to its root (which says it lives, and no more) whose setup was finished, restarted. */
async function ready(): Promise<number> {
  const root = createServer((_, answer) => answer.end('{"ok":true}')).listen(0, '127.0.0.1');
  await once(root, 'listening');
  const { port } = root.address() as AddressInfo;
  const vm = await boot({
    flash: await flash(),
    cmdline: `${radios} systemd.setenv=INGLE_ROOT=http://10.0.2.2:${port}`,
    cable: true,
  });
  try {
    const s = await reach(vm, 'setup', (x) => x.state === 'CHANNELS' || x.state.startsWith('READY'), 300_000);
    if (s.state === 'CHANNELS') {
      await vm.until(`curl -sf http://10.0.2.2:${port}/health/live`, { timeoutMs: 120_000 });
      // It may have gone on by itself at the sight of the network.
      await call(vm, 'Setup1', 'Finish', 's', 'serial').catch(() => {});
    }
    await reach(vm, 'ready', (x) => x.state.startsWith('READY'), 300_000);
    await vm.restart();
    return await logged(vm, 'ingle-setup', 'ladder BOOT -> READY');
  } finally {
    await vm.stop();
    root.close();
  }
}

const times: { beacon: number[]; ready: number[]; peer: number[] } = { beacon: [], ready: [], peer: [] };
try {
  for (let i = 0; i < rounds; i++) {
    times.peer.push(await bare());
    console.log(`bare Debian in multi-user: ${Math.round(times.peer.at(-1)!)} ms`);
    times.beacon.push(await firstBeacon());
    console.log(`first beacon: ${Math.round(times.beacon.at(-1)!)} ms`);
    times.ready.push(await ready());
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
