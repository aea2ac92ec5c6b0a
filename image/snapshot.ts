// A start for the hub's Node: Debian's is built without the snapshot that Node's own makers put into theirs, so each
// process would compile and run all of Node's own start anew, which is half of what starting a service costs.
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forAnyProcessor, withoutCodeCache } from '../firmware/skills/snapshot.ts';
import { must } from '../firmware/system/exec.ts';

/** Where the hub has it, and where its units have Node's flags. */
export const snapshotPath = 'usr/lib/ingle/node.blob';
const flagsPath = 'usr/lib/systemd/system/ingle-.service.d/node.conf';

/** What the bundles import of Node, as far as Node says that it may lie in a snapshot. */
const modules = 'assert buffer crypto events fs fs/promises net os path stream string_decoder url util'.split(
  ' ',
);

/** The host of skills as a program that makes a snapshot of itself, and that snapshot, which slots start from. */
export const hostPath = 'usr/lib/ingle/services/skill-host/snapshot.cjs';
export const hostSnapshotPath = 'usr/lib/ingle/skill-host.blob';

/** Runs a program of a root with the root's Node up to the point a snapshot is taken of it. */
async function take(root: string, flags: readonly string[], program: string, blob: string): Promise<Buffer> {
  const alike = 'unshare --pid --fork setarch -R'.split(' ');
  await must(
    'env',
    [
      ...['-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...alike, 'chroot', root],
      ...['/usr/bin/node', ...flags, '--hash-seed=1', '--random-seed=1', '--predictable'],
      ...[`--snapshot-blob=/${blob}`, '--build-snapshot', `/${program}`],
    ],
    { timeoutMs: 60_000 },
  );
  rmSync(join(root, program));
  return forAnyProcessor(readFileSync(join(root, blob)));
}

/**
 * Makes Node's snapshot (nodejs.org/docs/latest-v20.x/api/cli.html#--build-snapshot) with a root's own Node, and has the
 * root's units and its command `ingle` start with it; slots of skills start with one of their host. Two of the same root
 * are equal: addresses, seeds, names and the process's number in them are the same.
 * @param root of this machine's architecture; Node runs in it with root rights
 * @throws Error when Node writes none, or in another way than expected
 */
export async function addSnapshot(root: string): Promise<void> {
  const conf = join(root, flagsPath);
  const flags = /^Environment="NODE_FLAGS=(.*)"$/m.exec(readFileSync(conf, 'utf8'))?.[1];
  if (flags === undefined) throw new Error(`${flagsPath} names no NODE_FLAGS.`);
  const entry = 'usr/lib/ingle/start.cjs';
  writeFileSync(join(root, entry), modules.map((m) => `require('${m}');\n`).join(''));
  writeFileSync(join(root, snapshotPath), await take(root, flags.split(' '), entry, snapshotPath));
  const hasHost = existsSync(join(root, hostPath));
  if (hasHost) {
    // What the rehearsal compiled stays in it.
    const keeping = [...flags.split(' '), '--no-flush-bytecode'];
    const blob = await take(root, keeping, hostPath, hostSnapshotPath);
    writeFileSync(join(root, hostSnapshotPath), withoutCodeCache(blob));
  }
  const start = (path: string) => ` --snapshot-blob=/${path}`;
  const command = join(root, 'usr/bin/ingle');
  for (const [file, from, path] of [
    [conf, `"NODE_FLAGS=${flags}`, snapshotPath],
    [conf, `"SKILL_FLAGS=${flags}`, hasHost ? hostSnapshotPath : snapshotPath],
    [command, '#!/usr/bin/node', snapshotPath],
  ] as const) {
    const before = readFileSync(file, 'utf8');
    const { mode } = statSync(file);
    // A link shares its bytes with other roots; it must go before anything is written.
    rmSync(file);
    writeFileSync(file, before.replace(from, `${from}${start(path)}`), { mode });
    chmodSync(file, mode);
  }
}
