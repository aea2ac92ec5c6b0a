// timeout: 300 s
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { must, run } from '../../firmware/system/exec.ts';
import { bmapText, rangesOf } from '../../image/bmap.ts';
import { machineOf } from '../../image/boot.ts';
import { makeBundle, sha256File } from '../../image/bundle.ts';
import { makeDisk, mappedRanges, offsetOf, partitions, table } from '../../image/disk.ts';
import { entryText, espFiles, makeEsp } from '../../image/esp.ts';
import { makeKeys } from '../../image/keys.ts';
import { appendTree, blockSize, fixedSalt } from '../../image/verity.ts';

const tools: [string, string][] = [
  ['/usr/sbin/mkfs.vfat', 'dosfstools'],
  ['/usr/bin/mcopy', 'mtools'],
  ['/usr/sbin/sfdisk', 'fdisk'],
  ['/usr/bin/mksquashfs', 'squashfs-tools'],
  ['/usr/bin/rauc', 'rauc'],
];
const missing = tools.filter(([path]) => !existsSync(path)).map(([, name]) => name);
if (missing.length > 0) console.log(`SKIP missing packages: ${missing.join(' ')}`);
const test = suite<{ dir: string }>('the flashed disk');
const check = missing.length > 0 ? test.skip : test;
test.before((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-disk-'));
  writeFileSync(join(c.dir, 'systemd-bootx64.efi'), 'boot loader');
  writeFileSync(join(c.dir, 'kernel'), noise('kernel', 300_000));
  writeFileSync(join(c.dir, 'initrd'), noise('initrd', 100_000));
});
test.after((c) => rmSync(c.dir, { recursive: true, force: true }));

/** Bytes that look like anything, the same for the same name. */
function noise(name: string, length: number): Buffer {
  const parts: Buffer[] = [];
  for (let i = 0; i * 32 < length; i++) parts.push(createHash('sha256').update(`${name} ${i}`).digest());
  return Buffer.concat(parts).subarray(0, length);
}

const date = 1_763_700_000;

async function esp(dir: string, out: string): Promise<string> {
  const file = join(dir, out);
  await makeEsp({
    out: file,
    megabytes: 256,
    date,
    files: espFiles({
      loader: dir,
      machine: machineOf('amd64'),
      kernel: join(dir, 'kernel'),
      initrd: join(dir, 'initrd'),
      entry: entryText('a', 'Ingle 1.0.0', ['quiet']),
      boards: [],
    }),
  });
  return file;
}

/** A root of some megabytes with zeroes in it, and its tree. */
function root(dir: string, name: string): { file: string; verity: ReturnType<typeof appendTree> } {
  const file = join(dir, name);
  writeFileSync(
    file,
    Buffer.concat([noise('root', 2_000_000), Buffer.alloc(1_000_000), noise('end', 10_001)]),
  );
  return { file, verity: appendTree(file, fixedSalt('root')) };
}

test('the tree of hashes is the one the kernel computes', (c) => {
  const { file, verity } = root(c.dir, 'tree');
  const bytes = readFileSync(file);
  assert.is(bytes.length, (verity.blocks + verity.hashBlocks) * blockSize);
  const salt = Buffer.from(verity.salt, 'hex');
  const digest = (b: Buffer) => createHash('sha256').update(salt).update(b).digest();
  const block = (i: number) => bytes.subarray(i * blockSize, (i + 1) * blockSize);
  // Two levels: the top one comes first, right behind the data (verity.rst, "Hash Tree").
  assert.is(digest(block(verity.blocks)).toString('hex'), verity.hash);
  for (const i of [0, 127, 128, verity.blocks - 1]) {
    const leaf = block(verity.blocks + 1 + Math.floor(i / 128));
    assert.ok(digest(block(i)).equals(leaf.subarray((i % 128) * 32, (i % 128) * 32 + 32)), `block ${i}`);
    const above = Math.floor(i / 128);
    assert.ok(digest(leaf).equals(block(verity.blocks).subarray(above * 32, above * 32 + 32)));
  }
});

test('partitions lie one after another on whole megabytes, with room for both tables', () => {
  let end = 2 ** 20;
  for (const p of partitions) {
    assert.is(offsetOf(p.label), end);
    end += p.size * 2 ** 20;
  }
  assert.is(table().megabytes * 2 ** 20, end + 2 ** 20);
  const roots = partitions.filter((p) => p.label.startsWith('ingle-root-'));
  assert.is(new Set(roots.map((p) => p.size)).size, 1);
  assert.is(partitions.at(-1)!.label, 'ingle-data');
});

check('two builds are equal to the bit: ESP, disk and block map', async (c) => {
  const build = async (n: number) => {
    const contents = {
      'ingle-esp': await esp(c.dir, `esp${n}`),
      'ingle-root-a': root(c.dir, `root${n}`).file,
    };
    const disk = join(c.dir, `disk${n}`);
    await makeDisk(disk, contents);
    const map = bmapText(disk, mappedRanges(contents));
    // The map has a hash of everything that is written; the test below shows that nothing else is.
    return { esp: sha256File(contents['ingle-esp']), map };
  };
  const first = await build(1);
  // FAT keeps times to two seconds: another one must have come.
  await new Promise((resolve) => setTimeout(resolve, 2100));
  assert.equal(await build(2), first);
});

check('the ESP is sound and holds what firmware and boot loader look for', async (c) => {
  const file = await esp(c.dir, 'esp');
  await must('fsck.vfat', ['-n', file]);
  const show = async (path: string) => (await must('mtype', ['-i', file, `::/${path}`])).toString();
  assert.is(await show('EFI/BOOT/BOOTX64.EFI'), 'boot loader');
  assert.match(await show('loader/entries/ingle-0001-a.conf'), /^linux \/ingle\/a\/linux$/m);
  assert.match(await show('loader/entries/ingle-rescue.conf'), /systemd\.unit=rescue\.target$/m);
  assert.match(await show('loader/loader.conf'), /^default ingle-\[0-9\]\*$/m);
  const kernel = await must('mtype', ['-i', file, '::/ingle/a/linux']);
  assert.ok(kernel.equals(readFileSync(join(c.dir, 'kernel'))));
});

check('a disk written by its block map alone is a hub, whatever was on it', async (c) => {
  const contents = { 'ingle-esp': await esp(c.dir, 'esp'), 'ingle-root-a': root(c.dir, 'root').file };
  const disk = join(c.dir, 'mapped');
  await makeDisk(disk, contents);
  const ranges = mappedRanges(contents);
  const fd = openSync(disk, 'r');
  const read = (at: number, length: number) => {
    const b = Buffer.alloc(length);
    readSync(fd, b, 0, length, at);
    return b;
  };
  const mapped = (at: number) =>
    ranges.some(([first, last]) => at >= first * 4096 && at <= last * 4096 + 4095);
  // All that is not zero, all of the root, the start of what is empty and a slot's last block are written.
  const { size } = statSync(disk);
  const none = Buffer.alloc(2 ** 20);
  for (let at = 0; at < size; at += 2 ** 20) {
    const piece = read(at, Math.min(2 ** 20, size - at));
    if (piece.equals(none)) continue;
    for (let i = 0; i < piece.length; i += 4096)
      if (!piece.subarray(i, i + 4096).equals(none.subarray(0, 4096)))
        assert.ok(mapped(at + i), `byte ${at + i}`);
  }
  for (let at = 0; at < statSync(contents['ingle-root-a']).size; at += 4096)
    assert.ok(mapped(offsetOf('ingle-root-a') + at));
  for (const label of ['ingle-root-b', 'ingle-factory', 'ingle-data']) assert.ok(mapped(offsetOf(label)));
  for (const next of ['ingle-root-b', 'ingle-factory']) assert.ok(mapped(offsetOf(next) - 1));
  const text = bmapText(disk, ranges);
  assert.match(text, /<BlockSize> 4096 <\/BlockSize>/);
  const sum = /<BmapFileChecksum> ([0-9a-f]{64}) </.exec(text)![1]!;
  assert.is(
    createHash('sha256')
      .update(text.replace(sum, '0'.repeat(64)))
      .digest('hex'),
    sum,
  );
  assert.equal(
    rangesOf([
      [0, 1],
      [4096, 4096],
      [20_000, 10],
    ]),
    [
      [0, 1],
      [4, 4],
    ],
  );
});

check('a bundle is the same each time, and RAUC takes it from the right signer alone', async (c) => {
  const keys = await makeKeys(join(c.dir, 'keys'));
  const others = await makeKeys(join(c.dir, 'others'));
  const make = async (name: string) => {
    const out = join(c.dir, name);
    await makeBundle({
      out,
      compatible: 'generic',
      version: '1.2.3',
      description: 'Ingle 1.2.3',
      rootfs: root(c.dir, 'rootfs.img').file,
      kernel: join(c.dir, 'kernel'),
      initrd: join(c.dir, 'initrd'),
      entry: entryText('@slot@', 'Ingle 1.2.3', ['quiet']),
      date,
      keys,
    });
    return out;
  };
  const bundle = await make('one.raucb');
  await new Promise((resolve) => setTimeout(resolve, 1100));
  assert.is(sha256File(await make('two.raucb')), sha256File(bundle));
  const info = (ring: string, file = bundle) =>
    run('rauc', ['info', '--output-format=json', `--keyring=${ring}`, file], { timeoutMs: 60_000 });
  const good = await info(keys.keyring);
  assert.is(good.code, 0, good.stderr);
  const said = JSON.parse(/\{.*\}/s.exec(good.stdout.toString())![0]) as Record<string, unknown>;
  assert.is(said['compatible'], 'generic');
  assert.is(said['version'], '1.2.3');
  assert.is.not((await info(others.keyring)).code, 0);
  // Its end is the signature: a truncated one has none.
  writeFileSync(join(c.dir, 'cut.raucb'), readFileSync(bundle).subarray(0, -4096));
  assert.is.not((await info(keys.keyring, join(c.dir, 'cut.raucb'))).code, 0);
});

test.run();
