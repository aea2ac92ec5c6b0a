// gate: out, each file it reads has a decoder of its own, which is slow in a process that others share
// Opus in Ogg: a real file (opusenc 0.2 of what espeak-ng said), and what hostile ones get.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OPUS_RATE, readOgg, samplesOf } from '../../firmware/audio/ogg.ts';
import { durationMs, MAX_SECONDS, MAX_UPLOAD, readUpload } from '../../firmware/audio/upload.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('opus');
const said = new Uint8Array(readFileSync('test/audio/golden/turn-on-the-light.opus'));
const most = MAX_SECONDS * OPUS_RATE;

/** The pages of a file, as bytes of their own. */
function pagesOf(file: Uint8Array): Uint8Array[] {
  const pages: Uint8Array[] = [];
  for (let at = 0; at < file.length; ) {
    const n = file[at + 26]!;
    const size = 27 + n + file.subarray(at + 27, at + 27 + n).reduce((a, b) => a + b, 0);
    pages.push(file.slice(at, at + size));
    at += size;
  }
  return pages;
}
/** Ogg's sum, bit by bit, so that it is not the product's own. */
function summed(page: Uint8Array): Uint8Array {
  const out = page.slice();
  out.fill(0, 22, 26);
  let c = 0;
  for (const byte of out) {
    c ^= byte << 24;
    for (let k = 0; k < 8; k++) c = c < 0 ? (c << 1) ^ 0x04c11db7 : c << 1;
  }
  new DataView(out.buffer).setUint32(22, c >>> 0, true);
  return out;
}
const joined = (pages: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(pages));
/** A page of packets. */
function page(o: {
  flags?: number;
  granule?: number;
  serial?: number;
  sequence: number;
  packets: Uint8Array[];
}) {
  const lacing = o.packets.flatMap((p) => [...Array(Math.floor(p.length / 255)).fill(255), p.length % 255]);
  const head = Buffer.alloc(27);
  head.write('OggS');
  head[5] = o.flags ?? 0;
  head.writeBigInt64LE(BigInt(o.granule ?? 0), 6);
  head.writeUInt32LE(o.serial ?? 7, 14);
  head.writeUInt32LE(o.sequence, 18);
  head[26] = lacing.length;
  return summed(joined([head, Uint8Array.from(lacing), ...o.packets]));
}
const [head = said, tags = said] = pagesOf(said);
/** A file of these packets, in pages of 50. */
function fileOf(packets: Uint8Array[]): Uint8Array {
  const pages = [head, tags];
  for (let i = 0; i < packets.length; i += 50)
    pages.push(page({ sequence: pages.length, packets: packets.slice(i, i + 50), granule: -1 }));
  return joined(pages);
}

async function codeOf(bytes: Uint8Array): Promise<string> {
  try {
    const sound = await readUpload(bytes);
    assert.ok(durationMs(sound) <= MAX_SECONDS * 1000);
    return 'read';
  } catch (e) {
    assert.instance(e, IngleError, String(e));
    assert.match((e as Error).message, /\.$/);
    return (e as IngleError).code;
  }
}

test('a real recording becomes 16 kHz of its own length and loudness', async () => {
  const sound = await readUpload(said);
  assert.ok(Math.abs(durationMs(sound) - 1913) <= 3, `${durationMs(sound)}`);
  const rms = Math.sqrt(sound.reduce((a, v) => a + v * v, 0) / sound.length);
  assert.ok(rms > 1000 && rms < 20_000, `${rms}`);
  const again = await readUpload(said);
  assert.equal(
    Buffer.from(again.buffer).compare(Buffer.from(sound.buffer)),
    0,
    'one leaves nothing for the next',
  );
});

test('how long a packet is says its first byte', () => {
  const one = (toc: number, second = 0) => samplesOf(Uint8Array.of(toc, second));
  assert.equal(
    [one(0), one(3 << 3), one(12 << 3), one(16 << 3), one((31 << 3) | 1)],
    [480, 2880, 480, 120, 1920],
  );
  assert.is(one((31 << 3) | 3, 6), 5760);
  for (const bad of [[], [(31 << 3) | 3, 7], [3, 0], [(3 << 3) | 3, 3]])
    assert.throws(() => samplesOf(Uint8Array.from(bad)));
});

test('a recording of more than half a minute is refused before a sample of it is made', async () => {
  const { packets } = readOgg(said, most);
  const long = (n: number) => fileOf(Array.from({ length: n }, () => packets[40]!));
  const each = samplesOf(packets[40]!);
  const fits = Math.floor(most / each);
  assert.is(await codeOf(long(fits)), 'read');
  assert.is(await codeOf(long(fits + 20)), 'invalid_request');
  // Two bytes that say 120 ms each: an hour in 60 KB.
  const tiny = Array.from({ length: 30_000 }, () => Uint8Array.of((31 << 3) | 3, 6));
  assert.is(await codeOf(fileOf(tiny)), 'invalid_request');
});

test('a file cut at any byte, one with a page too few or too many, and two in one are refused', async () => {
  for (let n = 4; n < said.length; n += 7)
    assert.is(await codeOf(said.slice(0, n)), 'invalid_request', `${n}`);
  const pages = pagesOf(said);
  for (let i = 0; i < pages.length; i++) {
    const code = await codeOf(joined(pages.filter((_, k) => k !== i)));
    assert.ok(i === pages.length - 1 || code !== 'read', `without page ${i}`);
  }
  assert.is(await codeOf(joined([...pages, ...pages])), 'invalid_request');
  const other = page({ sequence: 2, serial: 8, packets: [Uint8Array.of(0)] });
  assert.is(await codeOf(joined([head, tags, other])), 'invalid_request');
  assert.is(await codeOf(joined([head, tags])), 'invalid_request');
});

test('what is in an Ogg and no Opus of one or two channels is told so', async () => {
  const headed = (change: (packet: Uint8Array) => void) => {
    const packet = head.slice(28);
    change(packet);
    return joined([page({ flags: 2, sequence: 0, packets: [packet] }), ...pagesOf(said).slice(1)]);
  };
  assert.is(await codeOf(headed(() => {})), 'read');
  assert.is(await codeOf(headed((p) => p.fill(0x76, 0, 8))), 'not_supported');
  assert.is(await codeOf(headed((p) => p.fill(6, 9, 10))), 'not_supported');
  assert.is(await codeOf(headed((p) => p.fill(1, 18, 19))), 'not_supported');
  const skipping = pagesOf(headed((p) => p.fill(0xff, 10, 12)))[0]!;
  const short = page({ sequence: 2, packets: readOgg(said, most).packets.slice(0, 20) });
  assert.is(await codeOf(joined([skipping, tags, short])), 'invalid_request', 'skipping more than there is');
  assert.is(await codeOf(headed((p) => p.fill(2, 9, 10))), 'read', 'stereo');
});

test('a changed byte is noticed wherever it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(said.length - 5), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      const file = said.slice();
      file[at + 4]! ^= by;
      assert.is.not(await codeOf(file), 'read');
    }),
    { numRuns: 400 },
  );
});

test('whatever a hostile file holds, with sums that are right, it is read or refused, and the next one is read', async () => {
  const { packets } = readOgg(said, most);
  const spoilt = fc.record({
    at: fc.nat(packets.length - 1),
    changes: fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 0, max: 255 })), { maxLength: 12 }),
    more: fc.uint8Array({ maxLength: 4000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(spoilt, { minLength: 1, maxLength: 5 }), async (spoils) => {
      const all = packets.slice(0, 60).map((p) => p.slice());
      for (const { at, changes, more } of spoils) {
        const packet = all[at % all.length]!;
        for (const [i, v] of changes) packet[i % packet.length] = v;
        if (more.length > 0) all[at % all.length] = more;
      }
      assert.ok(['read', 'invalid_request'].includes(await codeOf(fileOf(all))));
    }),
    { numRuns: 300 },
  );
  assert.is(await codeOf(said), 'read');
  assert.is(await codeOf(joined([said.slice(0, 4), new Uint8Array(MAX_UPLOAD)])), 'too_large');
});

test.run();
