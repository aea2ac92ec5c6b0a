// The lab: the hub's own root in QEMU, with simulated radios, virtual Bluetooth controllers and a data disk that
// stays. Commands run in it as root; killing it is a power cut.
//
//   const why = cannotRun();                       // print `SKIP ${why}` and test.skip when set
//   const vm = await boot({ radios: 3 });
//   await vm.must('systemctl start ingle-wifi');   // its stdout; throws with all it said when it fails
//   await vm.until('busctl status io.ingle.Wifi1');
//   vm.kill(); await vm.start();                   // power cut and next boot, same data
//   await vm.stop();
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from '../../firmware/system/exec.ts';
import { type Built, build } from '../../image/build.ts';
import { emulated, emulator } from '../../image/emulator.ts';
import type { Flash } from '../../image/flash.ts';
import { type Agent, agent, dial, type Said } from './agent.ts';
import { agentUnit, dataDisk, labDisk } from './disks.ts';
import { firmware, flashDisk } from './flashed.ts';

export interface RunOptions {
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
  /** Power cut: the machine is gone at once; what was not written is lost. */
  kill(): Promise<void>;
  /** Boots again with the same data disk, with other words on the kernel's command line if they are given. */
  start(cmdline?: string): Promise<void>;
  /** Ends the machine and removes its files. */
  stop(): Promise<void>;
  /** The serial console since power-on. */
  console(): string;
  /** Types on the serial console. */
  type(keys: string): void;
  /** Seconds from power-on to the first command. */
  readonly bootSeconds: number;
  /** The disk of a flashed machine; written only while it is off. */
  readonly disk: string;
}

export interface BootOptions {
  /** Simulated Wi-Fi radios (wlan0 ...), 0 for none. */
  radios?: number;
  /** Pairs of linked virtual Bluetooth controllers, started by btvirt. */
  controllers?: number;
  /** A loopback sound card (snd-aloop). */
  sound?: boolean;
  /** A network by cable: this computer is its router at 10.0.2.2, whose loopback the machine reaches there. */
  cable?: boolean;
  /**
   * The machine's clock goes by what its one processor has done, and it goes before all else here (real-time priority;
   * see cannotKeepTime): it is late neither for being emulated nor for what this computer does beside it.
   */
  ownTime?: boolean;
  memoryMb?: number;
  /** Services to bundle into the root, all when left out. */
  services?: readonly string[];
  /** More files for the lab's disk: path below /run/lab -> file here. */
  files?: Readonly<Record<string, string>>;
  /** More words on the kernel's command line. */
  cmdline?: string;
  /** Starts what is flashed, by UEFI, in place of the root alone. */
  flash?: Flash;
  /** Factory part of a flashed device; empty when left out. */
  factory?: Uint8Array;
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
/** Words of chrt for such a machine. */
export const realTime = ['--rr', '1'];

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
  const lab = await labDisk(built.labBase, o.files);
  if (o.flash) await flashDisk(dir, o.flash.disk, o.factory);
  else await dataDisk(join(dir, 'data.raw'));
  let machine: Machine | undefined;
  let bootSeconds = 0;

  const need = () => {
    if (!machine) throw new Error('the machine is off');
    return machine;
  };
  const vm: Vm = {
    get bootSeconds() {
      return bootSeconds;
    },
    async run(cmd, r = {}) {
      return need().run(cmd, r.timeoutMs ?? 60_000, r.input);
    },
    async must(cmd, r) {
      const s = await vm.run(cmd, r);
      if (s.code !== 0) throw new Error(`${cmd}\nexit ${s.code}\n${s.stdout}\n${s.stderr}`);
      return s.stdout.trim();
    },
    async until(cmd, r = {}) {
      const end = Date.now() + (r.timeoutMs ?? 60_000);
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
      const up = need().again(r.timeoutMs ?? 420_000);
      // Whichever comes first: its answer may be lost with the machine.
      const said = await Promise.race([vm.run(cmd, { timeoutMs: 420_000 }), up]);
      if (said && said.code > 0) throw new Error(`${cmd}\n${said.stdout}\n${said.stderr}`);
      await up.catch((e: Error) => {
        throw new Error(`${e.message}; its console ends in\n${vm.console().slice(-1200)}`);
      });
    },
    async kill() {
      await machine?.end();
      machine = undefined;
    },
    async start(cmdline) {
      if (machine) throw new Error('the machine is on');
      const began = Date.now();
      machine = await powerOn({ built, dir, lab, options: cmdline === undefined ? o : { ...o, cmdline } });
      bootSeconds = (Date.now() - began) / 1000;
      if (o.radios) await vm.must(`modprobe mac80211_hwsim radios=${o.radios}`);
      if (o.sound) await vm.must('modprobe snd-aloop');
      if (o.controllers) {
        await vm.must('modprobe hci_vhci');
        await vm.must(`systemd-run --quiet --unit=lab-btvirt /run/lab/bin/btvirt -L -l${o.controllers * 2}`);
      }
    },
    async stop() {
      await vm.kill();
      if (!process.env['INGLE_VM_KEEP']) rmSync(dir, { recursive: true, force: true });
    },
    console: () => readFileSync(join(dir, 'console.log'), 'utf8'),
    type: (keys) => need().type(keys),
    disk: join(dir, o.flash ? 'disk.raw' : 'data.raw'),
  };
  try {
    await vm.start();
  } catch (e) {
    await vm.stop();
    throw e;
  }
  return vm;
}

interface Machine extends Agent {
  type(keys: string): void;
  end(): Promise<void>;
}

async function powerOn(m: {
  built: Built;
  dir: string;
  lab: string;
  options: BootOptions;
}): Promise<Machine> {
  const socketPath = join(m.dir, 'agent.sock');
  const serialPath = join(m.dir, 'serial.sock');
  const log = join(m.dir, 'console.log');
  for (const path of [socketPath, serialPath]) rmSync(path, { force: true });
  const disk = (file: string, serial: string, more: string) => [
    '-drive',
    `if=none,id=${serial},file=${file},format=raw,cache=unsafe,${more}`,
    '-device',
    `virtio-blk-pci,drive=${serial},serial=${serial}`,
  ];
  const bare = [
    ...['-no-reboot', '-kernel', m.built.kernel, '-initrd', m.built.initrd, '-append'],
    `console=ttyS0 root=/dev/vda loglevel=4 panic=-1 ${emulated} systemd.wants=ingle-lab.service systemd.show_status=false ${m.options.cmdline ?? ''}`,
    '-smbios',
    `type=11,value=io.systemd.credential.binary:systemd.extra-unit.ingle-lab.service=${agentUnit()}`,
    ...disk(m.built.root, 'ingle-root', 'readonly=on'),
    ...disk(join(m.dir, 'data.raw'), 'ingle-data', ''),
  ];
  const { command: qemu, ...uefi } = await emulator('amd64');
  const child = start(
    m.options.ownTime ? 'chrt' : qemu[0],
    [
      ...(m.options.ownTime ? [...realTime, ...qemu] : qemu.slice(1)),
      // No AVX, nor guards against flaws of real processors (above): emulated, both cost a third of the speed.
      // One processor: of two, emulated, one may run into code that the other one's kernel is just patching (int3).
      ...['-accel', 'tcg,thread=single', '-smp', '1'],
      ...(m.options.ownTime ? ['-icount', 'shift=0,sleep=on'] : []),
      ...['-cpu', 'Nehalem,+sha-ni'],
      ...['-m', String(m.options.memoryMb ?? 2048)],
      ...['-nodefaults', '-no-user-config', '-display', 'none'],
      ...(m.options.flash
        ? [
            ...firmware(m.dir, uefi, m.options.cmdline ?? ''),
            ...disk(join(m.dir, 'disk.raw'), 'ingle-disk', ''),
          ]
        : bare),
      ...disk(m.lab, 'ingle-lab', 'readonly=on'),
      ...(m.options.cable ? ['-nic', 'user,model=virtio-net-pci'] : []),
      ...['-chardev', `socket,id=serial,path=${serialPath},server=on`, '-serial', 'chardev:serial'],
      ...[
        '-device',
        'virtio-serial-pci',
        '-chardev',
        `socket,id=agent,path=${socketPath},server=on,wait=off`,
      ],
      ...['-device', 'virtserialport,chardev=agent,name=ingle.lab', '-device', 'virtio-rng-pci'],
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const off = () => child.kill('SIGKILL');
  process.once('exit', off);
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async () => {
    off();
    await gone;
    process.off('exit', off);
  };
  try {
    // The machine waits for its line.
    const line = await dial(serialPath, child);
    writeFileSync(log, '');
    line.on('data', (said) => appendFileSync(log, said));
    void gone.then(() => line.destroy());
    const socket = await dial(socketPath, child);
    return { ...(await agent(socket, gone)), end, type: (keys) => void line.write(keys) };
  } catch (e) {
    await end();
    throw new Error(
      `${(e as Error).message}\n${existsSync(log) ? readFileSync(log, 'utf8').slice(-4000) : ''}`,
    );
  }
}
