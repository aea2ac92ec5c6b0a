// timeout: 120 s
// `ingle desktop` against a running ingle-api.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import { startHub, type TestHub } from '../services/hub.ts';

const test = suite<{ hub: TestHub }>('ingle desktop');
const dir = mkdtempSync(join(tmpdir(), 'ingle-desktop-'));
const launcher = join(process.cwd(), 'services/cli/ingle.mjs');
test.before(async (c) => {
  c.hub = await startHub();
});
test.after(async (c) => {
  await c.hub.stop();
  rmSync(dir, { recursive: true, force: true });
});

function fileOf(name: string, content: unknown): string {
  writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  return join(dir, name);
}
async function ingle(hub: TestHub, ...args: string[]) {
  const child = spawn(process.execPath, [launcher, 'desktop', ...args], {
    cwd: dir,
    env: { ...process.env, ...hub.env, INGLE_LANG: 'en' },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (d) => (said.out += d));
  child.stderr.on('data', (d) => (said.err += d));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, ...said };
}

test('what is shown is what can be set, once; the second who read the same is told so', async ({ hub }) => {
  const shown = await ingle(hub, 'show');
  assert.is(shown.code, 0, shown.err);
  const { document, etag, isDefault } = JSON.parse(shown.out);
  assert.equal([document, isDefault], [defaultScenario, true]);
  const first = fileOf('first.json', { document: { ...document, version: '2' }, etag });
  const set = await ingle(hub, 'set', first);
  assert.is(set.code, 0, set.err);
  assert.is(JSON.parse(set.out).document.version, '2');
  const late = await ingle(
    hub,
    'set',
    fileOf('late.json', { document: { ...document, version: '3' }, etag }),
  );
  assert.is(late.code, 73);
  assert.match(late.err, /was changed since/);
  const alone = await ingle(hub, 'set', fileOf('alone.json', { ...document, version: '4' }));
  assert.is(JSON.parse(alone.out).document.version, '4', 'a document alone replaces whatever is there');
  assert.is((await ingle(hub, 'reset')).code, 0);
  assert.is(JSON.parse((await ingle(hub, 'show')).out).isDefault, true);
});

test('a document that is wrong is told with its place, and changes nothing', async ({ hub }) => {
  const wrong = { ...defaultScenario, layout: { ...defaultScenario.layout, grid: { cols: 99 } } };
  const said = await ingle(hub, 'set', fileOf('wrong.json', wrong));
  assert.is(said.code, 64);
  assert.match(said.err, /document\/layout\/grid/);
  assert.is((await ingle(hub, 'set', fileOf('no.json', '{'))).code, 64);
  assert.is((await ingle(hub, 'set', join(dir, 'nowhere.json'))).code, 66);
  assert.is(JSON.parse((await ingle(hub, 'show')).out).isDefault, true);
});

test.run();
