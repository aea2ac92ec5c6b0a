// The app of a skill's folder: every fault is told with its file, line and column, and nothing faulty is packed.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { appIn, checkPackedApp } from '../../services/cli/skill/app.ts';
import { devTextOf, textOf } from '../../services/cli/skill/text.ts';

const folder = mkdtempSync(join(tmpdir(), 'ingle-app-'));
test.after(() => rmSync(folder, { recursive: true }));
const manifest = checkManifest({
  id: 'lamp',
  version: '1.0.0',
  capabilities: { visual: true, ui: { title: 'Lamp', modes: ['modal'], app: 'scenario.yaml' } },
});
const good = {
  'scenario.yaml': `name: lamp
version: 1.0.0
title: { en: Lamp, ru: Лампа }
entry: all
permissions: [{ skill: stock, contracts: [stock.list] }]
routes:
  all: { path: /, title: Lamps, usdl: pages/all.yaml }
`,
  'pages/all.yaml': `version: usdl/0.2
components:
  - { type: Card, title: Lamps }
`,
};
async function made(change: Record<string, string | null> = {}) {
  rmSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({ ...good, ...change })) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return appIn(folder, manifest, devTextOf('en'));
}
async function refused(work: Promise<unknown>): Promise<string> {
  const e = await work.then(
    () => undefined,
    (cause) => cause,
  );
  assert.instance(e, IngleError);
  return (e as IngleError).message;
}
const scenario = (from: string, to: string) => ({
  'scenario.yaml': good['scenario.yaml'].replace(from, () => to),
});

test('an app that is right becomes one file, and its permissions go to the manifest', async () => {
  const app = await made();
  assert.equal(app!.contracts, [{ skill: 'stock', contracts: ['stock.list'] }]);
  assert.equal(Object.keys(JSON.parse(app!.text).pages), ['pages/all.yaml']);
  const plain = { ...manifest, capabilities: {} };
  assert.is(await appIn(folder, plain, devTextOf('en')), undefined);
});

const faults: [string, Record<string, string | null>, RegExp][] = [
  [
    'a field nobody knows',
    scenario('entry:', 'colour: red\nentry:'),
    /scenario\.yaml:4:1: \/colour is not known/,
  ],
  [
    'an entry that is not there',
    scenario('entry: all', 'entry: none'),
    /scenario\.yaml:4:1: \/entry names no route/,
  ],
  [
    'a path that is none',
    scenario('path: /,', 'path: x,'),
    /scenario\.yaml:7:10: \/routes\/all\/path must be a path/,
  ],
  ['what is missing', scenario('name: lamp\n', ''), /scenario\.yaml:1:1: \/name is missing/],
  ['text that is no YAML', scenario('entry: all', 'entry: [all'), /scenario\.yaml:\d+:\d+: /],
  ['a name twice', scenario('entry: all', 'entry: all\nentry: all'), /scenario\.yaml:5:1: .*unique/],
  [
    'a page with a fault',
    { 'pages/all.yaml': 'version: usdl/0.2\ncomponents:\n  - { type: Crad }\n' },
    /pages\/all\.yaml:3:7: .*"Card" is/,
  ],
  [
    'a page that writes elsewhere',
    { 'pages/all.yaml': 'version: usdl/0.2\ncomponents:\n  - { type: Input, bind: $.stock.x }\n' },
    /pages\/all\.yaml:1:1: .*own part of the view model/,
  ],
  ['a page that is not there', { 'pages/all.yaml': null }, /pages\/all\.yaml: The file is not there/],
  [
    'a page out of the folder',
    scenario('pages/all.yaml', '../../etc/x.yaml'),
    /scenario\.yaml:7:\d+: \/routes\/all\/usdl must be a \.yaml/,
  ],
  [
    'a file without end',
    scenario('entry: all', `entry: ${'x'.repeat(70_000)}`),
    /scenario\.yaml: may have at most/,
  ],
  ['brackets without end', scenario('entry: all', `entry: ${'['.repeat(9000)}`), /nests too deep/],
  [
    'names that grow',
    scenario('entry: all', `a: &a [x]\nb: [${Array(60).fill('*a').join()}]\nentry: all`),
    /scenario\.yaml/,
  ],
];
for (const [what, change, says] of faults)
  test(`${what} is told with its place`, async () => assert.match(await refused(made(change)), says));

test('an app that is not there is said to be missing', async () => {
  assert.match(await refused(made({ 'scenario.yaml': null })), /is not there: .*scenario\.yaml/);
});

test('what is packed has its app, and one that the manifest allows', async () => {
  const t = textOf('en');
  const { text, contracts } = (await made())!;
  const file = (value: string) => [{ path: 'scenario.json', bytes: new TextEncoder().encode(value) }];
  const given = { ...manifest, permissions: { contracts: contracts! } };
  await checkPackedApp(file(text), given, t);
  await checkPackedApp([], { ...manifest, capabilities: {} }, t);
  assert.match(await refused(checkPackedApp([], given, t)), 'no scenario.json');
  for (const odd of ['', '[]', '{"pages": 1}'])
    assert.match(await refused(checkPackedApp(file(odd), given, t)), 'no scenario.json');
  assert.match(await refused(checkPackedApp(file(text), manifest, t)), 'does not name stock');
});

test.run();
