// timeout: 240 s
// `ingle update …` against a real ingle-update beside the stand-in of RAUC.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../../firmware/system/exec.ts';
import { dies, startUpdate, type UpdateHub } from './hub.ts';
import { bundleText } from './rauc.ts';

const test = suite<{ hub: UpdateHub }>('ingle update');
test.before.each(async (c) => {
  c.hub = await startUpdate();
});
test.after.each((c) => c.hub.stop());

const ingle = (hub: UpdateHub, words: string, lang = 'en') =>
  run(process.execPath, ['services/cli/ingle.mjs', 'update', ...words.split(' ')], {
    env: { INGLE_BUS_ADDRESS: hub.address, INGLE_LANG: lang, INGLE_CONFIG: '/nonexistent' },
    timeoutMs: 60_000,
  });

test('a person updates the hub from a terminal', async ({ hub }) => {
  hub.server.offer({ version: '1.1.0' }, { more: { notes: 'Quieter\nat night' } });
  assert.match(
    (await ingle(hub, 'status')).stdout.toString(),
    /^Up to date\n {2}This version +1\.0\.0 \(a\)/,
  );
  const found = await ingle(hub, 'check');
  assert.is(found.stdout.toString(), 'Version 1.1.0 is available\n  Quieter\n  at night\n');
  const done = await ingle(hub, 'install');
  assert.is(done.code, 0, done.stderr);
  assert.match(
    done.stdout.toString(),
    /Downloading[\s\S]*1\.1\.0 is installed and starts with the next restart\n$/,
  );
  assert.match((await ingle(hub, 'rollback', 'ru')).stdout.toString(), /отложена; дальше работает 1\.0\.0/);
});

test('why a version did not stay is told to its end', async ({ hub }) => {
  const failures = ['Audio1', 'Wifi1', 'Uplink1', 'Setup1'].map((name) => `io.ingle.${name} does not answer`);
  await dies(hub, '1.1.0', failures);
  await hub.state('available');
  const { stdout } = await ingle(hub, 'status');
  assert.ok(stdout.toString().includes(failures.join('; ')), stdout.toString());
});

test('a program gets one object a line, and the reason of what fails', async ({ hub }) => {
  const file = join(hub.dir, 'x.raucb');
  writeFileSync(file, bundleText({ version: '1.1.0', stranger: true }));
  const r = await ingle(hub, `install --source ${file} --json`);
  assert.is(r.code, 73);
  const e = JSON.parse(r.stderr);
  assert.equal([e.error, e.details.reason], ['conflict', 'bad_signature']);
  for (const line of r.stdout.toString().trim().split('\n')) JSON.parse(line);
  assert.is((await ingle(hub, 'restart')).code, 73, 'nothing is installed');
  assert.is((await ingle(hub, 'install --source /etc/passwd')).code, 64);
  const s = JSON.parse((await ingle(hub, 'status --json')).stdout.toString());
  assert.equal([s.state, s.error.reason], ['idle', 'bad_signature']);
});

test('where there is no ingle-update the hub runs from a checkout', async ({ hub }) => {
  await hub.kill();
  const r = await ingle(hub, 'status');
  assert.is(r.code, 69);
  assert.match(r.stderr, /updates come with git/);
});

test.run();
