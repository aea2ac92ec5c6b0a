// timeout: 240 s
// `npm run app`: what the site has, that anybody can compare it, and what the command refuses.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inlineScripts } from '../../firmware/protocol/inline.ts';
import { framePolicy } from '../../firmware/protocol/page.ts';
import { exportApp, type Site } from '../../services/cli/app.ts';

const test = suite('npm run app');
const base = mkdtempSync(join(tmpdir(), 'ingle-app-'));
const api = 'https://root.example';
test.before(async () => {
  const { build } = await import('../../services/cli/build.mjs' as string);
  await build();
});
test.after(() => rmSync(base, { recursive: true, force: true }));

const sha256 = (data: Buffer) => createHash('sha256').update(data).digest('hex');
const filesIn = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name).slice(dir.length + 1))
    .sort();

test('all but the page and the worker is the published build, byte for byte', () => {
  const out = join(base, 'site');
  const site = exportApp('dist/spa', api, out);
  const published = JSON.parse(readFileSync('dist/spa/build.json', 'utf8')) as Site;
  assert.is(site.build, published.hash);
  assert.equal(site.own, ['_headers', '_redirects', 'index.html', 'nginx.conf', 'sw.js']);
  assert.equal(filesIn(out), [...Object.keys(site.files), 'build.json'].sort());
  for (const [name, { sha256: hash }] of Object.entries(site.files)) {
    assert.is(sha256(readFileSync(join(out, name))), hash, name);
    if (!site.own.includes(name)) assert.is(hash, published.files[name]!.sha256, name);
  }
  for (const name of Object.keys(published.files)) assert.ok(site.files[name], `${name} is missing`);
  // What is changed is changed in one place each.
  const [was, is] = ['dist/spa', out].map((d) => readFileSync(join(d, 'index.html'), 'utf8')) as [
    string,
    string,
  ];
  const lines = is.split('\n').filter((l) => !was.includes(l));
  assert.is(lines.length, 2);
  assert.match(lines[0]!, /^<meta http-equiv="content-security-policy" content="default-src 'none'; /);
  const early = inlineScripts(is);
  assert.is(early.length, 1);
  assert.match(lines[0]!, `script-src 'self' ${early[0]};`);
  assert.match(lines[0]!, `connect-src 'self' ${api} wss://root.example;`);
  assert.not.match(lines[0]!, /unsafe|\*|frame-ancestors/);
  assert.is(lines[1], `<meta name="ingle-root" content="${api}">`);
  const worker = readFileSync(join(out, 'sw.js'), 'utf8');
  assert.is(worker, `${readFileSync('dist/spa/sw.js', 'utf8')}//${sha256(Buffer.from(is))}\n`);
  assert.is(statSync(out).mode & 0o777, 0o755, 'a web server must be able to read it');
});

test('the headers for a host say what root says, and who may frame the page', () => {
  const out = join(base, 'headers');
  exportApp('dist/spa', api, out);
  for (const name of ['_headers', 'nginx.conf']) {
    const text = readFileSync(join(out, name), 'utf8');
    assert.match(text, `connect-src 'self' ${api} wss://root.example;`, name);
    const [early] = inlineScripts(readFileSync(join(out, 'index.html'), 'utf8'));
    assert.match(text, `script-src 'self' ${early};`, name);
    for (const part of [
      "frame-ancestors 'none'",
      'max-age=31536000, immutable',
      'nosniff',
      'strict-transport',
    ])
      assert.ok(text.includes(part), `${name}: ${part}`);
  }
});

test('the page that holds a skill’s own says its policy itself, and a host is told another than for the rest', () => {
  const out = join(base, 'framed');
  exportApp('dist/spa', api, out);
  const said = /http-equiv="content-security-policy" content="([^"]*)"/.exec(
    readFileSync(join(out, 'frame.html'), 'utf8'),
  );
  assert.is(said?.[1], framePolicy.join('; '));
  const rules = readFileSync(join(out, '_headers'), 'utf8').split(/^(?=\/)/m);
  const matching = rules.filter((r) => /^\/(frame\.html|\*)\n/.test(r));
  assert.is(matching.length, 1, 'two policies would add up');
  for (const text of [
    matching[0]!,
    readFileSync(join(out, 'nginx.conf'), 'utf8').split('location = /frame.html')[1]!,
  ])
    assert.match(text, `sandbox allow-scripts; ${framePolicy[0]}`);
  assert.ok(rules.some((r) => r.startsWith('/s/*\n') && r.includes("frame-src 'self'")));
});

test('the same build and address give the same site; another address another worker', () => {
  const sites = [api, api, 'https://other.example'].map((a, i) =>
    exportApp('dist/spa', a, join(base, `${i}`)),
  );
  assert.equal(sites[0], sites[1]);
  assert.is.not(sites[2]!.hash, sites[0]!.hash);
  const changed = Object.keys(sites[0]!.files).filter(
    (f) => sites[0]!.files[f]!.sha256 !== sites[2]!.files[f]!.sha256,
  );
  // Where the application's addresses lead is the same for all.
  assert.equal(
    changed,
    sites[0]!.own.filter((f) => f !== '_redirects'),
  );
});

test('an export is replaced whole; a folder with other things in it is left alone', () => {
  const out = join(base, 'again');
  exportApp('dist/spa', api, out);
  rmSync(join(out, 'index.html'));
  exportApp('dist/spa', api, out);
  assert.ok(filesIn(out).includes('index.html'));
  mkdirSync(join(out, '.git'));
  assert.throws(() => exportApp('dist/spa', api, out), /Name another folder/);
  const mine = join(base, 'mine');
  mkdirSync(mine);
  writeFileSync(join(mine, 'letter.txt'), 'dear');
  assert.throws(() => exportApp('dist/spa', api, mine), /Name another folder/);
  assert.equal(filesIn(mine), ['letter.txt']);
  assert.equal(
    readdirSync(base).filter((n) => n.includes('.')),
    [],
    'nothing half-made is left',
  );
});

test('the command takes an origin only, and says what it wants', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', 'services/cli/app.ts', ...args], { encoding: 'utf8' });
  for (const bad of ['http://root.example', 'https://root.example/path', 'nonsense']) {
    const r = run('--api', bad, '--out', join(base, 'bad'));
    assert.is(r.status, 64, bad);
    assert.match(r.stderr, /--api takes an origin/);
  }
  for (const args of [[], ['--api', api], ['--nonsense']]) {
    const r = run(...args);
    assert.is(r.status, 64);
    assert.match(r.stderr, /--api|nonsense/);
  }
  const r = run('--api', api, '--out', join(base, 'good'));
  assert.is(r.status, 0, r.stderr);
  const { hash, build } = JSON.parse(readFileSync(join(base, 'good/build.json'), 'utf8')) as Site;
  for (const h of [hash, build]) assert.match(r.stdout, h);
  assert.is(run('--help').status, 0);
});

test.run();
