// Bundles for a flashed hub: good ones, those that start and are no good, and those that must be refused.
import { createCipheriv, createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { must } from '../../../firmware/system/exec.ts';
import { cache, keepNewest, oneAtATime } from '../../../image/build.ts';
import { type Flash, flash, update } from '../../../image/flash.ts';
import { makeKeys } from '../../../image/keys.ts';
import { appendTree, fixedSalt } from '../../../image/verity.ts';
import { proof } from './interrupt.ts';

/** An emulated machine has no use for chip firmware, which is a third of an image; the tables of what radios may send where are none. */
export const withoutFirmware = {
  name: 'without chip firmware',
  make(root: string) {
    const firmware = join(root, 'usr/lib/firmware');
    for (const f of readdirSync(firmware))
      if (!f.startsWith('regulatory.db')) rmSync(join(firmware, f), { recursive: true });
  },
};

/** Bundles that must be refused, and the reason the hub gives (firmware/update/verdict.ts). */
export const refused = {
  stranger: 'bad_signature',
  forged: 'bad_signature',
  changed: 'bad_bundle',
  short: 'bad_bundle',
  other: 'other_device',
  old: 'too_old',
} as const;

/** A root of a few files, in place of `like`'s. */
async function small(dir: string, name: string, like: Flash, fill: (root: string) => void): Promise<Flash> {
  const rootfs = join(dir, `${name}.img`);
  const from = join(dir, name);
  for (const d of ['proc', 'sys', 'dev', 'run', 'bin']) mkdirSync(join(from, d), { recursive: true });
  fill(from);
  await must('mkfs.erofs', ['-T0', '--all-root', '--quiet', rootfs, from]);
  return { ...like, rootfs, verity: appendTree(rootfs, fixedSalt(name)) };
}

/**
 * Folder with all bundles, `<name>.raucb` each: `b` is of the next version of the image `a`. It is kept by a hash of what
 * they are made of.
 */
export const bundlesFor = (a: Flash): Promise<string> => oneAtATime('updates', () => bundlesAlone(a));

async function bundlesAlone(a: Flash): Promise<string> {
  const b = await flash({ version: '1.1.0', change: withoutFirmware });
  const hash = createHash('sha256').update(JSON.stringify([a.disk, b.disk]));
  hash.update(readFileSync(fileURLToPath(import.meta.url))).update(proof);
  const kept = join(cache, `updates-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(kept)) return kept;
  const fresh = `${kept}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  await makeBundles(fresh, a, b);
  renameSync(fresh, kept);
  keepNewest('updates-', 2);
  return kept;
}

async function makeBundles(dir: string, a: Flash, b: Flash): Promise<void> {
  const at = (name: string) => join(dir, `${name}.raucb`);
  await update(b, { out: at('b') });
  // The product looks for four minutes; however often it looks, this uplink never comes.
  await update(b, {
    out: at('uplink'),
    options: ['systemd.setenv=INGLE_HEALTH_S=0', 'systemd.mask=ingle-uplink.service', proof],
  });
  // A kernel that finds nothing to start panics. Ten seconds are for people to read why. No packer makes less of its
  // 40 MB, so that the power can be cut while they are written.
  const key = Buffer.alloc(16, 'x');
  const filling = createCipheriv('aes-128-ctr', key, key).update(Buffer.alloc(40e6));
  const full = await small(dir, 'full', a, (root) => writeFileSync(join(root, 'filling'), filling));
  await update(full, { out: at('panic'), version: '1.2.0', options: ['panic=1'] });
  // Its first process starts, and that is all it ever does. The dead-man's seven minutes are cut short.
  const mute = await small(dir, 'mute', a, (root) => {
    copyFileSync(join(a.built.labBase, 'usr/bin/busybox'), join(root, 'bin/busybox'));
    const init = join(root, 'usr/lib/systemd/systemd');
    mkdirSync(join(root, 'usr/lib/systemd'), { recursive: true });
    writeFileSync(init, '#!/bin/busybox sh\nwhile :; do /bin/busybox sleep 1000; done\n');
    for (const f of [init, join(root, 'bin/busybox')]) chmodSync(f, 0o755);
  });
  await update(mute, { out: at('mute'), version: '1.2.1', options: ['ingle.deadman=15'] });

  // What is refused needs no kernel that starts.
  const tiny = join(dir, 'tiny');
  writeFileSync(tiny, 'no kernel');
  const hollow = await small(dir, 'hollow', a, (root) =>
    writeFileSync(join(root, 'filling'), createHash('sha512').update('x').digest('hex').repeat(20_000)),
  );
  const none = { ...hollow, built: { ...hollow.built, kernel: tiny, initrd: tiny } };
  const refuse = (name: string, o: Partial<Parameters<typeof update>[1]> = {}) =>
    update(none, { out: at(name), version: '1.2.2', ...o });
  const keys = mkdtempSync(join(tmpdir(), 'ingle-keys-'));
  await refuse('stranger', { keys: await makeKeys(keys) });
  rmSync(keys, { recursive: true });
  await refuse('other', { compatible: 'another-device' });
  // The generic device allows everything from 0.0.0 on, and this comes before it (semver.org, 11.4).
  await refuse('old', { version: '0.0.0-1' });
  await refuse('short');
  truncateSync(at('short'), Math.floor(statSync(at('short')).size / 2));
  await refuse('changed');
  const changed = readFileSync(at('changed'));
  changed[Math.floor(changed.length / 3)]! ^= 0xff;
  writeFileSync(at('changed'), changed);
  await refuse('forged');
  const forged = readFileSync(at('forged'));
  forged.write('9.9.9', forged.lastIndexOf('version=1.2.2') + 'version='.length);
  writeFileSync(at('forged'), forged);
}
