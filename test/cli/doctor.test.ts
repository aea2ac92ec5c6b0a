// timeout: 400 s
// `ingle doctor` and its kin before a running house: well, with each part broken, and where nothing runs.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import type { Running } from '../../services/cli/house/runtime.ts';
import { startHouse } from '../lab/house.ts';
import { tried, until } from '../lab/wait.ts';

const test = suite('doctor');
const launcher = join(process.cwd(), 'services/cli/ingle.mjs');
const top = mkdtempSync(join(tmpdir(), 'ingle-doctor-'));
const data = join(top, '.ingle');
let house: House;
/** What house.json said of the house while its first process was begun. */
let begun: boolean | undefined;

async function ingle(args: string[], env: Record<string, string> = {}, cwd = top) {
  const { INGLE_BUS_ADDRESS: _, ...clean } = process.env;
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd,
    env: { ...clean, INGLE_LANG: 'en', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (d) => (out += d));
  child.stderr.on('data', (d) => (err += d));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code, out, err };
}
interface Line {
  check?: string;
  level: string;
  reason: string;
  message: string;
  verdict?: string;
}
/** What the doctor finds, by check. */
async function findings(env: Record<string, string> = {}, cwd = top) {
  const r = await ingle(['doctor', '--json'], env, cwd);
  const lines = r.out
    .trim()
    .split('\n')
    .map((l) => JSON.parse(l) as Line);
  const of = (check: string) => lines.find((l) => l.check === check)!;
  return { code: r.code, of, verdict: lines.at(-1)!.verdict, all: lines };
}

test.before(async () => {
  const line = () => {
    begun ??= (JSON.parse(readFileSync(join(data, 'house.json'), 'utf8')) as Running).up;
  };
  house = await startHouse({ data, say: { text: (key) => key, event: () => {}, line } });
  await house.issueCode();
  await until(tried(async () => (await house.status()).uplink.connected));
});
test.after(async () => {
  await house?.stop();
  rmSync(top, { recursive: true, force: true });
});

test('in a house that is well nothing is wrong, and each check says what it saw', async () => {
  const f = await findings();
  assert.is(f.code, 0, JSON.stringify(f.all));
  assert.is.not(f.verdict, 'bad');
  for (const check of ['bus', 'api', 'root', 'link', 'clock', 'disk', 'certificate', 'stores'])
    assert.is(f.of(check).level, 'ok', f.of(check).message);
  assert.match(f.of('bus').message, /hub_status \(ingle-skill@1\)/);
  assert.match(f.of('certificate').message, /8\d more days|90 more days/);
  const person = await ingle(['doctor']);
  assert.is(person.code, 0, person.out);
  assert.match(person.out, /^ ok {2}Root +http:\/\/localhost:\d+ answers in \d+ ms$/m);
  assert.match((await ingle(['doctor'], { INGLE_LANG: 'ru' })).out, /отвечает за \d+ мс/);
});

const faults: [what: string, process: string, check: string, words: RegExp][] = [
  ['root is down', 'root', 'root', /does not answer \(ECONNREFUSED\).*Check the network/],
  ['the API is down', 'api', 'api', /does not answer.*\.ingle\/log\/api\.log/],
  ['the link is down', 'uplink', 'bus', /io\.ingle\.Uplink1 missing.*journalctl -u ingle-uplink/],
];
for (const [what, process, check, words] of faults)
  test(`${what}: it is named, with what to do, and the exit status says so`, async () => {
    await house.hold(process);
    const f = await findings();
    assert.is(f.of(check).level, 'bad');
    assert.match(f.of(check).message, words);
    assert.is(f.code, 69);
    assert.is(f.verdict, 'bad');
    house.release(process);
    await until(tried(async () => (await house.status()).uplink.connected));
    await until(tried(async () => (await fetch(`${house.api}/health/ready`)).ok));
  });

test('a damaged database is named by its file', async () => {
  mkdirSync(join(data, 'hub/bad'), { recursive: true });
  writeFileSync(
    join(data, 'hub/bad/bad.db'),
    'this is no database, though it is long enough to be read as one',
  );
  const f = await findings();
  assert.is(f.of('stores').level, 'bad');
  assert.match(f.of('stores').message, /^bad\/bad\.db is damaged: SQLITE_NOTADB/);
  rmSync(join(data, 'hub/bad'), { recursive: true });
  assert.is((await findings()).of('stores').level, 'ok');
});

test('a portal before root and a clock that is off are told apart', async () => {
  let answer: 'portal' | 'late' = 'portal';
  const server = createServer((_, r) => {
    if (answer === 'portal') r.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>');
    else
      r.writeHead(200, {
        'content-type': 'application/json',
        date: new Date(Date.now() - 3600_000).toUTCString(),
      }).end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  // A hub elsewhere: the environment names its parts.
  const env = {
    INGLE_BUS_ADDRESS: house.bus,
    INGLE_ROOT: `http://127.0.0.1:${port}`,
    INGLE_DATA: join(data, 'hub'),
    INGLE_API_PORT: new URL(house.api).port,
    INGLE_CONFIG: '/nonexistent',
  };
  const portal = (await findings(env)).of('root');
  assert.is(portal.reason, 'root_portal');
  assert.match(portal.message, /guest network/);
  answer = 'late';
  const clock = (await findings(env)).of('clock');
  assert.is(clock.reason, 'clock_skew');
  assert.match(clock.message, /off by (3599|360\d) s/);
  server.closeAllConnections();
  server.close();
});

test('where nothing runs it says so instead of failing', async () => {
  const env = {
    INGLE_BUS_ADDRESS: 'unix:path=/nowhere',
    INGLE_ROOT: 'http://127.0.0.1:1',
    INGLE_API_PORT: '1',
    INGLE_DATA: '/nonexistent',
    INGLE_CONFIG: '/nonexistent',
  };
  const f = await findings(env, tmpdir());
  assert.is(f.code, 69);
  for (const check of ['bus', 'api', 'root']) assert.is(f.of(check).level, 'bad');
  assert.match(f.of('bus').message, /npm start/);
});

test('beside a stopped npm start the doctor looks at its data, and says how to start it', async () => {
  const stopped = mkdtempSync(join(tmpdir(), 'ingle-stopped-'));
  const below = join(stopped, 'src');
  const hub = join(stopped, '.ingle', 'hub');
  for (const folder of [below, join(hub, 'uplink'), join(stopped, '.ingle', 'log')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(stopped, '.ingle', 'api-port'), '1');
  writeFileSync(join(stopped, '.ingle', 'log', 'uplink.log'), 'its last words\n');
  writeFileSync(
    join(hub, 'uplink', 'uplink.sqlite'),
    'no database at all, and long enough to be read as one',
  );
  const f = await findings({ INGLE_ROOT: 'http://127.0.0.1:1' }, below);
  assert.is(f.code, 69);
  assert.match(f.of('bus').message, `npm start does not run (${join(stopped, '.ingle')})`);
  assert.match(f.of('api').message, 'http://127.0.0.1:1');
  assert.match(f.of('stores').message, 'uplink.sqlite');
  for (const check of ['units', 'slots', 'audio', 'wifi']) assert.is(f.of(check).level, 'skip', check);
  const r = await ingle(['journal', 'export', join(stopped, 'out'), '--json'], {}, below);
  assert.is(r.code, 0, r.err);
  const { folder } = JSON.parse(r.out) as { folder: string };
  assert.match(readFileSync(join(folder, 'uplink.log.txt'), 'utf8'), 'its last words');
  rmSync(stopped, { recursive: true, force: true });
});

test('what a house that is still starting does not answer yet is told as that', async () => {
  const file = join(data, 'house.json');
  const up = readFileSync(file, 'utf8');
  assert.equal([begun, (JSON.parse(up) as Running).up], [false, true]);
  await house.hold('api');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(up), up: false }));
  const f = await findings();
  assert.is(f.code, 0, JSON.stringify(f.all));
  assert.match(f.of('api').message, /npm start is still starting it\. Look again/);
  assert.is(f.of('bus').level, 'ok');
  writeFileSync(file, up);
  house.release('api');
  await until(tried(async () => (await fetch(`${house.api}/health/ready`)).ok));
});

test('what only a flashed hub has is told as that beside npm start', async () => {
  for (const command of ['setup status', 'setup finish', 'update status']) {
    const r = await ingle([...command.split(' '), '--json']);
    assert.is(r.code, 69, command);
    const said = JSON.parse(r.err) as { error: string; message: string };
    assert.is(said.error, 'not_supported', command);
    assert.not.match(said.message, /No hub runs here/);
    if (command !== 'update status') assert.match(said.message, /npm start has no such service.*ingle login/);
  }
});

test('health is good in a house that is well, waits while it is not, and gives up in time', async () => {
  assert.is((await ingle(['health'])).code, 0);
  await house.hold('api');
  const bad = await ingle(['health', '--json']);
  assert.is(bad.code, 69);
  assert.equal(JSON.parse(bad.out), { healthy: false, wrong: ['api'] });
  const waiting = ingle(['health', '--wait', '120']);
  house.release('api');
  const good = await waiting;
  assert.is(good.code, 0, good.out);
  assert.match(good.out, /This version is well\./);
  assert.is((await ingle(['health', '--wait', 'long'])).code, 64);
});

test('a version on trial that is not well leaves its reasons for the one that runs after it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-trial-'));
  writeFileSync(join(dir, 'os-release'), 'ID=debian\nIMAGE_VERSION=1.2.1\n');
  const env = {
    INGLE_BUS_ADDRESS: 'unix:path=/nowhere',
    INGLE_API_PORT: '1',
    INGLE_DATA: dir,
    INGLE_OS_RELEASE: join(dir, 'os-release'),
    INGLE_CONFIG: '/nonexistent',
  };
  assert.is((await ingle(['health', '--commit'], env)).code, 69);
  const left = JSON.parse(readFileSync(join(dir, 'health/last.json'), 'utf8')) as {
    version: string;
    failures: string[];
  };
  assert.is(left.version, '1.2.1');
  assert.match(left.failures.join('\n'), /^Local API: does not answer/m);
  rmSync(dir, { recursive: true });
});

test('the self-test passes what the device has, and its code is of this device', async () => {
  const file = join(data, 'config.json');
  const code = async (config: object) => {
    writeFileSync(file, JSON.stringify(config));
    const r = await ingle(['selftest', '--json']);
    rmSync(file);
    const lines = r.out
      .trim()
      .split('\n')
      .map((l) => JSON.parse(l) as Record<string, string>);
    return { status: r.code, code: lines.at(-1)!['code']!, lines };
  };
  const first = await code({ serial: 'H2-0001' });
  assert.is(first.status, 0, JSON.stringify(first.lines));
  assert.match(first.code, /^PASS-[0-9A-HJKMNP-TV-Z]{4}$/);
  assert.is((await code({ serial: 'H2-0001' })).code, first.code);
  assert.is.not((await code({ serial: 'H2-0002' })).code, first.code);
  const missing = await code({
    serial: '',
    label_policy: 'required',
    hardware: { wifi: true, speaker: true },
  });
  assert.is(missing.status, 69);
  assert.is(missing.code, 'FAIL-W1-A1-L1');
  assert.match(missing.lines.find((l) => l['part'] === 'wifi')!['why']!, /does not answer/);
});

test('the journal leaves without a secret, with all that a maker needs', async () => {
  const code = await house.issueCode();
  const token = readFileSync(join(data, 'hub/api/token'), 'utf8').trim();
  const held = [code.link.split('#')[1]!, token, 'correct horse battery', 'Hunter2Hunter2'];
  writeFileSync(
    join(data, 'log/planted.log'),
    `uplink: link=${code.link} then\nwifi: psk=correct horse battery  ssid=Home\napi: said ${token} aloud\n{"psk":"Hunter2Hunter2"}\n`,
  );
  const to = join(top, 'stick', 'of', 'the maker');
  const r = await ingle(['journal', 'export', to, '--json']);
  assert.is(r.code, 0, r.err);
  const { folder, files } = JSON.parse(r.out) as { folder: string; files: number };
  const names = readdirSync(folder);
  assert.is(names.length, files);
  for (const name of ['doctor.txt', 'about.txt', 'uplink.log.txt', 'api.log.txt', 'planted.log.txt'])
    assert.ok(names.includes(name), `${name} in ${names}`);
  for (const name of names) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const secret of held) assert.not.ok(text.includes(secret), `${name} holds ${secret}`);
  }
  const planted = readFileSync(join(folder, 'planted.log.txt'), 'utf8');
  assert.match(planted, /^uplink: link=http:\/\/localhost:\d+\/#v1\.\[removed\] then$/m);
  assert.match(planted, /^wifi: psk=\[removed\] {2}ssid=Home$/m);
  assert.match(readFileSync(join(folder, 'about.txt'), 'utf8'), /^ingle \d/);
  rmSync(join(data, 'log/planted.log'));
});

test('a folder that takes nothing, and no stick, are told in words', async () => {
  const nowhere = await ingle(['journal', 'export', '/proc/nowhere', '--json']);
  assert.is(nowhere.code, 69);
  assert.match((JSON.parse(nowhere.err) as { message: string }).message, /Nothing could be written/);
  assert.is((await ingle(['journal', 'export'])).code, 64);
});

test('the technician asks by a file and reads the answer; a request is answered once, a bad one not at all', async () => {
  const runtime = join(top, 'run');
  mkdirSync(join(runtime, 'console'), { recursive: true });
  const request = join(runtime, 'console/request.json');
  const reply = join(runtime, 'technician/reply.json');
  writeFileSync(request, JSON.stringify({ id: 'a1', what: 'doctor' }));
  assert.is((await ingle(['technician'], { INGLE_RUNTIME: runtime })).code, 0);
  const said = JSON.parse(readFileSync(reply, 'utf8')) as { id: string; text: string };
  assert.is(said.id, 'a1');
  assert.match(said.text, /ok {2}Root/);
  assert.throws(() => readFileSync(request), /ENOENT/);
  rmSync(reply);
  for (const bad of ['', '{', '[]', '{"id":"../x","what":"doctor"}', '{"what":"doctor"}']) {
    writeFileSync(request, bad);
    assert.is((await ingle(['technician'], { INGLE_RUNTIME: runtime })).code, 0);
    assert.throws(() => readFileSync(reply), /ENOENT/);
    assert.throws(() => readFileSync(request), /ENOENT/);
  }
});

test.run();
