// What a hub takes: bytes on the way to the device, bytes on it, memory and processes once it is set up and idle.
// Beside it Home Assistant OS for the same machine, whose compressed images have 252 to 330 MB; the smallest counts.
//   npm run bench -- footprint [--no-vm] [--against an-earlier-result.json]
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../firmware/system/exec.ts';
import { type Flash, flash } from '../../image/flash.ts';
import { packDisk } from '../../image/release.ts';
import { complete, surroundings } from '../lab/vm/cut.ts';
import { labRoot, status } from '../lab/vm/hub.ts';
import { boot, cannotRun, type Vm } from '../lab/vm/lab.ts';
import { count, differences, type Units, unitsOf, unsettled } from './_processes.ts';
import { steps } from './_steps.ts';

/** Smallest of haos_generic-x86-64 and haos_ova as their makers publish them. */
const peerBytes = 252_000_000;
/** What leaves by itself on a hub that is ready, in minutes; memory is read once all of it has. */
const leaving = ['setup', 'wifi', 'audio', 'ble', 'bot', 'update', 'wizard', 'skill@1', 'skill@2'].map(
  (name) => `ingle-${name}.service`,
);
/** One look at that; a console nobody is at is a shell. */
const left = `! systemctl is-active -q ${leaving.join(' ')} && ! pgrep -u ingle-serial node`;

/** The state that is measured: this machine has no sound card, so no hub in it gets further. */
const measured = 'READY_WITH_LIMITS';
const step = steps();

/** An earlier result (the last line of a run) to compare with: `--against <file>`. */
const against = process.argv.includes('--against')
  ? process.argv[process.argv.indexOf('--against') + 1]
  : undefined;
const earlier = against && JSON.parse(readFileSync(against, 'utf8').trimEnd().split('\n').at(-1)!);

const dir = mkdtempSync(join(tmpdir(), 'ingle-footprint-'));
const compressed = async (f: Flash, name: string) => {
  const out = join(dir, name);
  await packDisk(f.disk, out);
  return statSync(out).size;
};

/** Chip firmware goes; the tables of what radios may send where are none. */
const withoutFirmware = {
  name: 'without chip firmware',
  make(root: string) {
    const firmware = join(root, 'usr/lib/firmware');
    for (const f of readdirSync(firmware))
      if (!f.startsWith('regulatory.db')) rmSync(join(firmware, f), { recursive: true });
  },
};

interface Idle {
  units: Units;
  /** Of the whole machine but the kernel, lab included. */
  pss_all: number;
  processes_all: number;
}

/** Unit, its processes' ids: what systemd's groups of processes say. */
const groups =
  'cd /sys/fs/cgroup/system.slice; for g in $(find . -name "*.service" -type d); do p=$(cat $g/cgroup.procs); [ -n "$p" ] && echo ${g##*/} $p; done; true';
const pssOf =
  'for p in /proc/[0-9]*; do s=$(sed -n "s/^Pss: *\\([0-9]*\\) kB/\\1/p" $p/smaps_rollup 2>/dev/null); [ -n "$s" ] && echo ${p#/proc/} $s $(cat $p/comm); done; true';

async function measure(vm: Vm): Promise<Idle> {
  const processes = await vm.must(pssOf, { timeoutMs: 120_000 });
  const kib = processes.split('\n').map((line) => Number(line.split(' ')[1]));
  return {
    units: unitsOf(await vm.must(groups), processes),
    pss_all: 1024 * kib.reduce((a, b) => a + b, 0),
    processes_all: kib.length,
  };
}

/** Once everything that leaves has left, in the state this figure is told for. */
async function atRest(vm: Vm): Promise<Idle> {
  const end = Date.now() + 20 * 60_000;
  for (let why = ''; ; ) {
    if ((await vm.run(left)).code === 0) {
      const found = await measure(vm);
      // A unit that just starts counts as inactive, and a look at the state may itself start one.
      why = unsettled((await status(vm)).state, measured, found.units, leaving);
      if (why === '') return found;
    }
    if (Date.now() > end)
      throw new Error(`${why || 'not at rest'}:\n${await vm.must('systemctl list-units "ingle-*" --plain')}`);
    // Few looks, as each is work for the machine.
    await new Promise((resolve) => setTimeout(resolve, 15_000));
  }
}

/** The flashed disk, set up as an owner would, then left alone. */
async function idle(disk: Flash): Promise<Idle> {
  const vm = await step('the first boot', () => boot({ flash: disk, cmdline: labRoot }));
  try {
    await step('radios, a network and a root around it', () => surroundings(vm));
    console.log(`setup ended in ${await step('setup', () => complete(vm))}`);
    return await step(`a hub in ${measured} that has come to rest`, () => atRest(vm));
  } finally {
    await vm.stop();
  }
}

try {
  const why = cannotRun();
  if (why) throw new Error(why);
  const whole = await step('the image', () => flash());
  const bare = await step('the image without chip firmware', () => flash({ change: withoutFirmware }));
  const ours = await step('packing one', () => compressed(bare, 'bare.img.zst'));
  const withFirmware = await step('packing the other', () => compressed(whole, 'whole.img.zst'));
  console.log(`compressed image ${ours} bytes without chip firmware, ${withFirmware} with it`);
  const used = async (f: Flash) =>
    Number(
      (await must('du', ['-s', '--block-size=1', '--apparent-size', f.rootfs])).toString().split('\t')[0],
    );
  const memory = process.argv.includes('--no-vm') ? undefined : await idle(whole);
  const units = memory?.units ?? {};
  const pss = Object.values(units).reduce((n, u) => n + u.pss, 0);
  for (const [unit, u] of Object.entries(units).sort((a, b) => b[1].pss - a[1].pss))
    console.log(`  ${(u.pss / 1e6).toFixed(1).padStart(6)} MB ${unit}: ${u.names.join(', ')}`);
  const names = Object.fromEntries(Object.entries(units).map(([unit, u]) => [unit, u.names]));
  if (memory && earlier) {
    console.log(`against ${earlier.state} with ${earlier.processes} processes:`);
    for (const line of differences(earlier.units ?? {}, names)) console.log(`  ${line}`);
  }
  const megabytes = (n: number) => Number((n / 1e6).toFixed(1));
  console.log(`FIGURE image_mb ${megabytes(ours)}`);
  console.log(`FIGURE image_with_firmware_mb ${megabytes(withFirmware)}`);
  if (memory) console.log(`FIGURE idle_pss_mb ${megabytes(pss)}`);
  if (memory) console.log(`FIGURE idle_processes ${count(units)}`);
  console.log(
    JSON.stringify({
      bench: 'footprint',
      ours,
      peer: peerBytes,
      unit: 'bytes',
      ratio: Number((ours / peerBytes).toFixed(3)),
      target: '<= 130000000',
      peer_is: 'Home Assistant OS, smallest compressed x86-64 image',
      image_with_firmware: withFirmware,
      root: await used(bare),
      root_with_firmware: await used(whole),
      ...(memory
        ? {
            state: measured,
            idle_pss: pss,
            idle_pss_target: '<= 140000000',
            processes: count(units),
            units: names,
            machine_pss: memory.pss_all,
            machine_processes: memory.processes_all,
          }
        : {}),
    }),
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);
