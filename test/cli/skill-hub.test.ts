// timeout: 300 s
// `ingle skill install` and its kin against a running ingle-api, with real packages.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { LIMITS } from '../../firmware/skills/package-meta.ts';
import { startHub, type TestHub } from '../services/hub.ts';
import { file, idOfKey, manifest, signerOfSeed } from '../skills/archive.ts';

const acme = signerOfSeed(1);
const key = toBase64url(acme.key);
const good = 'export const skill = { start: () => ({ endpoints: [] }) };';
const bad = "throw new Error('no \\u001b[31m lamp');";
const dir = mkdtempSync(join(tmpdir(), 'ingle-skill-hub-'));

function packed(version: string, o: { id?: string; code?: string; unsigned?: boolean } = {}): string {
  const { id = 'lamp', code = good } = o;
  const files = [file('manifest.json', JSON.stringify(manifest(id, version))), file('skill.js', code)];
  const at = join(dir, `${id}-${version}.ingle-skill`);
  writeFileSync(at, packSkill(files, o.unsigned ? undefined : acme).bytes);
  return at;
}

const test = suite<{ hub: TestHub }>('ingle skill on a hub');
test.before(async (c) => {
  c.hub = await startHub({ startable: ['hub_status'], pool: true, env: { INGLE_TRIAL_MS: '15000' } });
});
test.after(async (c) => {
  await c.hub?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function ingle(hub: TestHub, args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(process.cwd(), 'services/cli/ingle.mjs'), 'skill', ...args], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...hub.env, INGLE_LANG: 'en', ...env },
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (d) => (said.out += d));
  child.stderr.on('data', (d) => (said.err += d));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  assert.not.match(said.out + said.err, hub.token(), 'the token is not shown');
  assert.not.ok((said.out + said.err).includes('\u001b'), 'nothing drives the terminal');
  return { code, ...said };
}
type Ran = Awaited<ReturnType<typeof ingle>>;
const done = (r: Ran): string => {
  assert.is(r.code, 0, r.err + r.out);
  return r.out;
};
const events = (r: Ran) =>
  done(r)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const refused = (r: Ran, code: number, says: RegExp) => {
  assert.is(r.code, code, r.err + r.out);
  assert.match(r.err, says);
};

test('who is not trusted is named with the key to compare and the commands that go on', async ({ hub }) => {
  const r = await ingle(hub, ['install', packed('1.0.0'), '--yes']);
  refused(
    r,
    77,
    /Compare this id .* ingle skill trust .* --ids lamp, then ingle skill activate lamp 1\.0\.0/,
  );
  assert.ok(r.err.includes(idOfKey(acme.key)));
  assert.match(r.out, /what it may do[\s\S]*no network/);
  refused(await ingle(hub, ['trust', key]), 64, /wants --name/);
  refused(await ingle(hub, ['trust', 'abc', '--name', 'Acme']), 64, /43 characters/);
  assert.match(
    done(await ingle(hub, ['trust', key, '--name', 'Acme', '--ids', 'lamp, acme_*'])),
    /is trusted/,
  );
  assert.match(done(await ingle(hub, ['publishers'])), /Acme {2}lamp, acme_\*/);
  assert.match(done(await ingle(hub, ['activate', 'lamp', '1.0.0'])), /lamp 1\.0\.0 is in use/);
});

test('nothing is installed without a yes, and what lies prepared can be taken away', async ({ hub }) => {
  const r = await ingle(hub, ['update', packed('1.1.0')]);
  refused(r, 73, /lies prepared.*ingle skill activate lamp 1\.1\.0.*ingle skill discard lamp 1\.1\.0/);
  assert.match(r.out, /from version 1\.0\.0 to 1\.1\.0[\s\S]*Acme .*trusted by this hub/);
  assert.match(
    done(await ingle(hub, ['list'])),
    /lamp {2}1\.0\.0 {2}in use {2}Acme\n {4}prepared: 1\.1\.0, Acme/,
  );
  done(await ingle(hub, ['discard', 'lamp', '1.1.0']));
  assert.not.match(done(await ingle(hub, ['list'])), /1\.1\.0/);
});

test('an update is followed to its end, and one step leads back', async ({ hub }) => {
  const all = events(await ingle(hub, ['update', packed('1.1.0'), '--yes', '--json']));
  assert.equal([all[0].event, all[0].from, all[0].version], ['prepared', '1.0.0', '1.1.0']);
  assert.equal(all.at(-1), { event: 'active', skill: 'lamp', version: '1.1.0', from: '1.0.0' });
  assert.match(done(await ingle(hub, ['list'])), /lamp {2}1\.1\.0[\s\S]*one step back: 1\.0\.0/);
  assert.match(done(await ingle(hub, ['rollback', 'lamp'])), /lamp 1\.0\.0 is in use/);
  refused(await ingle(hub, ['rollback', 'lamp']), 73, /no version/);
});

test('an update that does not start says why, to what the hub went back, and where to look', async ({
  hub,
}) => {
  const r = await ingle(hub, ['update', packed('2.0.0', { code: bad }), '--yes']);
  refused(
    r,
    69,
    /lamp 2\.0\.0 is not used: it does not start\. The hub has gone back to 1\.0\.0.*skill logs lamp/,
  );
  assert.match(done(await ingle(hub, ['list'])), /2\.0\.0 is not used: it does not start/);
  const ru = await ingle(hub, ['list'], { INGLE_LANG: 'ru' });
  assert.match(done(ru), /работает[\s\S]*он не запускается/);
});

test('what is not there to update, to remove or to read is named with the next step', async ({ hub }) => {
  const r = await ingle(hub, ['update', packed('1.0.0', { id: 'acme_fan' }), '--yes']);
  refused(r, 73, /ingle skill activate acme_fan 1\.0\.0/);
  for (const command of ['remove', 'logs'])
    refused(await ingle(hub, [command, 'none']), 66, /ingle skill list/);
  refused(await ingle(hub, ['remove', 'hub_status', '--yes']), 77, /part of the system/);
  refused(await ingle(hub, ['install', join(dir, 'none')]), 66, /There is no file/);
  refused(await ingle(hub, ['install', dir]), 69, /cannot be read/);
  const large = join(dir, 'large');
  writeFileSync(large, Buffer.alloc(LIMITS.packed + 1));
  refused(await ingle(hub, ['install', large]), 65, /Nothing was sent/);
  writeFileSync(large, 'no package');
  refused(await ingle(hub, ['install', large, '--yes']), 64, /./);
  refused(await ingle(hub, ['discard', '../lamp', '1.0.0']), 66, /ingle skill list/);
  refused(await ingle(hub, ['discard', 'lamp', '..']), 64, /1\.2\.0/);
  assert.match(
    done(await ingle(hub, ['list'])),
    /lamp {2}1\.0\.0 {2}in use/,
    'and nothing else is meant by it',
  );
});

test('what nobody signed needs developer mode, and is marked', async ({ hub }) => {
  const bare = packed('1.0.0', { id: 'bare', unsigned: true });
  refused(await ingle(hub, ['install', bare, '--yes']), 77, /not signed/);
  refused(await ingle(hub, ['developer', 'maybe']), 64, /"on" or "off"/);
  assert.match(done(await ingle(hub, ['developer', 'on'])), /is on/);
  assert.match(done(await ingle(hub, ['install', bare, '--yes'])), /NOT SIGNED[\s\S]*bare 1\.0\.0 is in use/);
  done(await ingle(hub, ['developer', 'off']));
  assert.match(done(await ingle(hub, ['list'])), /bare {2}1\.0\.0 .*NOT SIGNED/);
});

test('a skill is removed only after a yes, which says what goes with it', async ({ hub }) => {
  const r = await ingle(hub, ['remove', 'lamp']);
  refused(r, 73, /ingle skill remove lamp --yes/);
  assert.match(r.out, /With Lamp \(lamp\) go all its versions/);
  assert.match(done(await ingle(hub, ['list'])), /lamp {2}1\.0\.0/);
  assert.equal(events(await ingle(hub, ['remove', 'lamp', '--yes', '--json'])).at(-1), {
    event: 'removed',
    skill: 'lamp',
  });
  const left = done(await ingle(hub, ['list']));
  assert.not.match(left, /^lamp /m, `it is said when it is over: ${left}`);
  done(await ingle(hub, ['revoke', key]));
  assert.match(done(await ingle(hub, ['publishers'])), /Acme.*REVOKED/);
  refused(await ingle(hub, ['install', packed('3.0.0'), '--yes']), 77, /revoked/);
});

test.run();
