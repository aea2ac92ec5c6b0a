// Packages that lie about whose they are and what they hold, and those made to fill a memory.
import { deflateRawSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { checkPackage, packSkill, readPackage } from '../../firmware/skills/package.ts';
import { nobody, type Publishers } from '../../firmware/skills/publishers.ts';
import {
  at,
  bad,
  code,
  entriesOf,
  file,
  head,
  lamp,
  made,
  manifest,
  metaOf,
  type Row,
  refuses,
  signerOfSeed,
  tar,
  withMeta,
} from './archive.ts';

const test = suite('hostile packages');

const table: Row[] = [
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
