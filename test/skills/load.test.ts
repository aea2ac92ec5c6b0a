// A bundle is run as CommonJS or loaded as a module, whichever it is, and once.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadBundle } from '../../firmware/skills/load.ts';

const test = suite('what a bundle exports');
const dir = mkdtempSync(join(tmpdir(), 'ingle-load-'));
test.after(() => rmSync(dir, { recursive: true }));
writeFileSync(join(dir, 'beside.cjs'), 'module.exports = 7;');
let n = 0;
function put(text: string): string {
  const file = join(dir, `skill${n++}.mjs`);
  writeFileSync(file, text);
  return file;
}
const skillOf = async (text: string) =>
  ((await loadBundle(put(text))) as { skill?: { start(): unknown } }).skill?.start();

for (const [what, text, gives] of [
  ['exports by name', 'exports.skill = { start: () => 1 };', 1],
  ['exports at once', 'module.exports = { skill: { start: () => 2 } };', 2],
  [
    "Node's own and what lies beside",
    "const b = require('./beside.cjs'); exports.skill = { start: () => b };",
    7,
  ],
  ['its own place', 'exports.skill = { start: () => __filename.startsWith(__dirname) };', true],
  [
    'strict code',
    "'use strict'; exports.skill = { start() { return (function () { return this; })(); } };",
    undefined,
  ],
  ['a byte order mark', '\ufeffexports.skill = { start: () => 3 };', 3],
  ['a module', 'export const skill = { start: () => 4 };', 4],
  ['a module that waits', 'const v = await Promise.resolve(5); export const skill = { start: () => v };', 5],
  [
    'a module that asks where it is',
    'export const skill = { start: () => typeof import.meta.url };',
    'string',
  ],
  ['a first line for a shell', '#!/usr/bin/env node\nexports.skill = { start: () => 8 };', 8],
  ['what `this` is', 'this.skill = { start: () => 9 };', 9],
  [
    'a module with a first line for a shell',
    '#!/usr/bin/env node\nexport const skill = { start: () => 6 };',
    6,
  ],
] as const)
  test(what, async () => assert.is(await skillOf(text), gives));

test('import() reaches what Node has, and what lies beside', async () => {
  const text = `exports.skill = { start: async () => [typeof (await import('node:os')).cpus, (await import('./beside.cjs')).default] };`;
  assert.equal(await skillOf(text), ['function', 7]);
});

test('what is neither says where it is wrong; what fails as it runs has run once', async () => {
  const broken = put('exports.skill = {;');
  await loadBundle(broken).then(
    () => assert.unreachable(),
    (e) => assert.instance(e, SyntaxError),
  );
  const log = join(dir, 'log');
  writeFileSync(log, '');
  const fails = put(
    `require('node:fs').appendFileSync(${JSON.stringify(log)}, 'x'); throw new SyntaxError('mine');`,
  );
  await loadBundle(fails).then(
    () => assert.unreachable(),
    (e) => assert.is(e.message, 'mine'),
  );
  assert.is(readFileSync(log, 'utf8'), 'x');
  assert.equal(await loadBundle(put('const nothing = 1;')), {}, 'it exports nothing');
});

test.run();
