// Puts ours into the Debian root: bundles, units, bus files, configuration. The base stays as it was.
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Device } from '../firmware/device/device.ts';
import { must } from '../firmware/system/exec.ts';
import { epoch } from './base.ts';
import { filesBelow } from './bundles.ts';
import { isNative } from './compile.ts';
import { asAnybody } from './host.ts';
import { nativePath } from './native.ts';
import { addSnapshot, hostPath } from './snapshot.ts';
import { sshFiles } from './ssh.ts';
import { debianTools } from './tools.ts';
import { trim } from './trim.ts';

/** Where a kind of file in systemd/ belongs in the root: folder there -> folder here. */
const places: readonly [string, string][] = [
  ['units/', 'usr/lib/systemd/system/'],
  ['dbus/policy/', 'usr/share/dbus-1/system.d/'],
  ['dbus/services/', 'usr/share/dbus-1/system-services/'],
  ['network/', 'usr/lib/systemd/network/'],
  ['udev/', 'usr/lib/udev/rules.d/'],
  ['sysusers.d/', 'usr/lib/sysusers.d/'],
  ['tmpfiles.d/', 'usr/lib/tmpfiles.d/'],
  ['sysctl.d/', 'usr/lib/sysctl.d/'],
  ['modules-load.d/', 'usr/lib/modules-load.d/'],
  ['nftables/', 'usr/lib/ingle/nftables/'],
];

/** The path in the root of a file in systemd/, or undefined for a folder that is not known. */
export function placeOf(file: string): string | undefined {
  const place = places.find(([from]) => file.startsWith(from));
  return place && place[1] + file.slice(place[0].length);
}

/** Debian's own units a hub has no use for. hostapd is a child of ingle-wifi, never a service; ours are the consoles. */
const masked = [
  'hostapd.service',
  'nftables.service',
  'getty@.service',
  'serial-getty@.service',
  'console-getty.service',
  'getty-static.service',
  'apt-daily.timer',
  'apt-daily-upgrade.timer',
  'dpkg-db-backup.timer',
  'e2scrub_all.timer',
  'e2scrub_reap.service',
  'fstrim.timer',
  'systemd-pstore.service',
  // A root that never changes needs nothing brought up to date at its start.
  'systemd-journal-catalog-update.service',
  'systemd-update-done.service',
  'ldconfig.service',
  'systemd-remount-fs.service',
  // All users are there from the start, so the first look at the static devices (…-dev-early) is enough.
  'systemd-tmpfiles-setup-dev.service',
  // Views into the kernel and screens with a picture, which nothing of ours asks for. Each unit takes time at each start.
  'dev-hugepages.mount',
  'dev-mqueue.mount',
  'proc-sys-fs-binfmt_misc.automount',
  'sys-fs-fuse-connections.mount',
  'sys-kernel-config.mount',
  'sys-kernel-debug.mount',
  'sys-kernel-tracing.mount',
  'modprobe@drm.service',
  // What repart might want for images in files; RAUC has the kernel load it by itself.
  'modprobe@dm_mod.service',
  'modprobe@loop.service',
  // Nothing of ours asks for what these bring: networks named on the kernel's command line, rules for udev from outside,
  // radios that were switched off before.
  'systemd-network-generator.service',
  'systemd-udev-load-credentials.service',
  'systemd-rfkill.service',
  'systemd-rfkill.socket',
  // Boots are called good by RAUC and its backend, once the hub's services have answered.
  'systemd-bless-boot.service',
];
/** Programs that make units at each start for what a hub has not: System V, hibernation, TPM, SSH over vsock ... */
const maskedGenerators = [
  ...['getty', 'gpt-auto', 'hibernate-resume', 'rc-local', 'ssh', 'system-update', 'sysv', 'tpm2'],
];
/** Started by D-Bus when asked for, not at boot. */
const onDemand = ['wpa_supplicant.service'];
const enabled = ['systemd-networkd.service', 'systemd-resolved.service', 'systemd-timesyncd.service'];
/** Debian's links to the kernel it would boot. */
const links = ['vmlinuz', 'vmlinuz.old', 'initrd.img', 'initrd.img.old'];
/** Not needed once the packages are configured. */
const dropped = [
  'boot',
  'var',
  'dev',
  'run',
  'tmp',
  'etc/machine-id',
  'etc/hostname',
  'etc/.pwd.lock',
  // Empty but for words; what a device file names goes to usr/lib/modules-load.d.
  'etc/modules',
  'etc/modules-load.d',
  ...links,
];
/** Root's own; Debian lets every user mount what fstab allows them. */
const withoutSetuid = ['usr/bin/mount', 'usr/bin/umount'];
/** Empty folders other file systems are mounted on, with their modes. */
const mountPoints: readonly [string, number][] = [
  ['boot', 0o755],
  ['dev', 0o755],
  ['run', 0o755],
  ['tmp', 0o1777],
  ['var', 0o755],
  // Services that start before the data partition is there want these for their private mounts.
  ['var/tmp', 0o1777],
  ['var/lib', 0o755],
  ['var/log', 0o755],
  ['var/cache', 0o755],
];

/** What a device file changes of the root (see firmware/device/device.ts). */
export type StageDevice = Pick<Device, 'modules' | 'ssh' | 'console'>;
const generic: StageDevice = {
  modules: [],
  ssh: { enabled: false, keys: [] },
  console: { secret: '', terminals: ['ttyS0', 'tty1'] },
};

/**
 * Makes `<out>` from `base`; unchanged files are hard links.
 * @param files what of dist/ goes along (see bundles.ts)
 * @param native machine code (see native.ts)
 */
export async function stage(o: {
  top: string;
  base: string;
  files: readonly string[];
  native: Readonly<Record<string, string>>;
  out: string;
  arch: string;
  device?: StageDevice;
}): Promise<void> {
  asAnybody();
  const { top, out } = o;
  const device = o.device ?? generic;
  rmSync(out, { recursive: true, force: true });
  await must('cp', ['-al', o.base, out], { timeoutMs: 300_000 });
  const put = (from: string, to: string) => {
    const path = join(out, to);
    mkdirSync(dirname(path), { recursive: true });
    // A link shares its bytes with the base; it must go before anything is written.
    rmSync(path, { force: true });
    cpSync(from, path, { dereference: true });
    // Of a checkout's modes git keeps only whether a file is a program; the rest is its owner's umask.
    chmodSync(path, lstatSync(path).mode & 0o100 && !to.endsWith('.node') ? 0o755 : 0o644);
  };
  const write = (to: string, text: string) => {
    const path = join(out, to);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    writeFileSync(path, text);
  };
  // Tools that edit these in place would edit the base through the links.
  for (const f of ['passwd', 'group', 'shadow', 'gshadow', 'subuid', 'subgid'])
    if (existsSync(join(out, 'etc', f))) {
      const kept = readFileSync(join(out, 'etc', f));
      const mode = lstatSync(join(out, 'etc', f)).mode;
      rmSync(join(out, 'etc', f));
      writeFileSync(join(out, 'etc', f), kept, { mode });
    }
  for (const f of withoutSetuid) {
    const path = join(out, f);
    cpSync(path, `${path}.new`);
    chmodSync(`${path}.new`, 0o755);
    renameSync(`${path}.new`, path);
  }
  for (const d of dropped) rmSync(join(out, d), { recursive: true, force: true });
  for (const [d, mode] of mountPoints) {
    mkdirSync(join(out, d));
    chmodSync(join(out, d), mode);
  }
  write('etc/machine-id', '');
  for (const f of filesBelow(join(top, 'image/overlay'))) put(join(top, 'image/overlay', f), f);
  rmSync(join(out, 'etc/resolv.conf'), { force: true });
  symlinkSync('/run/systemd/resolve/stub-resolv.conf', join(out, 'etc/resolv.conf'));

  const units: string[] = [];
  const said = (f: string) => readFileSync(join(top, 'systemd', f), 'utf8');
  /** A root with some of the services only has their units only, and what would start them. */
  const isLeftOut = (f: string): boolean => {
    const program = /\/usr\/lib\/ingle\/(services\/\S+\.js)/.exec(said(f))?.[1];
    const service = f.replace(/\.(path|timer)$/, '.service');
    return program
      ? !o.files.includes(program)
      : service !== f && existsSync(join(top, 'systemd', service)) && isLeftOut(service);
  };
  for (const f of filesBelow(join(top, 'systemd'))) {
    const to = placeOf(f);
    if (isLeftOut(f)) continue;
    if (!to) throw new Error(`systemd/${f}: no place in the root is known for it (see image/stage.ts)`);
    put(join(top, 'systemd', f), to);
    if (/^units\/[^/@]+$/.test(f) && /^\[Install\]/m.test(said(f))) units.push(f.slice('units/'.length));
  }
  for (const f of o.files) put(join(top, 'dist', f), join('usr/lib/ingle', f));
  for (const [name, from] of Object.entries(o.native)) put(from, join(nativePath, name));
  write('usr/lib/ingle/package.json', '{"type":"module"}\n');

  // The day on which a user got no password is written down.
  await must('systemd-sysusers', [`--root=${out}`], { env: { SOURCE_DATE_EPOCH: epoch } });
  const systemctl = (...args: string[]) => must('systemctl', [`--root=${out}`, ...args]);
  await systemctl('mask', ...masked);
  const generators = join(out, 'etc/systemd/system-generators');
  mkdirSync(generators, { recursive: true });
  for (const name of maskedGenerators)
    symlinkSync('/dev/null', join(generators, `systemd-${name}-generator`));
  for (const u of onDemand)
    for (const wants of ['multi-user.target.wants'])
      rmSync(join(out, 'etc/systemd/system', wants, u), { force: true });
  await systemctl('enable', ...enabled, ...units);
  for (const tty of terminals(device, o.arch)) {
    const wants = join(out, 'etc/systemd/system/ingle.target.wants');
    mkdirSync(wants, { recursive: true });
    symlinkSync('/usr/lib/systemd/system/ingle-serial@.service', join(wants, `ingle-serial@${tty}.service`));
  }
  if (device.modules.length > 0)
    write('usr/lib/modules-load.d/ingle-device.conf', `${device.modules.join('\n')}\n`);
  if (device.ssh.enabled) for (const [to, text] of Object.entries(sshFiles(device.ssh.keys))) write(to, text);
  await trim(out, { arch: o.arch, tools: await debianTools(dirname(o.base)), modules: device.modules });
  // Another machine's Node does not run here; its hubs start without.
  if (isNative(o.arch)) await addSnapshot(out);
  else rmSync(join(out, hostPath), { force: true });
}

/** Where our console talks. A name that is not there is passed over at boot; boards call theirs by other names. */
function terminals(device: StageDevice, arch: string): string[] {
  const named = device.console.terminals;
  return arch === 'arm64' && named.includes('ttyS0') ? [...named, 'ttyAMA0'] : named;
}
