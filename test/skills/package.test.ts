// gate: out, 14 s
// Packages of skills: made, read, and refused whatever is changed in them.
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { checkPackage, type PackedFile, packSkill, readPackage } from '../../firmware/skills/package.ts';
import { nobody } from '../../firmware/skills/publishers.ts';
import { check, file, gzip, idOfKey, lamp, made, manifest, signerOfSeed } from './archive.ts';

const test = suite('packages of skills');
const signer = signerOfSeed(1);
const hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const refused = async (bytes: Uint8Array): Promise<IngleError> => {
  try {
    await check(bytes);
  } catch (e) {
    assert.instance(e, IngleError);
    return e as IngleError;
  }
  throw new Error('the package was taken');
};
async function allOf(bytes: Uint8Array | AsyncIterable<Uint8Array>) {
  const p = await readPackage(bytes, nobody);
  const files: PackedFile[] = [];
  for await (const f of p.files) files.push(f);
  return { ...p, files };
}

test('the archive of the same files and key is the same everywhere and for ever', () => {
  const { bytes } = packSkill(lamp().reverse(), signer);
  const archive = gunzipSync(bytes);
  assert.is(hex(archive), '31b7cfa1f08eec575b5f4ca5015b8ba3fe3fefa362874071a75636d6af50eda0');
  assert.equal(packSkill(lamp(), signer).bytes, bytes);
  assert.equal(new Uint8Array(made()), bytes, 'as one built by hand from what is documented');
});

test('what was packed is read back, signed or not', async () => {
  const whole = await allOf(packSkill(lamp(), signer).bytes);
  assert.equal(whole.files, lamp());
  assert.is(whole.publisher?.id, idOfKey(signer.key));
  assert.is(whole.publisher?.key, Buffer.from(signer.key).toString('base64url'));
  assert.is(whole.trust, 'unknown');
  const unsigned = await allOf(packSkill(lamp()).bytes);
  assert.equal(unsigned.files, lamp());
  assert.is(unsigned.publisher, undefined);
  assert.is(unsigned.trust, 'unsigned');
  assert.is.not(unsigned.digest, whole.digest);
});

test('whatever files a skill has, packing and reading gives them back', async () => {
  const name = fc.stringMatching(/^[a-z0-9_][a-z0-9._-]{0,9}$/);
  const path = fc.array(name, { minLength: 2, maxLength: 4 }).map((parts) => parts.join('/'));
  const more = fc.uniqueArray(fc.tuple(path, fc.uint8Array({ maxLength: 2000 })), {
    selector: ([p]) => p,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(more, fc.integer({ min: 1, max: 700 }), async (some, step) => {
      const paths = some.map(([p]) => p);
      const nested = paths.some((p) => paths.some((q) => q.startsWith(`${p}/`)));
      const clash = paths.some((p) => /^(manifest\.json|skill\.js)\//.test(p));
      fc.pre(!nested && !clash);
      const files = [...lamp(), ...some.map(([p, bytes]) => ({ path: `x/${p}`, bytes }))];
      const { bytes } = packSkill(files, signer);
      async function* pieces() {
        for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
      }
      const read = await allOf(pieces());
      const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
      assert.equal(read.files, sorted);
    }),
    { numRuns: 80 },
  );
});

test('a folder that is no skill is not packed, and all faults of a manifest are told', () => {
  const says = (files: PackedFile[], words: RegExp) => {
    try {
      packSkill(files, signer);
    } catch (e) {
      assert.instance(e, IngleError);
      assert.match((e as Error).message, words);
      return (e as IngleError).details;
    }
    throw new Error(`packed: ${words}`);
  };
  const [m, code] = lamp() as [PackedFile, PackedFile];
  says([code], /manifest\.json is missing/);
  says([m], /has no skill\.js/);
  says([m, code, code], /\(skill\.js\) is there twice/);
  says([file('manifest.json', '['), code], /no JSON object/);
  says([file('manifest.json', '['.repeat(60_000)), code], /no JSON object/);
  says([file('manifest.json', ' '.repeat(70_000)), code], /at most 65536 bytes/);
  const faults = says(
    [file('manifest.json', JSON.stringify({ ...manifest(), id: 'L', more: 1 })), code],
    /id/,
  );
  assert.is((faults?.['faults'] as unknown[] | undefined)?.length, 2);
  assert.is(faults?.['path'], 'manifest.json');
  says([file('manifest.json', JSON.stringify(manifest('lamp', '1.0.0-a..b'))), code], /cannot|compared/);
  for (const bad of ['../x', '/x', 'a//b', './x', 'a/..', 'A', 'é', '.x', '-x', 'a\\b', 'x'.repeat(101), ''])
    says([m, code, file(bad, '')], /\/files\/\d+\/path/);
  says([m, code, file('package.json', '{}')], /a name of the package's own/);
  says([m, code, file('package.sig', '')], /a name of the package's own/);
  says([m, code, file('skill.js/x', '')], /lies below "skill\.js"/);
  says([m, code, ...Array.from({ length: 511 }, (_, i) => file(`f${i}`, ''))], /at most 512 items/);
  const eight = new Uint8Array(8 * 2 ** 20);
  says([m, code, { path: 'x', bytes: new Uint8Array(8 * 2 ** 20 + 1) }], /size may be at most 8388608/);
  says([m, code, ...['a', 'b', 'c', 'd'].map((path) => ({ path, bytes: eight }))], /33554432 bytes together/);
});

test('a file is handed on only behind a good signature, and whole', async () => {
  const handed: string[] = [];
  const read = async (bytes: Uint8Array) => {
    handed.length = 0;
    const p = await readPackage(bytes, nobody);
    for await (const f of p.files) handed.push(f.path);
  };
  const forged = made((e) =>
    e.map((x) => (x.name === 'package.sig' ? { ...x, bytes: lamp()[0]!.bytes } : x)),
  );
  await read(forged).catch(() => {});
  assert.equal(handed, []);
  const code = lamp()[1]!.bytes.map((b, i) => (i === 700 ? b ^ 1 : b));
  await read(made((e) => e.map((x) => (x.name === 'skill.js' ? { ...x, bytes: code } : x)))).catch(() => {});
  assert.equal(handed, ['manifest.json']);
});

test('every bit of a package counts, but for what deflate can say in two ways', async () => {
  const { bytes } = packSkill(lamp(), signer);
  const before = await allOf(bytes);
  let same = 0;
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const at = bit >> 3;
    const isWrapping = at < 16 || at >= bytes.length - 16;
    if (!isWrapping && (bit & 7) !== at % 8) continue;
    const other = bytes.slice();
    other[at]! ^= 1 << (bit & 7);
    try {
      const { files, digest } = await allOf(other);
      assert.equal(files, before.files);
      assert.is(digest, before.digest);
      same++;
    } catch (e) {
      assert.instance(e, IngleError, `bit ${bit}: ${(e as Error).stack}`);
    }
  }
  assert.ok(same < bytes.length / 50, `${same} bits of ${bytes.length} bytes change nothing`);
});

test('every bit of the archive counts', async () => {
  const archive = gunzipSync(packSkill(lamp(), signer).bytes);
  for (let at = 0; at < archive.length; at++) {
    const other = Buffer.from(archive);
    other[at]! ^= 1 << (at % 8);
    await refused(gzip(other, 1));
  }
});

test('random changes are refused with an error of ours, or change nothing', async () => {
  const { bytes } = packSkill(lamp(), signer);
  const before = await allOf(bytes);
  const archive = gunzipSync(bytes);
  const edit = fc.record({
    at: fc.nat(),
    take: fc.nat({ max: 600 }),
    put: fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.constant(new Uint8Array(512))),
    copyFrom: fc.option(fc.nat()),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), fc.boolean(), async (edits, inside) => {
      let now: Buffer = inside ? archive : Buffer.from(bytes);
      for (const { at, take, put, copyFrom } of edits) {
        const i = at % (now.length + 1);
        const from = copyFrom === null ? 0 : copyFrom % (now.length + 1);
        const piece = copyFrom === null ? put : now.subarray(from, from + 512);
        now = Buffer.concat([now.subarray(0, i), piece, now.subarray(i + take)]);
      }
      if (now.equals(inside ? archive : bytes)) return;
      try {
        const { files, digest } = await allOf(inside ? gzip(now, 1) : now);
        assert.not(inside, 'an archive that was changed is taken');
        assert.equal(files, before.files);
        assert.is(digest, before.digest);
      } catch (e) {
        assert.instance(e, IngleError, (e as Error).stack);
        assert.is.not((e as IngleError).code, 'internal');
      }
    }),
    { numRuns: 800 },
  );
});

test('what the source throws is not taken for a fault of the package', async () => {
  const { bytes } = packSkill(lamp(), signer);
  async function* broken() {
    yield bytes.subarray(0, 300);
    throw new Error('the stick is gone');
  }
  try {
    await check(broken());
    assert.unreachable();
  } catch (e) {
    assert.is((e as Error).message, 'the stick is gone');
  }
});

test('who leaves off reading leaves no source open', async () => {
  // Zeros: one piece of the source unpacks to more than is taken from it before somebody asks.
  const zeros = { path: 'zeros', bytes: new Uint8Array(2 ** 22) };
  const { bytes } = packSkill([...lamp(), zeros], signer);
  let open = 0;
  async function* counted(step: number, of: Uint8Array = bytes) {
    open++;
    try {
      for (let at = 0; at < of.length; at += step) yield of.subarray(at, at + step);
    } finally {
      open--;
    }
  }
  const closed = async () => {
    for (let i = 0; i < 1000 && open > 0; i++) await new Promise((r) => setImmediate(r));
    assert.is(open, 0);
  };
  for (const step of [1, 500, bytes.length]) {
    const p = await readPackage(counted(step), nobody);
    await p.close();
    await closed();
    const q = await readPackage(counted(step), nobody);
    for await (const _ of q.files) break;
    await closed();
    await checkPackage(counted(step), nobody);
    await closed();
    const stranger = new Map([['lamp', Buffer.from(signerOfSeed(2).key).toString('base64url')]]);
    await readPackage(counted(step), { ...nobody, first: stranger }).catch((e) =>
      assert.is(e.code, 'forbidden'),
    );
    await closed();
  }
});

test.run();
