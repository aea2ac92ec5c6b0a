import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { flushed, readLog, replay, survivors } from './vm/writelog.ts';

const SECTOR = 512;
const SECTORS = 32;
type Order = { at: number; data: number[]; fua?: boolean } | 'flush' | 'discard';

/** A log by hand, as the kernel's documentation has the format; each number of `data` fills one sector. */
function logOf(orders: readonly Order[], counted = orders.length): Buffer {
  const super_ = Buffer.alloc(SECTOR);
  super_.writeBigUInt64LE(0x6a736677736872n, 0);
  super_.writeBigUInt64LE(1n, 8);
  super_.writeBigUInt64LE(BigInt(counted), 16);
  super_.writeUInt32LE(SECTOR, 24);
  const parts = [super_];
  for (const o of orders) {
    const head = Buffer.alloc(SECTOR);
    parts.push(head);
    if (o === 'flush') head.writeBigUInt64LE(1n, 16);
    else if (o === 'discard') {
      head.writeBigUInt64LE(4n, 8);
      head.writeBigUInt64LE(4n, 16);
    } else {
      head.writeBigUInt64LE(BigInt(o.at), 0);
      head.writeBigUInt64LE(BigInt(o.data.length), 8);
      head.writeBigUInt64LE(o.fua ? 2n : 0n, 16);
      parts.push(...o.data.map((byte) => Buffer.alloc(SECTOR, byte)));
    }
  }
  return Buffer.concat(parts);
}

const test = suite<{ dir: string }>('log of writes');
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-log-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));

/** The first byte of each sector of an empty disk after a cut. */
function after(dir: string, log: Buffer, cut: number, seed: number): number[] {
  const file = join(dir, 'log');
  const disk = join(dir, 'disk');
  writeFileSync(file, log);
  writeFileSync(disk, Buffer.alloc(SECTORS * SECTOR));
  replay(disk, file, survivors(readLog(file), cut, seed));
  const bytes = readFileSync(disk);
  assert.is(bytes.length, SECTORS * SECTOR);
  return Array.from({ length: SECTORS }, (_, i) => {
    const sector = bytes.subarray(i * SECTOR, (i + 1) * SECTOR);
    assert.ok(
      sector.every((b) => b === sector[0]),
      'a sector is written whole',
    );
    return sector[0]!;
  });
}

const seeds = Array.from({ length: 300 }, (_, i) => i);
const golden: Order[] = [
  { at: 1, data: [1, 2] },
  'discard',
  'flush',
  { at: 2, data: [3] },
  { at: 20, data: [9], fua: true },
  { at: 8, data: [4, 5] },
];

test('a log is read to its end, however many entries its super block counts', async ({ dir }) => {
  const file = join(dir, 'log');
  writeFileSync(file, Buffer.concat([logOf(golden, 3), Buffer.alloc(8 * SECTOR)]));
  const entries = readLog(file);
  assert.equal(
    entries.map((e) => [e.kind, e.durable, e.at, e.length]),
    [
      ['write', false, 512, 1024],
      ['nothing', false, 0, 2048],
      ['flush', true, 0, 0],
      ['write', false, 1024, 512],
      ['write', true, 10240, 512],
      ['write', false, 4096, 1024],
    ],
  );
  assert.equal(
    [0, 2, 3, 6].map((cut) => flushed(entries, cut)),
    [0, 0, 3, 3],
  );
  // QEMU was killed while it wrote the last one.
  writeFileSync(file, logOf(golden).subarray(0, -1));
  assert.is(readLog(file).length, 5);
  writeFileSync(file, Buffer.alloc(4096));
  assert.throws(() => readLog(file), /no log of writes/);
});

test('what was flushed or forced stays; the rest may be there, be torn or have come in another order', async ({
  dir,
}) => {
  const found = new Set<string>();
  for (const seed of seeds) {
    const disk = after(dir, logOf(golden), golden.length, seed);
    assert.equal([disk[1], disk[20]], [1, 9], `seed ${seed}`);
    found.add([disk[2], disk[8], disk[9]].join());
  }
  // The later one without the earlier, half a request, nothing, and everything.
  for (const state of ['2,4,5', '3,4,0', '3,0,5', '2,0,0', '3,4,5']) assert.ok(found.has(state), state);
  assert.equal(
    [...found].filter((f) => !/^[23],[04],[05]$/.test(f)),
    [],
  );
});

test('the same seed leaves the same', async ({ dir }) => {
  const log = logOf(golden);
  for (const seed of seeds.slice(0, 20)) assert.equal(after(dir, log, 6, seed), after(dir, log, 6, seed));
});

const orders: fc.Arbitrary<Order[]> = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: fc.constant<Order>('flush') },
    {
      weight: 3,
      arbitrary: fc.record({
        at: fc.nat(SECTORS - 8),
        data: fc.array(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 8 }),
        fua: fc.boolean(),
      }),
    },
  ),
  { maxLength: 20 },
);
/** What a disk holds that loses nothing. */
function plain(list: readonly Order[]): number[] {
  const disk = new Array<number>(SECTORS).fill(0);
  for (const o of list)
    if (typeof o === 'object') for (const [i, byte] of o.data.entries()) disk[o.at + i] = byte;
  return disk;
}

test('with all flushed the disk is as if the power had stayed', async ({ dir }) => {
  fc.assert(
    fc.property(orders, fc.nat(), (list, seed) => {
      const all: Order[] = [...list, 'flush'];
      assert.equal(after(dir, logOf(all), all.length, seed), plain(all));
    }),
    { numRuns: 200 },
  );
});

test('nothing from before the last flush is lost, and each sector is one that was written', async ({
  dir,
}) => {
  fc.assert(
    fc.property(orders, fc.nat(), fc.nat(20), (list, seed, at) => {
      const cut = Math.min(at, list.length);
      const before = list.slice(0, cut);
      const safe = before.lastIndexOf('flush') + 1;
      const disk = after(dir, logOf(list), cut, seed);
      for (let s = 0; s < SECTORS; s++) {
        let may = new Set([plain(before.slice(0, safe))[s]!]);
        for (const o of before.slice(safe)) {
          if (typeof o !== 'object') continue;
          const byte = o.data[s - o.at];
          if (byte === undefined) continue;
          if (o.fua) may = new Set([byte]);
          else may.add(byte);
        }
        assert.ok(may.has(disk[s]!), `sector ${s}: ${disk[s]} is none of ${[...may]}`);
      }
    }),
    { numRuns: 300 },
  );
});

test.run();
