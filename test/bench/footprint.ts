// What a hub takes: bytes on the way to the device, bytes on it, memory and processes once it is set up and idle.
// Beside it Home Assistant OS for the same machine, whose compressed images have 252 to 330 MB; the smallest counts.
//   npm run bench -- footprint [--no-vm]
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../firmware/system/exec.ts';
import { type Flash, flash } from '../../image/flash.ts';
import { packDisk } from '../../image/release.ts';
import { complete, surroundings } from '../vm/cut.ts';
import { labRoot } from '../vm/hub.ts';
import { boot, cannotRun, type Vm } from '../vm/lab.ts';

/** Smallest of haos_generic-x86-64 and haos_ova as their makers publish them. */
const peerBytes = 252_000_000;
/** What leaves by itself on a hub that is ready, in minutes; memory is read once all of it has. */
const leaving = ['setup', 'audio', 'ble', 'bot', 'update', 'wizard', 'skill@hub_status', 'skill@updates'].map(
  (name) => `ingle-${name}.service`,
);
/** One look at that; a console nobody is at is a shell. */
const left = `! systemctl is-active -q ${leaving.join(' ')} && ! pgrep -u ingle-serial node`;

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
  state: string;
  /** PSS of every process of a unit of ours, bytes. */
  pss: number;
  processes: number;
  units: Record<string, { pss: number; processes: number }>;
  /** Of the whole machine but the kernel, lab included. */
  pss_all: number;
  processes_all: number;
}

/** Unit, its processes' ids: what systemd's groups of processes say. */
const groups =
  'cd /sys/fs/cgroup/system.slice; for g in $(find . -name "*.service" -type d); do p=$(cat $g/cgroup.procs); [ -n "$p" ] && echo ${g##*/} $p; done; true';
const pssOf =
  'for p in /proc/[0-9]*; do s=$(sed -n "s/^Pss: *\\([0-9]*\\) kB/\\1/p" $p/smaps_rollup 2>/dev/null); [ -n "$s" ] && echo ${p#/proc/} $s; done; true';

async function measure(vm: Vm, state: string): Promise<Idle> {
  const pss = new Map<string, number>();
  for (const line of (await vm.must(pssOf, { timeoutMs: 120_000 })).split('\n')) {
    const [pid, kb] = line.split(' ');
    pss.set(pid!, Number(kb) * 1024);
  }
  const units: Idle['units'] = {};
  for (const line of (await vm.must(groups)).split('\n')) {
    const [unit, ...pids] = line.split(' ');
    // PipeWire's three processes and wpa_supplicant run for us alone; so do the programs ours start.
    if (!/^(ingle-(?!lab)|wpa_supplicant)/.test(unit!)) continue;
    const alive = pids.filter((p) => pss.has(p));
    const sum = alive.reduce((n, p) => n + pss.get(p)!, 0);
    if (alive.length > 0) units[unit!] = { pss: sum, processes: alive.length };
  }
  const total = (key: 'pss' | 'processes') => Object.values(units).reduce((n, u) => n + u[key], 0);
  return {
    state,
    pss: total('pss'),
    processes: total('processes'),
    units,
    pss_all: [...pss.values()].reduce((a, b) => a + b, 0),
    processes_all: pss.size,
  };
}

/** The flashed disk, set up as an owner would, then left alone. */
async function idle(disk: Flash): Promise<Idle> {
  const vm = await boot({ flash: disk, cmdline: labRoot });
  try {
    await surroundings(vm);
    const state = await complete(vm);
    console.log(`setup ended in ${state}`);
    // Few looks, as each is work for the machine.
    const end = Date.now() + 20 * 60_000;
    while ((await vm.run(left)).code !== 0) {
      if (Date.now() > end)
        throw new Error(`These do not leave: ${await vm.must('systemctl list-units "ingle-*" --plain')}`);
      await new Promise((resolve) => setTimeout(resolve, 15_000));
    }
    return await measure(vm, state);
  } finally {
    await vm.stop();
  }
}

try {
  const why = cannotRun();
  if (why) throw new Error(why);
  const whole = await flash();
  const bare = await flash({ change: withoutFirmware });
  const ours = await compressed(bare, 'bare.img.zst');
  const withFirmware = await compressed(whole, 'whole.img.zst');
  console.log(`compressed image ${ours} bytes without chip firmware, ${withFirmware} with it`);
  const used = async (f: Flash) =>
    Number(
      (await must('du', ['-s', '--block-size=1', '--apparent-size', f.rootfs])).toString().split('\t')[0],
    );
  const memory = process.argv.includes('--no-vm') ? undefined : await idle(whole);
  if (memory)
    for (const [unit, u] of Object.entries(memory.units).sort((a, b) => b[1].pss - a[1].pss))
      console.log(`  ${(u.pss / 1e6).toFixed(1).padStart(6)} MB ${String(u.processes).padStart(2)} ${unit}`);
  const megabytes = (n: number) => Number((n / 1e6).toFixed(1));
  console.log(`FIGURE image_mb ${megabytes(ours)}`);
  console.log(`FIGURE image_with_firmware_mb ${megabytes(withFirmware)}`);
  if (memory) console.log(`FIGURE idle_pss_mb ${megabytes(memory.pss)}`);
  if (memory) console.log(`FIGURE idle_processes ${memory.processes}`);
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
            state: memory.state,
            idle_pss: memory.pss,
            idle_pss_target: '<= 140000000',
            processes: memory.processes,
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
