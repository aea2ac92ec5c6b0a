// Archives made to do harm: each is refused with a sentence that says what is wrong.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  at,
  bad,
  check,
  code,
  entriesOf,
  file,
  files,
  gzip,
  head,
  lamp,
  made,
  metaOf,
  type Row,
  refuses,
  tar,
  withFile,
  withMeta,
} from './archive.ts';

const test = suite('hostile archives');

const table: Row[] = [
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

test.run();
