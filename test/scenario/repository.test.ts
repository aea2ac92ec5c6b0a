// A repository of prototypes is read whole, and what is wrong in it is told with file, line and column.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readPrototypes } from '../../firmware/scenario/repository.ts';
import { busyFor } from '../lab/busy.ts';
import { parse, storedFiles } from './stored.ts';

const test = suite('the repository of prototypes');

const good: Record<string, string> = {
  'home/hello/manifest.yaml': `id: home/hello
versions:
  - version: 1.0.0
    changelog: First.
    dslVersion: '1'
    caps: []
    anchors: []
  - version: 1.1.0
    changelog: { en: Greets from another file., ru: Приветствие из другого файла. }
    dslVersion: '1'
    caps: [weather]
    anchors: [after]
`,
  'home/hello/1.0.0/scenario.yaml': `id: hello
version: 1.0.0
dslVersion: '1'
name: Hello
steps:
  - { id: greet, do: say, text: Hello }
`,
  'home/hello/1.0.0/README.md': '# Hello\n',
  'home/hello/1.1.0/scenario.yaml': `id: home/hello
version: 1.1.0
dslVersion: '1'
name: Hello
slots:
  weather: { cap: weather }
steps:
  - include: parts.yaml#greeting
anchors:
  after: { accept: ['skill:*'], after: greet }
`,
  'home/hello/1.1.0/parts.yaml': `greeting:
  - { id: greet, do: say, text: Hello }
`,
  'home/hello/1.1.0/README.md': '# Hello\n',
};
const read = (change: Record<string, string | null> = {}) => {
  const files = new Map(
    Object.entries({ ...good, ...change }).flatMap(([k, v]) => (v === null ? [] : [[k, v] as const])),
  );
  return readPrototypes(files, parse);
};
const told = (change: Record<string, string | null>) =>
  read(change).faults.map((f) => `${f.place} ${f.fault?.code ?? f.says}`);
const edit = (file: string, from: string | RegExp, to: string) => ({ [file]: good[file]!.replace(from, to) });
const [first, second] = ['home/hello/1.0.0/scenario.yaml', 'home/hello/1.1.0/scenario.yaml'];
const manifest = 'home/hello/manifest.yaml';

test('every version comes back, with its README and with what it includes put in', () => {
  const { prototypes, faults } = read();
  assert.equal(faults, []);
  const [hello] = prototypes;
  assert.is(hello!.id, 'home/hello');
  assert.equal([...hello!.versions.keys()], ['1.0.0', '1.1.0']);
  assert.equal(hello!.versions.get('1.1.0')!.prototype.steps, [{ id: 'greet', do: 'say', text: 'Hello' }]);
  assert.equal(hello!.versions.get('1.0.0')!.readme, { en: '# Hello\n' });
  const translated = read({ 'home/hello/1.0.0/README.ru.md': '# Привет\n' });
  assert.equal(translated.faults, []);
  assert.equal(translated.prototypes[0]!.versions.get('1.0.0')!.readme, {
    en: '# Hello\n',
    ru: '# Привет\n',
  });
});

const cases: [what: string, change: Record<string, string | null>, ...faults: string[]][] = [
  ['YAML that is none', edit(first, 'name: Hello', 'name: [Hello'), `${first}:5:1 `],
  ['a field that is not known', edit(first, 'name: Hello', 'name: Hello\nmore: 1'), `${first}:5:1 form`],
  ['a step that is wrong', edit(first, 'text: Hello', "text: '${steps.x.y}'"), `${first}:6:27 unknown_step`],
  ['another id', edit(first, 'id: hello', 'id: goodbye'), `${first}:1:1 wrong_folder`],
  ['another version', edit(first, 'version: 1.0.0', 'version: 1.0.1'), `${first}:2:1 wrong_folder`],
  ['a capability that is not listed', edit(manifest, '[weather]', '[]'), `${manifest}:11:5 differs`],
  ['an anchor that is not there', edit(manifest, '[after]', '[after, more]'), `${manifest}:12:5 differs`],
  ['a manifest of another', edit(manifest, 'home/hello', 'home/other'), `${manifest}:1:1 wrong_folder`],
  ['versions that go back', edit(manifest, 'version: 1.0.0', 'version: 1.2.0'), `${manifest}:8:5 not_newer`],
  ['a version without a folder', { [first]: null }, `${manifest}:3:5 no_version`],
  ['a version without a README', { 'home/hello/1.0.0/README.md': null }, `${manifest}:3:5 no_version`],
  [
    'an empty README of a language',
    { 'home/hello/1.0.0/README.ru.md': ' \n' },
    'home/hello/1.0.0/README.ru.md empty',
  ],
  ...['README.russian.md', 'README.en.md', 'README..md', 'README.RU.md', 'readme.ru.md'].map(
    (name): [string, Record<string, string>, string] => [
      `a README called ${name}`,
      { [`home/hello/1.0.0/${name}`]: 'x' },
      `home/hello/1.0.0/${name} stray_file`,
    ],
  ),
  ['an empty README', { 'home/hello/1.0.0/README.md': '\n' }, 'home/hello/1.0.0/README.md empty'],
  [
    'a version nobody lists',
    { 'home/hello/2.0.0/scenario.yaml': good[first]! },
    'home/hello/2.0.0/scenario.yaml unlisted',
  ],
  ['a fragment that is not there', edit(second, '#greeting', '#no'), `${second}:8:5 no_fragment`],
  [
    'a fragment that is wrong',
    edit('home/hello/1.1.0/parts.yaml', 'do: say', 'do: shout'),
    'home/hello/1.1.0/parts.yaml:2:18 form',
  ],
  [
    'an anchor after no step of a fragment',
    edit(second, 'after: greet', 'after: no'),
    `${second} unknown_step`,
  ],
  ['no manifest', { [manifest]: null }, 'home/hello no_manifest'],
  ['a file without a place', { 'home/hello/1.0.0/run.sh': '' }, 'home/hello/1.0.0/run.sh stray_file'],
  ['a file above', { 'notes.txt': '' }, 'notes.txt stray_file'],
];
for (const [what, change, ...faults] of cases)
  test(`${what} is told at its place`, () => {
    const found = told(change);
    for (const f of faults)
      assert.ok(
        found.some((t) => t.startsWith(f)),
        `${f} of ${found}`,
      );
  });

test('what is whole comes back beside what is not', () => {
  const { prototypes, faults } = read(edit(first, 'text: Hello', 'txt: Hello'));
  assert.ok(faults.length > 0);
  assert.equal([...prototypes[0]!.versions.keys()], ['1.1.0']);
});

test('hostile YAML is judged at once', () => {
  for (const text of [
    '['.repeat(9000),
    '- '.repeat(200),
    `a: &a [x]\nb: ${'[*a,'.repeat(30)}`,
    '\u0000',
    'x'.repeat(70_000),
  ]) {
    const { ms, gave } = busyFor(() => told({ [first]: text }));
    assert.ok(gave.length > 0);
    assert.ok(ms < 1500, `${ms} ms for ${text.slice(0, 20)}`);
  }
});

test('the prototypes of the house lie as a repository must', () => {
  assert.equal(readPrototypes(storedFiles(), parse).faults, []);
});

test.run();
