// The machine of the lab: QEMU with its disks, its firmware and its lines.
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { start } from '../../../firmware/system/exec.ts';
import type { Built } from '../../../image/build.ts';
import { emulated, emulator } from '../../../image/emulator.ts';
import type { Flash } from '../../../image/flash.ts';
import { type Agent, agent, dial } from './agent.ts';
import { agentUnit } from './disks.ts';
import { firmware } from './flashed.ts';

/** Words of chrt for a machine with a time of its own. */
export const realTime = ['--rr', '1'];

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
  /**
   * The machine's clock goes by what its one processor has done, at no priority: it is late, but no watchdog in it ends
   * anything because this computer is busy.
   */
  steady?: boolean;
  /** A power cut takes what was not flushed, or any part of it (power.ts). */
  cuts?: boolean;
  /** A file system that lies on the data disk as its ESP. */
  esp?: string;
  /** What its clock says as it is switched on, in UTC; the time when left out. */
  rtc?: string;
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

export interface Machine extends Agent {
  type(keys: string): void;
  end(): Promise<void>;
}

interface Power {
  built: Built;
  dir: string;
  lab: string;
  options: BootOptions;
  /** QEMU's words for the disk that keeps data, when it is watched. */
  watched?: readonly string[];
}

/** A machine that is switched on has read its kernel by then, however busy this computer is, milliseconds. */
const FIRMWARE_MS = 300_000;
class StoodStill extends Error {}
/** The firmware has read a kernel since the machine was switched on, or since that kernel's root was bad and it restarted. */
const kernelRuns = (said: string) =>
  said.lastIndexOf('EFI stub') > said.lastIndexOf('reboot: Restarting system');

/**
 * Starts QEMU and waits for the agent in it. Now and then its firmware stands still before it has read the kernel; no
 * watchdog runs yet, so the machine is switched off and on again.
 * @throws Error with the console's end
 */
export async function powerOn(m: Power): Promise<Machine> {
  for (let tries = 1; ; tries++)
    try {
      return await powerOnce(m);
    } catch (e) {
      if (!(e instanceof StoodStill) || tries === 3) throw e;
      console.log(`the firmware stood still, so the machine is switched on again (${tries})`);
    }
}

async function powerOnce(m: Power): Promise<Machine> {
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
    ...(m.watched ?? disk(join(m.dir, 'data.raw'), 'ingle-data', '')),
  ];
  const { command: qemu, ...uefi } = await emulator('amd64');
  const child = start(
    m.options.ownTime ? 'chrt' : qemu[0],
    [
      ...(m.options.ownTime ? [...realTime, ...qemu] : qemu.slice(1)),
      // No AVX, nor guards against flaws of real processors (above): emulated, both cost a third of the speed.
      // One processor: of two, emulated, one may run into code that the other one's kernel is just patching (int3).
      ...['-accel', 'tcg,thread=single', '-smp', '1'],
      ...(m.options.ownTime || m.options.steady ? ['-icount', 'shift=0,sleep=on'] : []),
      ...['-cpu', 'Nehalem,+sha-ni'],
      ...(m.options.rtc ? ['-rtc', `base=${m.options.rtc}`] : []),
      ...['-m', String(m.options.memoryMb ?? 2048)],
      ...['-nodefaults', '-no-user-config', '-display', 'none'],
      ...(m.options.flash
        ? [
            ...firmware(m.dir, uefi, m.options.cmdline ?? ''),
            ...(m.watched ?? disk(join(m.dir, 'disk.raw'), 'ingle-disk', '')),
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
  const said = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  let patience: NodeJS.Timeout | undefined;
  const still = new Promise<never>((_, reject) => {
    let since = performance.now();
    const look = () => {
      if (kernelRuns(said())) since = performance.now();
      else if (performance.now() - since > FIRMWARE_MS) reject(new StoodStill('the firmware stood still'));
    };
    if (m.options.flash) patience = setInterval(look, 5000);
  });
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
    const up = agent(socket, gone);
    // Where the firmware stood still, nobody waits for it any more.
    up.catch(() => {});
    return { ...(await Promise.race([up, still])), end, type: (keys) => void line.write(keys) };
  } catch (e) {
    await end();
    if (e instanceof StoodStill) throw e;
    throw new Error(`${(e as Error).message}\n${said().slice(-4000)}`);
  } finally {
    clearInterval(patience);
  }
}
