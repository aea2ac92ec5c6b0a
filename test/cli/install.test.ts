// Installing as a first `npm start` does, by npm itself, in a folder with packages made here.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const top = mkdtempSync(join(tmpdir(), 'ingle-install-'));
test.after(() => rmSync(top, { recursive: true }));
const at = (...path: string[]) => join(top, ...path);
const json = (path: string, value: unknown) => writeFileSync(path, JSON.stringify(value));

/** A package whose install script runs `script`, as an archive. */
function pack(name: string, script: string): void {
  mkdirSync(at('made', name), { recursive: true });
  json(at('made', name, 'package.json'), { name, version: '1.0.0', scripts: { install: 'node install.js' } });
  writeFileSync(at('made', name, 'install.js'), script);
  const { status, stderr } = spawnSync('npm', ['pack', at('made', name), '--pack-destination', top], {
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
}

test.before(() => {
  mkdirSync(at('services/cli'), { recursive: true });
  for (const f of ['build.mjs', 'install.mjs']) copyFileSync(join('services/cli', f), at('services/cli', f));
  // It ends when what runs meanwhile is done.
  pack(
    'slow',
    `const { existsSync, writeFileSync } = require('fs');
     setInterval(() => existsSync('../../meanwhile') && (writeFileSync('made', ''), process.exit()), 20);`,
  );
  pack('broken', 'process.exit(1)');
  json(at('package.json'), {
    name: 'top',
    dependencies: { slow: 'file:slow-1.0.0.tgz' },
    optionalDependencies: { broken: 'file:broken-1.0.0.tgz' },
  });
  const { status, stderr } = spawnSync('npm', ['install', '--package-lock-only', '--offline'], {
    cwd: top,
    encoding: 'utf8',
  });
  assert.is(status, 0, stderr);
});

/** @param meanwhile a statement */
function installer(meanwhile: string) {
  const script = `
    import { existsSync, writeFileSync } from 'node:fs';
    import { install, isInstalled } from './services/cli/install.mjs';
    import { locked } from './services/cli/build.mjs';
    try {
      await install(() => {}, () => locked(async () => { ${meanwhile} }));
    } catch (e) { console.log(e.message) }
    console.log(isInstalled());`;
  const env = { ...process.env, npm_config_offline: 'true' };
  return spawn(process.execPath, ['--input-type=module', '-e', script], { cwd: top, env, detached: true });
}
async function said(child: ReturnType<typeof installer>): Promise<string> {
  let out = '';
  child.stdout!.on('data', (d) => {
    out += d;
  });
  await new Promise((resolve) => child.on('close', resolve));
  return out.trim();
}
const isHere = async (path: string) => {
  while (!existsSync(at(path))) await new Promise((resolve) => setTimeout(resolve, 20));
};

test('one that is killed before its scripts have run does not count, and the next one does it all', async () => {
  const child = installer('await new Promise(() => setInterval(() => {}, 1000))');
  await isHere('node_modules/slow/install.js');
  await isHere('node_modules/.package-lock.json');
  process.kill(-child.pid!, 'SIGKILL');
  await said(child);
  assert.not.ok(existsSync(at('node_modules/slow/made')));
  assert.is(await said(installer(`writeFileSync('meanwhile', '')`)), 'true');
  assert.ok(existsSync(at('node_modules/slow/made')));
  assert.not.ok(existsSync(at('node_modules/broken')), 'what is optional and fails is not there');
});

test('what runs meanwhile runs without an installation too', async () => {
  rmSync(at('meanwhile'));
  assert.is(await said(installer(`writeFileSync('meanwhile', '')`)), 'true');
  assert.ok(existsSync(at('meanwhile')));
});

test('where it fails that is told, and what was installed stays', async () => {
  rmSync(at('node_modules'), { recursive: true });
  assert.is(await said(installer(`writeFileSync('meanwhile', ''); throw new Error('no')`)), 'no\ntrue');
});

test.run();
