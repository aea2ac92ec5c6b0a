// The lab: the hub's own root in QEMU, with simulated radios, virtual Bluetooth controllers and a data disk that
// stays. Commands run in it as root; killing it is a power cut.
//
//   const why = cannotRun();                       // print `SKIP ${why}` and test.skip when set
//   const vm = await boot({ radios: 3 });
//   await vm.must('systemctl start ingle-wifi');   // its stdout; throws with all it said when it fails
//   await vm.until('busctl status io.ingle.Wifi1');
//   await vm.kill(); await vm.start();             // power cut and next boot, same data
//   await vm.stop();
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../../../image/build.ts';
import { BOOT_MS, type Said } from './agent.ts';
import { dataDisk, labDisk } from './disks.ts';
import { keepFailed } from './failed.ts';
import { flashDisk } from './flashed.ts';
import { type BootOptions, type Machine, powerOn, realTime } from './machine.ts';
import { losePower, type PowerCut, watched } from './power.ts';

/** A machine beside two others has a third of a processor, and all it does is emulated, milliseconds. */
export const PATIENCE = 300_000;

export interface RunOptions {
  /** PATIENCE where nothing is said. */
  timeoutMs?: number;
  input?: string | Uint8Array;
}

export interface Vm {
  /** Runs a bash command line as root; any exit code settles, 124 when it took too long. */
  run(cmd: string, o?: RunOptions): Promise<Said>;
  /** Like `run`, but a non-zero exit throws with what was said. Answers stdout, trimmed. */
  must(cmd: string, o?: RunOptions): Promise<string>;
  /** Repeats a command until it exits 0 (and `test` holds of its stdout); throws with the journal's end when late. */
  until(cmd: string, o?: { timeoutMs?: number; test?: (stdout: string) => boolean }): Promise<string>;
  /** Writes a file into the machine (only /run, /tmp and /var are writable). */
  put(path: string, data: string | Uint8Array, mode?: number): Promise<void>;
  /** Runs `cmd`, which restarts the machine, and waits until that is up again (on whatever root it chose). */
  restart(cmd?: string, o?: { timeoutMs?: number }): Promise<void>;
  /**
   * Power cut: the machine is gone at once. What it wrote stays, but with BootOptions.cuts.
   * @param look sees what a watched disk has been told, before chance says what stays
   */
  kill(look?: (cut: PowerCut) => Promise<void>): Promise<void>;
  /** Boots again with the same data disk, with other words on the kernel's command line, or another clock, if given. */
  start(cmdline?: string, o?: Pick<BootOptions, 'rtc'>): Promise<void>;
  /** Ends the machine and removes its files; those of one that `failed` are kept, and it says where. */
  stop(): Promise<void>;
  failed(): void;
  /** The serial console since power-on. */
  console(): string;
  /** Types on the serial console. */
  type(keys: string): void;
  /** Seconds from power-on to the first command. */
  readonly bootSeconds: number;
  /** The disk of a flashed machine; written only while it is off. */
  readonly disk: string;
}

const tools: [string, string][] = [
  ['/usr/bin/mmdebstrap', 'mmdebstrap'],
  ['/usr/bin/mkfs.erofs', 'erofs-utils'],
  ['/usr/sbin/sfdisk', 'fdisk'],
  ['/usr/bin/cpio', 'cpio'],
  ['/usr/bin/xz', 'xz-utils'],
  ['/usr/bin/zstd', 'zstd'],
  ['/usr/sbin/mkfs.vfat', 'dosfstools'],
  ['/usr/bin/mcopy', 'mtools'],
  ['/usr/sbin/debugfs', 'e2fsprogs'],
  ['/usr/bin/mksquashfs', 'squashfs-tools'],
];

/** Why the lab cannot run on this machine, or undefined. */
export function cannotRun(): string | undefined {
  if (process.getuid?.() !== 0) return 'the virtual machine is built with root rights; run the tests as root';
  const missing = tools.filter(([path]) => !existsSync(path) && !existsSync(path.replace('/usr', '')));
  if (missing.length > 0) return `missing packages: ${missing.map(([, p]) => p).join(' ')}`;
  return undefined;
}

/** Why a machine with a time of its own cannot run here, or undefined: see BootOptions.ownTime. */
export function cannotKeepTime(): string | undefined {
  const may = spawnSync('chrt', [...realTime, 'true']).status === 0;
  return cannotRun() ?? (may ? undefined : 'this computer gives no program real-time priority');
}

/** Milliseconds between two looks at something slow: each is some programs, and all they do is emulated. */
export const pause = 1000;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Builds the root where needed and boots it. */
export async function boot(o: BootOptions = {}): Promise<Vm> {
  try {
    return await bootOnce(o);
  } catch (e) {
    // A suite's `before` hook swallows what it is thrown.
    console.error(e);
    throw e;
  }
}

async function bootOnce(o: BootOptions): Promise<Vm> {
  const built = o.flash?.built ?? (await build(o.services ? { only: o.services } : {}));
  const dir = mkdtempSync(join(tmpdir(), 'ingle-vm-'));
  const disk = join(dir, o.flash ? 'disk.raw' : 'data.raw');
  const lab = await labDisk(built.labBase, o.files);
  if (o.flash) await flashDisk(dir, o.flash.disk, o.factory);
  else await dataDisk(disk, o.esp);
  let machine: Machine | undefined;
  let bootSeconds = 0;
  let bad = false;

  const need = () => {
    if (!machine) throw new Error('the machine is off');
    return machine;
  };
  const vm: Vm = {
    get bootSeconds() {
      return bootSeconds;
    },
    async run(cmd, r = {}) {
      return need().run(cmd, r.timeoutMs ?? PATIENCE, r.input);
    },
    async must(cmd, r) {
      const s = await vm.run(cmd, r);
      if (s.code !== 0) throw new Error(`${cmd}\nexit ${s.code}\n${s.stdout}\n${s.stderr}`);
      return s.stdout.trim();
    },
    async until(cmd, r = {}) {
      const end = Date.now() + (r.timeoutMs ?? PATIENCE);
      let last: Said = { code: -1, stdout: '', stderr: '' };
      let wait = 125;
      while (Date.now() < end) {
        // Without a test of its own it is the machine that repeats it.
        last = r.test ? await vm.run(cmd) : await need().until(cmd, end - Date.now());
        if (last.code === 0 && (!r.test || r.test(last.stdout))) return last.stdout.trim();
        await sleep(wait);
        wait = Math.min(2 * wait, pause);
      }
      const journal = await vm.run('journalctl -b -n 60 --no-pager -o short-monotonic');
      throw new Error(
        `still waiting: ${cmd}\nexit ${last.code}\n${last.stdout}\n${last.stderr}\n${journal.stdout}`,
      );
    },
    async put(file, data, mode = 0o644) {
      await need().put(file, data, mode);
    },
    async restart(cmd = 'systemctl reboot --no-block', r = {}) {
      const up = need().again(r.timeoutMs ?? BOOT_MS);
      // Whichever comes first: its answer may be lost with the machine.
      const said = await Promise.race([vm.run(cmd, { timeoutMs: BOOT_MS }), up]);
      if (said && said.code > 0) throw new Error(`${cmd}\n${said.stdout}\n${said.stderr}`);
      await up.catch((e: Error) => {
        throw new Error(`${e.message}; its console ends in\n${vm.console().slice(-1200)}`);
      });
    },
    async kill(look) {
      if (!machine) return;
      await machine.end();
      machine = undefined;
      if (o.cuts) await losePower(disk, look);
    },
    async start(cmdline, more = {}) {
      if (machine) throw new Error('the machine is on');
      const began = Date.now();
      machine = await powerOn({
        ...{ built, dir, lab, options: { ...o, ...more, ...(cmdline === undefined ? {} : { cmdline }) } },
        ...(o.cuts ? { watched: await watched(disk, o.flash ? 'ingle-disk' : 'ingle-data') } : {}),
      });
      bootSeconds = (Date.now() - began) / 1000;
      if (o.radios) await vm.must(`modprobe mac80211_hwsim radios=${o.radios}`);
      if (o.sound) await vm.must('modprobe snd-aloop');
      if (o.controllers) {
        await vm.must('modprobe hci_vhci');
        await vm.must(`systemd-run --quiet --unit=lab-btvirt /run/lab/bin/btvirt -L -l${o.controllers * 2}`);
      }
    },
    failed() {
      bad = true;
    },
    async stop() {
      // As it was when it failed.
      await machine?.end();
      machine = undefined;
      if (bad) console.log(`\nkept: ${await keepFailed(dir)}`);
      if (!process.env['INGLE_VM_KEEP']) rmSync(dir, { recursive: true, force: true });
    },
    console: () => readFileSync(join(dir, 'console.log'), 'utf8'),
    type: (keys) => need().type(keys),
    disk,
  };
  try {
    await vm.start();
  } catch (e) {
    vm.failed();
    await vm.stop();
    throw e;
  }
  return vm;
}
