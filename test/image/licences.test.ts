import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { licencesText, noticeOf } from '../../image/licences.ts';

const test = suite('licences');
const dir = mkdtempSync(join(tmpdir(), 'ingle-licences-'));
test.after(() => rmSync(dir, { recursive: true, force: true }));

/** A module of npm with these files, and what its package.json says beside name and version. */
function module(name: string, says: object, files: Record<string, string>): string {
  const folder = join('node_modules', name);
  const all = { 'package.json': JSON.stringify({ name, version: '1.0.0', ...says }), ...files };
  for (const [f, text] of Object.entries(all)) {
    mkdirSync(dirname(join(dir, folder, f)), { recursive: true });
    writeFileSync(join(dir, folder, f), text);
  }
  return folder;
}
const textOf = (name: string, says: object, files: Record<string, string>) =>
  noticeOf(join(dir, module(name, says, files))).text;

test('a module has the licence it brings, wherever it keeps it', () => {
  assert.is(textOf('a', {}, { LICENSE: 'text\r\n' }), 'text');
  assert.is(textOf('b', {}, { 'license.md': 'text' }), 'text');
  assert.is(
    textOf('c', {}, { 'LICENSE.MIT': 'one', 'LICENCE.APACHE2': 'two', 'NOTICE.txt': 'three' }),
    'two\n\none\n\nthree',
  );
  const readme = '# C\n\nUse it.\n\n#### LICENSE\n\nCopyright Fedor, 2017.\n\nPermission is granted';
  assert.is(
    textOf('d', { license: 'MIT' }, { 'README.md': readme }),
    'Copyright Fedor, 2017.\n\nPermission is granted',
  );
});

test('one that only names MIT gets its text with its author; one that tells nothing stops the build', () => {
  const text = textOf('e', { license: 'MIT', author: { name: 'Ada' } }, { 'README.md': '## License\n\nMIT' });
  assert.match(text, /Copyright \(c\) Ada/);
  assert.match(text, /THE SOFTWARE IS PROVIDED "AS IS"/);
  assert.throws(
    () => textOf('f', { license: 'SEE README' }, { 'README.md': 'hello' }),
    /brings no licence.*SEE README/,
  );
  assert.throws(() => textOf('g', {}, { 'licenses.js': 'code' }), /brings no licence/);
});

test('machine code of a module has the licence of that module, in that version', () => {
  module('machine', {}, { LICENSE: 'WHOLE' });
  assert.is(textOf('@machine/linux-x64', { license: 'MPL 2.0' }, { 'machine.node': '' }), 'WHOLE');
  const other = { license: 'MPL 2.0', version: '1.0.1' };
  assert.throws(() => textOf('@machine/linux-arm64', other, {}), /brings no licence/);
  assert.throws(() => textOf('@nothing/linux-x64', {}, {}), /brings no licence/);
});

test('all are in one text, ours first, and equal texts stand there once with all names', () => {
  writeFileSync(join(dir, 'LICENSE'), 'OURS');
  const folders = ['x', 'y'].map((n) => module(n, {}, { LICENSE: 'SHARED' }));
  const text = licencesText(dir, [...folders, module('z', {}, { LICENSE: 'OWN' }), folders[0]!]);
  assert.is(text.match(/SHARED/g)?.length, 1);
  assert.match(text, /x 1\.0\.0\ny 1\.0\.0\n\nSHARED\n/);
  assert.ok(text.indexOf('OURS') < text.indexOf('SHARED') && text.indexOf('SHARED') < text.indexOf('OWN'));
});

test.run();
