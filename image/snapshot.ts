// A start for the hub's Node: Debian's is built without the snapshot that Node's own makers put into theirs, so each
// process would compile and run all of Node's own start anew, which is half of what starting a service costs.
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../firmware/system/exec.ts';

/** Where the hub has it, and where its units have Node's flags. */
export const snapshotPath = 'usr/lib/ingle/node.blob';
const flagsPath = 'usr/lib/systemd/system/ingle-.service.d/node.conf';

/** What the bundles import of Node, as far as Node says that it may lie in a snapshot. */
const modules = 'assert buffer crypto events fs fs/promises net os path stream string_decoder url util'.split(
  ' ',
);

/**
 * Makes Node's snapshot (nodejs.org/docs/latest-v20.x/api/cli.html#--build-snapshot) with a root's own Node, and has the
 * root's units and its command `ingle` start with it. Two of the same root are equal: addresses, seeds, names and the
 * process's number in them are the same.
 * @param root of this machine's architecture; Node runs in it with root rights
 * @throws Error when Node writes none, or in another way than expected
 */
export async function addSnapshot(root: string): Promise<void> {
  const conf = join(root, flagsPath);
  const flags = /^Environment="NODE_FLAGS=(.*)"$/m.exec(readFileSync(conf, 'utf8'))?.[1];
  if (flags === undefined) throw new Error(`${flagsPath} names no NODE_FLAGS.`);
  const blob = join(root, snapshotPath);
  const entry = 'usr/lib/ingle/start.cjs';
  writeFileSync(join(root, entry), modules.map((m) => `require('${m}');\n`).join(''));
  const alike = 'unshare --pid --fork setarch -R'.split(' ');
  await must(
    'env',
    [
      ...['-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', ...alike, 'chroot', root],
      ...['/usr/bin/node', ...flags.split(' '), '--hash-seed=1', '--random-seed=1', '--predictable'],
      ...[`--snapshot-blob=/${snapshotPath}`, '--build-snapshot', `/${entry}`],
    ],
    { timeoutMs: 60_000 },
  );
  rmSync(join(root, entry));
  writeFileSync(blob, forAnyProcessor(readFileSync(blob)));
  const command = join(root, 'usr/bin/ingle');
  for (const [file, from] of [
    [conf, flags],
    [command, '#!/usr/bin/node'],
  ] as const) {
    const before = readFileSync(file, 'utf8');
    const { mode } = statSync(file);
    // A link shares its bytes with other roots; it must go before anything is written.
    rmSync(file);
    writeFileSync(file, before.replace(from, `${from} --snapshot-blob=/${snapshotPath}`), { mode });
    chmodSync(file, mode);
  }
}

/**
 * Marks a snapshot as one that is good for every processor (src/node_snapshotable.cc: magic, kind, version,
 * architecture, platform, tag). Node takes one of its user's making only where the processor can do just what that of
 * its maker could (the tag); one of its own making, which has no machine code either, it takes wherever its version fits.
 * @throws Error when it is not what Node 20 writes
 */
export function forAnyProcessor(blob: Buffer): Buffer {
  const [magic, custom, own] = [0x143da19, 1, 0];
  if (blob.length < 64 || blob.readUInt32LE(0) !== magic || blob.readUInt8(4) !== custom)
    throw new Error('Node writes its snapshots in another way than its version 20 did.');
  let at = 5;
  for (let strings = 3; strings > 0; strings--) at += 8 + Number(blob.readBigUInt64LE(at));
  const out = Buffer.from(blob);
  out.writeUInt8(own, 4);
  out.writeUInt32LE(0, at);
  return out;
}
