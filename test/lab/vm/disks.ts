// The disks a machine of the lab has beside its root: one with the lab's own programs, one that keeps data.
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '../../../firmware/system/exec.ts';
import { cache, keepNewest, top } from '../../../image/build.ts';

const guest = join(dirname(fileURLToPath(import.meta.url)), 'guest');

/** Programs a phone, a router, a button or a virtual controller needs; taken from Debian's packages for the target. */
const programs = ['usr/bin/btvirt', 'usr/bin/busybox', 'usr/bin/evemu-device', 'usr/bin/evemu-event'];
/** What these need beside the hub's own libraries; below lib/. */
const libraries = ['libevemu.so.3', 'libevdev.so.2'];

/** A small erofs with the agent and the lab's programs under bin/; mounted at /run/lab in the machine. */
export async function labDisk(
  labBase: string,
  extra: Readonly<Record<string, string>> = {},
): Promise<string> {
  const hash = createHash('sha256')
    .update(labBase)
    .update([...programs, ...libraries].join())
    .update(readFileSync(join(top, 'package-lock.json')));
  for (const f of ['agent.sh', 'dhcp.sh']) hash.update(readFileSync(join(guest, f)));
  for (const [to, from] of Object.entries(extra)) hash.update(to).update(readFileSync(from));
  const file = join(cache, `programs-${hash.digest('hex').slice(0, 16)}.erofs`);
  if (existsSync(file)) return file;
  const dir = `${file}.${process.pid}`;
  mkdirSync(join(dir, 'bin'), { recursive: true });
  for (const p of programs)
    cpSync(join(labBase, p), join(dir, 'bin', p.split('/').at(-1)!), { dereference: true });
  for (const l of libraries)
    cpSync(join(labBase, 'usr/lib/x86_64-linux-gnu', l), join(dir, 'lib', l), { dereference: true });
  cpSync(join(guest, 'agent.sh'), join(dir, 'agent.sh'));
  cpSync(join(guest, 'dhcp.sh'), join(dir, 'bin/dhcp.sh'));
  for (const [to, from] of Object.entries(extra)) {
    mkdirSync(dirname(join(dir, to)), { recursive: true });
    cpSync(from, join(dir, to));
  }
  await must('mkfs.erofs', ['-T0', '--all-root', '--quiet', `${file}.new${process.pid}`, dir], {
    timeoutMs: 120_000,
  });
  renameSync(`${file}.new${process.pid}`, file);
  rmSync(dir, { recursive: true, force: true });
  keepNewest('programs-', 20);
  return file;
}

/**
 * An empty disk with a partition named `ingle-data`; sparse, so it costs what is written.
 * @param esp a file system of 256 MiB that lies there too, as `ingle-esp`
 */
export async function dataDisk(file: string, esp?: string): Promise<void> {
  writeFileSync(file, '');
  truncateSync(file, 1280 * 2 ** 20);
  const first = esp ? 'size=256MiB, name=ingle-esp\n' : '';
  await must('sfdisk', ['--quiet', file], { input: `label: gpt\n${first}name=ingle-data\n` });
  // The first partition begins at 1 MiB.
  if (esp)
    await must('dd', [`if=${esp}`, `of=${file}`, 'bs=1M', 'seek=1', 'conv=notrunc,sparse', 'status=none']);
}

/** The agent's unit, handed to systemd as a credential, so that the root stays the one a hub gets. */
export function agentUnit(): string {
  return readFileSync(join(guest, 'agent.service')).toString('base64');
}
