// What a hub takes: bytes on the way to the device, bytes on it, memory and processes once it is set up and idle, and
// with twelve skills installed, all asleep.
// Beside it Home Assistant OS for the same machine, whose compressed images have 252 to 330 MB; the smallest counts.
//   npm run bench -- footprint [--no-vm] [--against an-earlier-result.json]
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { must } from '../../firmware/system/exec.ts';
import { type Flash, flash } from '../../image/flash.ts';
import { packDisk } from '../../image/release.ts';
import { withoutFirmware } from '../lab/vm/bundles.ts';
import { cannotRun } from '../lab/vm/lab.ts';
import { count, differences, type Units } from './_processes.ts';
import { measured, megabytes, pssOf, readyHub, SKILLS } from './_ready.ts';
import { steps } from './_steps.ts';

/** Smallest of haos_generic-x86-64 and haos_ova as their makers publish them. */
const peerBytes = 252_000_000;
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

const namesOf = (units: Units) =>
  Object.fromEntries(Object.entries(units).map(([unit, u]) => [unit, u.names]));
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
  const memory = process.argv.includes('--no-vm') ? undefined : await readyHub(whole, step);
  if (memory) {
    for (const [unit, n] of Object.entries(memory.restarts))
      console.log(`${unit} was started anew ${n} times`);
  }
  if (memory && earlier) {
    console.log(`against ${earlier.state} with ${earlier.processes} processes:`);
    for (const line of differences(earlier.units ?? {}, namesOf(memory.bare.units))) console.log(`  ${line}`);
  }
  console.log(`FIGURE image_mb ${megabytes(ours)}`);
  console.log(`FIGURE image_with_firmware_mb ${megabytes(withFirmware)}`);
  if (memory) {
    console.log(`FIGURE idle_pss_mb ${megabytes(pssOf(memory.bare.units))}`);
    console.log(`FIGURE idle_processes ${count(memory.bare.units)}`);
    console.log(`FIGURE idle_pss_with_${SKILLS}_skills_mb ${megabytes(pssOf(memory.skilled.units))}`);
  }
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
            state: measured.state,
            idle_pss: pssOf(memory.bare.units),
            idle_pss_target: '<= 120000000',
            processes: count(memory.bare.units),
            units: namesOf(memory.bare.units),
            skills: SKILLS,
            idle_pss_with_skills: pssOf(memory.skilled.units),
            units_with_skills: namesOf(memory.skilled.units),
            restarts: memory.restarts,
            machine_pss: memory.bare.pss_all,
            machine_processes: memory.bare.processes_all,
          }
        : {}),
    }),
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);
