// npm run image -- run: the image that is flashed, in QEMU, with simulated radios, its serial console on this terminal.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { must, start } from '../firmware/system/exec.ts';
import { cache } from './build.ts';
import { emulated, emulator } from './emulator.ts';
import { needHost } from './host.ts';
import { prepare, type ReleaseOptions } from './release.ts';

interface Machine {
  machine: string[];
  /** What it is unless KVM is asked for; one of two could run into code that the other is patching. */
  emulated: string[];
  /** Words for its kernel then. */
  words: string;
}

const machines: Readonly<Record<string, Machine>> = {
  amd64: {
    machine: ['-machine', 'q35', '-device', 'i6300esb'],
    emulated: ['-accel', 'tcg,thread=single', '-cpu', 'Nehalem', '-smp', '1'],
    words: emulated,
  },
  arm64: {
    machine: ['-machine', 'virt'],
    emulated: ['-accel', 'tcg,thread=multi', '-cpu', 'cortex-a72', '-smp', '2'],
    words: '',
  },
};

/** Two Wi-Fi radios and a sound card that hears itself, as systemd takes a unit from firmware. */
const radios = `[Unit]
Description=Simulated radios
Before=ingle.target
[Service]
Type=oneshot
ExecStart=-/usr/sbin/modprobe mac80211_hwsim radios=2
ExecStart=-/usr/sbin/modprobe snd-aloop
`;

const help = (name: string, disk: string, ssh: boolean) => `
${name} boots now; its serial console is this terminal. It has two simulated Wi-Fi radios, a sound card that hears
itself and a network by cable through this computer. Its disk is kept in
  ${disk}
  (remove that file for a factory-fresh hub).

How to get in:
  here         the setup wizard and the technician's menu: press Enter once "Enter" stands there
  SSH          ${ssh ? `ssh -p ${sshPort} root@127.0.0.1, with a key of the device file` : 'off, as the device file has it'}
  rescue       hold Space while it starts, and choose Rescue
Ctrl-A X ends it, as a pulled plug would. Ctrl-A C is QEMU's own prompt.
`;
/** Where the machine's SSH is on this computer. */
const sshPort = 2222;

/** Boots and stays until the machine is off. */
export async function runImage(o: ReleaseOptions): Promise<string> {
  const m = machines[o.arch]!;
  await needHost(o.say);
  const p = await prepare(o);
  const e = await emulator(o.arch);
  const dir = join(cache, 'run', p.name);
  mkdirSync(dir, { recursive: true });
  const disk = join(dir, 'disk.raw');
  const from = join(dir, 'from');
  // Another build is another hub.
  if (!existsSync(from) || readFileSync(from, 'utf8') !== p.flash.disk) rmSync(disk, { force: true });
  if (!existsSync(disk)) {
    await must('cp', ['--sparse=always', p.flash.disk, disk], { timeoutMs: 300_000 });
    truncateSync(disk, 8 * 2 ** 30);
    copyFileSync(e.vars, join(dir, 'vars.fd'));
    writeFileSync(from, p.flash.disk);
  }
  const { ssh } = p.device.device;
  o.say(help(p.name, disk, ssh.enabled));
  const forward = ssh.enabled ? `,hostfwd=tcp:127.0.0.1:${sshPort}-:22` : '';
  // Not by itself: where this computer is a virtual machine, /dev/kvm may be there and not work.
  const real = process.env['INGLE_QEMU_ACCEL'] === 'kvm';
  const unit = Buffer.from(radios).toString('base64');
  const child = start(
    e.command[0],
    [
      ...e.command.slice(1),
      ...m.machine,
      ...(real ? ['-accel', 'kvm', '-cpu', 'host', '-smp', '2'] : m.emulated),
      ...['-m', '2048', '-nodefaults', '-no-user-config', '-display', 'none', '-serial', 'mon:stdio'],
      ...['-drive', `if=pflash,format=raw,readonly=on,file=${e.code}`],
      ...['-drive', `if=pflash,format=raw,file=${join(dir, 'vars.fd')}`],
      ...['-drive', `if=none,id=disk,file=${disk},format=raw`, '-device', 'virtio-blk-pci,drive=disk'],
      ...['-nic', `user,model=virtio-net-pci${forward}`, '-device', 'virtio-rng-pci'],
      '-smbios',
      `type=11,value=io.systemd.credential.binary:systemd.extra-unit.ingle-radios.service=${unit},value=io.systemd.boot.kernel-cmdline-extra=systemd.wants=ingle-radios.service ${real ? '' : m.words}`,
    ],
    { stdio: 'inherit' },
  );
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code ? reject(new Error(`QEMU ended with ${code}.`)) : resolve()));
  });
  return disk;
}
