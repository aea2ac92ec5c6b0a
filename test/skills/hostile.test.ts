// Packages made to do harm: each is refused with a sentence that says what is wrong.

import { deflateRawSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { type ErrorCode, IngleError } from '../../firmware/protocol/errors.ts';
import { checkPackage, packSkill, readPackage } from '../../firmware/skills/package.ts';
import { nobody, type Publishers } from '../../firmware/skills/publishers.ts';
import {
  check,
  type Entry,
  entriesOf,
  file,
  gzip,
  head,
  lamp,
  made,
  manifest,
  metaOf,
  signerOfSeed,
  tar,
} from './archive.ts';

const test = suite('hostile packages');

async function refuses(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  code: ErrorCode,
  words: RegExp,
  publishers: Publishers = nobody,
): Promise<void> {
  try {
    await checkPackage(bytes, publishers);
  } catch (e) {
    assert.instance(e, IngleError, `${words}: ${(e as Error).stack}`);
    const { code: got, message } = e as IngleError;
    assert.is(got, code, message);
    assert.match(message, words);
    assert.ok(message.length < 6000);
    return;
  }
  assert.unreachable(`taken: ${words}`);
}

const bad = 'invalid_request';
const at = (name: string, more: Partial<Entry>) => (entries: Entry[]) =>
  entries.map((e) => (e.name === name ? { ...e, ...more } : e));
const code = lamp()[1]!;
/** A package whose package.json names one more file, and has it. */
const withFile = (path: string, more: Partial<Entry> = {}) => {
  const files = [...lamp(), file(path, 'x')].sort((a, b) => (a.path < b.path ? -1 : 1));
  return made(at(path, more), files);
};
const withMeta = (change: Record<string, unknown>, seed = 1) =>
  gzip(tar([...head(metaOf(lamp(), change), seed), ...entriesOf(lamp())]));
const { files } = metaOf(lamp()) as { files: Record<string, unknown>[] };

const table: [string, () => Uint8Array, ErrorCode, RegExp][] = [
  // Whose it is.
  [
    'a signature of another package',
    () => made(at('package.sig', head(metaOf(lamp(), { version: '9.0.0' }))[1]!)),
    'forbidden',
    /signature is wrong/,
  ],
  [
    'signed by another key than it names',
    () => withMeta({}, 2),
    'forbidden',
    /another publisher than the one who signed/,
  ],
  [
    'no signature though it names a publisher',
    () => made((e) => e.filter((x) => x.name !== 'package.sig')),
    'forbidden',
    /signature is missing/,
  ],
  [
    'a signature and no publisher',
    () => withMeta({ publisher: undefined }),
    'forbidden',
    /names no publisher/,
  ],
  [
    'a signature that is text',
    () => made(at('package.sig', { bytes: new Uint8Array(131).fill(65) })),
    bad,
    /package\.sig is no signature/,
  ],
  [
    'a key spelled another way',
    () => made((e) => e.map((x) => (x.name === 'package.sig' ? { ...x, bytes: respelled(x.bytes!) } : x))),
    bad,
    /package\.sig is no signature/,
  ],
  ['a key of small order', () => weak(), 'forbidden', /signature is wrong/],
  [
    'a signature that is longer',
    () => made(at('package.sig', { bytes: new Uint8Array(132) })),
    bad,
    /package\.sig has another size/,
  ],
  // Where its files would go.
  ['a path upwards', () => withFile('../x'), bad, /path must be a path/],
  ['a path upwards in the middle', () => withFile('a/../../x'), bad, /path must be a path/],
  ['an absolute path', () => withFile('/etc/x'), bad, /path must be a path/],
  ['a path of this folder', () => withFile('./x'), bad, /path must be a path/],
  ['an empty part', () => withFile('a//x'), bad, /path must be a path/],
  ['a folder', () => withFile('a/'), bad, /path must be a path/],
  ['a backslash', () => withFile('a\\..\\x'), bad, /path must be a path/],
  ['a zero in a name', () => withFile('a\0b'), bad, /path must be a path/],
  ['capitals, so no twins by case', () => withFile('Skill.js'), bad, /lower-case/],
  ['a hidden file', () => withFile('.npmrc'), bad, /path must be a path/],
  ['a huge name', () => withFile('x'.repeat(101)), bad, /at most 100/],
  ['a name of 60,000', () => withFile('x'.repeat(60_000)), bad, /at most 100/],
  [
    'a name only in the header',
    () => made(at('skill.js', { name: '../../../etc/passwd' })),
    bad,
    /"\.\.\/\.\.\/\.\.\/etc\/passwd" stands in its place/,
  ],
  [
    'a prefix in the header',
    () => made(at('skill.js', { prefix: '../..' })),
    bad,
    /another mode, owner or time/,
  ],
  [
    'a file below a file',
    () =>
      made(
        (e) => e,
        [...lamp(), file('skill.js/x', 'x')].sort((a, b) => (a.path < b.path ? -1 : 1)),
      ),
    bad,
    /lies below "skill\.js"/,
  ],
  ["the package's own name", () => withFile('package.sig'), bad, /package's own/],
  // What its entries are.
  [
    'a symbolic link',
    () => made(at('skill.js', { type: '2', link: '/etc/passwd' })),
    bad,
    /skill\.js is a symbolic link/,
  ],
  [
    'a hard link',
    () => made(at('skill.js', { type: '1', link: 'manifest.json' })),
    bad,
    /skill\.js is a hard link/,
  ],
  [
    'a link with the type of a file',
    () => made(at('skill.js', { link: '/etc/passwd' })),
    bad,
    /another mode, owner or time/,
  ],
  ['a character device', () => made(at('skill.js', { type: '3' })), bad, /skill\.js is a device/],
  ['a block device', () => made(at('skill.js', { type: '4' })), bad, /skill\.js is a device/],
  ['a folder entry', () => made(at('skill.js', { type: '5' })), bad, /skill\.js is a folder/],
  ['a pipe', () => made(at('skill.js', { type: '6' })), bad, /skill\.js is a pipe/],
  ['a file of the old kind', () => made(at('skill.js', { type: '\0' })), bad, /nobody knows/],
  [
    'a pax header',
    () => made((e) => [...e.slice(0, 2), { name: 'x', type: 'x', bytes: new Uint8Array(30) }, ...e.slice(2)]),
    bad,
    /header of pax/,
  ],
  [
    'a pax header for all',
    () => made((e) => [{ name: 'g', type: 'g', bytes: new Uint8Array(30) }, ...e]),
    bad,
    /header of pax/,
  ],
  [
    'a long name of GNU',
    () =>
      made((e) => [
        ...e.slice(0, 2),
        { name: '././@LongLink', type: 'L', bytes: new Uint8Array(300) },
        ...e.slice(2),
      ]),
    bad,
    /GNU tar/,
  ],
  ['the set-uid bit', () => made(at('skill.js', { mode: '0004755\0' })), bad, /another mode/],
  ['a time', () => made(at('skill.js', { mtime: '00000000001\0' })), bad, /another mode, owner or time/],
  ["GNU's magic", () => made(at('skill.js', { magic: 'ustar  \0' })), bad, /another mode/],
  ['a wrong checksum', () => made(at('skill.js', { sum: '000000\0 ' })), bad, /damaged header/],
  [
    'something hidden in the padding',
    () => made(at('texts/en.json', { pad: 65 })),
    bad,
    /followed by what is no part/,
  ],
  // What is there.
  ['a file twice', () => made((e) => [...e, e.at(-1)!]), bad, /package\.json does not name it/],
  ['a file named twice', () => withMeta({ files: [...files, files[2]] }), bad, /is there twice/],
  [
    'one more file',
    () => made((e) => [...e, { name: 'zz', bytes: new Uint8Array(3) }]),
    bad,
    /"zz" is in the archive/,
  ],
  [
    'one more file in front',
    () => made((e) => [{ name: 'aa', bytes: new Uint8Array(3) }, ...e]),
    bad,
    /package\.json is missing: "aa"/,
  ],
  ['a file less', () => made((e) => e.slice(0, -1)), bad, /texts\/en\.json is missing/],
  [
    'files in another order',
    () => made((e) => [...e.slice(0, 2), e[3]!, e[2]!, e[4]!]),
    bad,
    /manifest\.json is missing: "skill\.js"/,
  ],
  [
    'named in another order',
    () => withMeta({ files: [files[1], files[0], files[2]] }),
    bad,
    /order of names/,
  ],
  ['no code', () => made((e) => e, [lamp()[0]!]), bad, /has no skill\.js/],
  ['no manifest', () => made((e) => e, [code]), bad, /has no manifest\.json/],
  ['a size that lies', () => made(at('skill.js', { size: 3 })), bad, /another size/],
  ['a negative size', () => withMeta({ files: files.map((f) => ({ ...f, size: -1 })) }), bad, /at least 0/],
  [
    'a size beyond all',
    () => withMeta({ files: files.map((f) => ({ ...f, size: 2 ** 40 })) }),
    bad,
    /at most 8388608/,
  ],
  [
    'a size of no whole number',
    () => withMeta({ files: files.map((f) => ({ ...f, size: 0.5 })) }),
    bad,
    /integer/,
  ],
  [
    'other bytes than named',
    () => made(at('skill.js', { bytes: code.bytes.map((b) => b ^ 1) })),
    bad,
    /skill\.js is not what package\.json says/,
  ],
  // What it says.
  [
    'a manifest of another skill',
    () => made((e) => e, lamp('lamp2'), metaOf(lamp('lamp2'))),
    bad,
    /is of "lamp2", and package\.json of "lamp"/,
  ],
  [
    'a manifest of another version',
    () => made((e) => e, lamp('lamp', '1.1.0'), metaOf(lamp('lamp', '1.1.0'))),
    bad,
    /version 1\.1\.0, and package\.json of 1\.2\.0/,
  ],
  [
    'a manifest with faults',
    () => made((e) => e, [file('manifest.json', JSON.stringify({ ...manifest(), admin: true })), code]),
    bad,
    /admin is not known/,
  ],
  [
    'a manifest that is no JSON',
    () => made((e) => e, [file('manifest.json', '{'), code]),
    bad,
    /manifest\.json is no JSON/,
  ],
  [
    'a manifest that nests',
    () => made((e) => e, [file('manifest.json', '[1'.repeat(30_000)), code]),
    bad,
    /manifest\.json is no JSON/,
  ],
  [
    'a version nobody can compare',
    () => withMeta({ version: '1.0.0-a..b' }),
    bad,
    /\/version is not a version/,
  ],
  ['a version like a path', () => withMeta({ version: '../1' }), bad, /\/version is not a version/],
  ['an id like a path', () => withMeta({ id: '../x' }), bad, /\/id must be the id/],
  ['a later format', () => withMeta({ format: 'ingle-skill/2' }), 'not_supported', /format ingle-skill\/2/],
  ['a strange format', () => withMeta({ format: 'deb' }), bad, /\/format/],
  ['a field nobody knows', () => withMeta({ run: 'rm' }), bad, /\/run is not known/],
  [
    'blanks in package.json',
    () => made(at('package.json', {}), lamp(), ` ${JSON.stringify(metaOf(lamp()))}` as never),
    bad,
    /not spelled/,
  ],
  [
    'a field said twice',
    () => made((e) => e, lamp(), JSON.stringify(metaOf(lamp())).replace('{', '{"id":"other",') as never),
    bad,
    /not spelled/,
  ],
  [
    'fields in another order',
    () => made((e) => e, lamp(), { id: 'lamp', ...metaOf(lamp()) } as never),
    bad,
    /not spelled/,
  ],
  ['package.json of null', () => made((e) => e, lamp(), 'null' as never), bad, /no JSON object/],
  [
    'package.json that nests',
    () => made((e) => e, lamp(), '{"a":'.repeat(9000) as never),
    bad,
    /no JSON object/,
  ],
  [
    'a large package.json',
    () => made((e) => e, lamp(), ' '.repeat(65_537) as never),
    'too_large',
    /package\.json is larger/,
  ],
  // The wrapping.
  ['nothing', () => new Uint8Array(0), bad, /no package/],
  ['a few bytes', () => made().subarray(0, 9), bad, /no package/],
  ['no gzip', () => tar(entriesOf(lamp())), bad, /no package/],
  [
    'a name in the gzip header',
    () => {
      const b = Buffer.from(made());
      b[3] = 8;
      return b;
    },
    bad,
    /no package/,
  ],
  ['a second member', () => Buffer.concat([made(), made()]), bad, /goes on behind its end/],
  ['a byte behind the end', () => Buffer.concat([made(), Buffer.alloc(1)]), bad, /goes on behind its end/],
  [
    'a megabyte behind the end',
    () => Buffer.concat([made(), Buffer.alloc(2 ** 20)]),
    bad,
    /goes on behind its end/,
  ],
  [
    'a wrong checksum of gzip',
    () => {
      const b = Buffer.from(made());
      b[b.length - 8]! ^= 1;
      return b;
    },
    bad,
    /checksum differs/,
  ],
  [
    'a wrong length of gzip',
    () => {
      const b = Buffer.from(made());
      b[b.length - 1]! ^= 1;
      return b;
    },
    bad,
    /checksum differs/,
  ],
  [
    'a block behind the end',
    () => gzip(tar([...head(metaOf(lamp())), ...entriesOf(lamp())], 1536)),
    bad,
    /goes on behind its end/,
  ],
  [
    'one block of end',
    () => gzip(tar([...head(metaOf(lamp())), ...entriesOf(lamp())], 512)),
    bad,
    /end of the archive is missing/i,
  ],
  [
    'an archive of nothing',
    () => gzip(Buffer.alloc(1024)),
    bad,
    /package\.json is missing: the archive ends/,
  ],
];

/** The same key with other unused bits in its last character. */
function respelled(bytes: Uint8Array): Uint8Array {
  const out = Buffer.from(bytes);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  out[42] = alphabet.charCodeAt(alphabet.indexOf(String.fromCharCode(out[42]!)) ^ 1);
  return new Uint8Array(out);
}

/** Under the neutral element as key, s = 0 and R = key is a signature of anything. */
function weak(): Uint8Array {
  const key = new Uint8Array(32);
  key[0] = 1;
  const signature = new Uint8Array(64);
  signature[0] = 1;
  const seal = `${toBase64url(key)}\n${toBase64url(signature)}\n`;
  return made(at('package.sig', { bytes: new Uint8Array(Buffer.from(seal)) }));
}

for (const [name, bytes, code, words] of table) test(`refused: ${name}`, () => refuses(bytes(), code, words));

test('what the table changes is good when it is not changed', async () => {
  assert.is((await check(made())).trust, 'unknown');
  assert.is((await check(withFile('a/x-1_y.z'))).meta.files.length, 4);
  assert.is((await check(withFile('x'.repeat(100)))).meta.files.length, 4);
});

test('it is refused wherever it is cut off', async () => {
  const archive = tar([...head(metaOf(lamp())), ...entriesOf(lamp())]);
  for (let end = 0; end < archive.length; end += 512)
    await refuses(gzip(archive.subarray(0, end)), bad, /missing|not whole|ends/);
  const bytes = made();
  for (let end = 0; end < bytes.length; end++)
    await refuses(bytes.subarray(0, end), bad, /no package|cut off|not whole/);
});

/** A gzip that unpacks to `head` and then `mib` MiB of zeros, and how much of it was asked for. */
function bomb(first: Buffer, mib: number) {
  const zeros = Buffer.alloc(2 ** 20);
  const block = deflateRawSync(zeros, { level: 9, finishFlush: 2 /* Z_SYNC_FLUSH */ });
  const asked = { mib: 0 };
  async function* source() {
    yield Buffer.from('1f8b08000000000002ff', 'hex');
    yield deflateRawSync(first, { finishFlush: 2 });
    for (; asked.mib < mib; asked.mib++) yield block;
  }
  return { source: source(), asked };
}

test('a bomb is not unpacked further than what package.json names', async () => {
  for (const first of [
    Buffer.alloc(0),
    tar(head(metaOf(lamp())), 0),
    tar([...head(metaOf(lamp())), ...entriesOf(lamp())], 1024),
  ]) {
    const { source, asked } = bomb(first, 4096);
    const before = process.memoryUsage().rss;
    await refuses(source, bad, /missing|goes on|ends/);
    assert.ok(asked.mib < 8, `${asked.mib} MiB were unpacked`);
    assert.ok(process.memoryUsage().rss - before < 64 * 2 ** 20);
  }
});

test('a file that is named with 8 MiB and has more stops there', async () => {
  const zeros = { path: 'zeros', bytes: new Uint8Array(8 * 2 ** 20) };
  const all = [...lamp(), zeros];
  const archive = tar(
    [...head(metaOf(all)), ...entriesOf(lamp()), { name: 'zeros', size: zeros.bytes.length }],
    0,
  );
  const { source, asked } = bomb(archive, 4096);
  await refuses(source, bad, /goes on behind its end/);
  assert.ok(asked.mib < 16, `${asked.mib} MiB were unpacked`);
});

test('more than 8 MiB are not read, whatever they hold', async () => {
  let given = 0;
  async function* endless() {
    yield made().subarray(0, 10);
    // Stored blocks of nothing: bytes that unpack to none.
    for (;;) {
      const empty = Buffer.alloc(5 * 4096);
      for (let i = 0; i < empty.length; i += 5) empty.set([0, 0, 0, 0xff, 0xff], i);
      given += empty.length;
      yield empty;
    }
  }
  await refuses(endless(), 'too_large', /larger than 8388608/);
  assert.ok(given <= 8 * 2 ** 20 + 20480);
});

test('a million entries are as many as package.json may name', async () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ path: `f${i}`, size: 0, sha256: '0'.repeat(64) }));
  await refuses(withMeta({ files: many.slice(0, 560) }), bad, /at most 512 items/);
  await refuses(withMeta({ files: many }), 'too_large', /package\.json is larger/);
  let given = 0;
  const header = tar([{ name: 'x' }], 0);
  async function* endless() {
    yield Buffer.from('1f8b08000000000002ff', 'hex');
    yield deflateRawSync(tar([...head(metaOf(lamp())), ...entriesOf(lamp())], 0), { finishFlush: 2 });
    for (; given < 1e6; given++) yield deflateRawSync(header, { finishFlush: 2 });
  }
  await refuses(endless(), bad, /"x" is in the archive/);
  assert.ok(given < 1000, `${given} entries were read`);
});

test("another's key may not publish what came from a first publisher, nor may nobody", async () => {
  const [mine, other] = [signerOfSeed(1), signerOfSeed(2)].map((s) => toBase64url(s.key)) as [string, string];
  const first = (key: string): Publishers => ({ ...nobody, first: new Map([['lamp', key]]) });
  assert.is((await checkPackage(made(), first(mine))).trust, 'unknown');
  await refuses(made(), 'forbidden', /has come from/, first(other));
  await refuses(packSkill(lamp()).bytes, 'forbidden', /not signed/, first(mine));
  const maker = [{ key: mine, name: 'Acme', ids: ['acme_*'] }];
  await refuses(made(), 'forbidden', /"Acme".*is not trusted with a skill called "lamp"/, {
    ...nobody,
    maker,
  });
  const revoked = [{ key: mine, name: 'Acme', revoked: true }];
  await refuses(made(), 'forbidden', /revoked/, { ...nobody, maker: revoked });
  const p = await readPackage(made(), { ...nobody, publishers: [{ key: mine, name: 'Acme' }] });
  assert.is(p.trust, 'trusted');
  assert.is(p.publisher?.name, 'Acme');
  await p.close();
});

test.run();
