// timeout: 120 s
// `ingle mcp` against a running ingle-api.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { twoClerks } from '../services/clerk.ts';
import { startHub, type TestHub } from '../services/hub.ts';

const test = suite<{ hub: TestHub }>('ingle mcp');
test.before(async (c) => {
  c.hub = await startHub(twoClerks);
});
test.after((c) => c.hub.stop());

async function ingle(hub: TestHub, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(process.cwd(), 'services/cli/ingle.mjs'), 'mcp', ...args], {
    env: { ...process.env, ...hub.env, INGLE_LANG: 'en', ...env },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (d) => (said.out += d));
  child.stderr.on('data', (d) => (said.err += d));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  assert.is(code, 0, said.err);
  assert.not.match(said.out, hub.token(), 'the token is not shown');
  return said.out;
}
const ping = (hub: TestHub) =>
  hub.ask('POST', '/api/mcp', { as: {}, body: { jsonrpc: '2.0', id: 1, method: 'ping' } });

test('it is off at first, and says what there is and how to turn it on', async ({ hub }) => {
  const out = await ingle(hub, ['status']);
  assert.match(out, /No program may.*ingle mcp on/);
  assert.match(out, 'clerk.add  Adds to the sum.');
  assert.not.match(out, 'X-Service-Token');
});

test('turned on it says how a program is set up, and programs are answered', async ({ hub }) => {
  const out = await ingle(hub, ['on']);
  assert.match(out, `address ${hub.base}/api/mcp, header X-Service-Token`);
  assert.match(out, 'ingle mcp off');
  assert.is((await ping(hub)).status, 200);
  const told = JSON.parse(await ingle(hub, ['status', '--json']));
  assert.equal([told.on, told.url, told.actions.length], [true, `${hub.base}/api/mcp`, 4]);
  assert.match(await ingle(hub, ['status'], { INGLE_LANG: 'ru' }), /Программам можно.*ingle mcp off/);
});

test('turned off, programs are refused at once', async ({ hub }) => {
  assert.match(await ingle(hub, ['off']), 'No program may');
  assert.is((await ping(hub)).status, 403);
});

test.run();
