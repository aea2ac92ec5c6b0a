// timeout: 400 s
// The `ingle` command against a running house: what it prints, what a program reads, how it exits.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { startHouse } from '../lab/house.ts';
import { until } from '../lab/wait.ts';

const test = suite('ingle');
const launcher = join(process.cwd(), 'services/cli/ingle.mjs');
const empty = mkdtempSync(join(tmpdir(), 'ingle-cli-'));
let house: House;

function spawnIngle(args: string[], env: Record<string, string> = {}, cwd = empty): ChildProcess {
  return spawn(process.execPath, [launcher, ...args], {
    cwd,
    env: { ...process.env, INGLE_LANG: 'en', INGLE_BUS_ADDRESS: house.bus, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
async function ingle(args: string[], env: Record<string, string> = {}) {
  const child = spawnIngle(args, env);
  let out = '';
  let err = '';
  child.stdout!.on('data', (d) => (out += d));
  child.stderr!.on('data', (d) => (err += d));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  const lines = () =>
    out
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((l) => JSON.parse(l) as Record<string, unknown>);
  return { code, out, err, lines };
}

test.before(async () => {
  house = await startHouse();
  await house.issueCode();
});
test.after(async () => {
  await house.stop();
  rmSync(empty, { recursive: true, force: true });
});

test('init prints the identities, where the keys lie and for how long they hold', async () => {
  const person = await ingle(['init']);
  assert.is(person.code, 0, person.err);
  for (const word of ['subnet_id', 'hub_id', 'keys', 'valid until']) assert.match(person.out, word);
  const [m] = (await ingle(['init', '--json'])).lines();
  for (const key of ['owner_id', 'subnet_id', 'hub_id', 'keys']) assert.type(m![key], 'string');
  assert.match(person.out, m!['hub_id'] as string);
  assert.match(m!['keys'] as string, house.data);
  const days = m!['lifetime_days'] as number;
  assert.ok(days > 80 && days <= 90, `${days} days`);
  assert.is(statSync(m!['keys'] as string).mode & 0o077, 0, 'nobody else reads the keys');
});

test('status tells the link, and a program reads the same', async () => {
  const person = await ingle(['status']);
  assert.is(person.code, 0, person.out);
  assert.match(person.out, /connected to http:\/\/localhost/);
  const [s] = (await ingle(['status', '--json'])).lines();
  assert.is(s!['connected'], true);
  assert.is(s!['browsers'], 0);
});

test('the services of npm start are those it runs, and one it holds is stopped and stays in the list', async () => {
  const services = async () => {
    const token = readFileSync(`${house.data}/hub/api/token`, 'utf8').trim();
    const r = await fetch(`${house.api}/api/services`, { headers: { 'x-service-token': token } });
    const { services } = (await r.json()) as { services: { unit: string; state: string }[] };
    return services.map((s) => `${s.unit} ${s.state}`);
  };
  // By the skills' ids: energy, hub_status, logs, settings, shopping, updates, weather.
  const skills = [5, 1, 6, 3, 7, 2, 4].map((slot) => `ingle-skill@${slot} running`);
  const withUplink = (state: string) => [
    'ingle-api running',
    // Nothing of this house fetches, and whoever does wakes it.
    'ingle-fetch activatable',
    'ingle-scenario running',
    `ingle-uplink ${state}`,
    ...skills,
  ];
  assert.equal(await services(), withUplink('running'));
  await house.hold('uplink');
  assert.equal(await services(), withUplink('stopped'));
  house.release('uplink');
  await until(async () => (await services()).includes('ingle-uplink running'), 'uplink to be back');
  await house.issueCode();
});

test('login prints page, code and link, waits, and ends in order at Ctrl-C', async () => {
  const child = spawnIngle(['login']);
  let out = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (d) => {
      out += d;
      if (/Waiting for the browser/.test(out)) resolve();
    });
    child.on('close', () => reject(new Error(out)));
  });
  assert.match(out, /type the code {2}\d{3}-\d{3} \d{3}-\d{3}/);
  assert.match(out, /valid for 10 minutes/);
  assert.match(out, /http:\/\/localhost:\d+\/#v1\./);
  assert.match(out, /No QR code: this address works on this computer only/);
  assert.not.match(out, /█/);
  child.kill('SIGINT');
  await new Promise((done) => child.on('close', done));
});

test('login --json gives the code as one object a line, and says so when the hub goes', async () => {
  const child = spawnIngle(['login', '--json']);
  let out = '';
  let err = '';
  const ended = new Promise<number | null>((done) => child.on('close', done));
  child.stderr!.on('data', (d) => (err += d));
  await new Promise<void>((resolve) => {
    child.stdout!.on('data', (d) => {
      out += d;
      if (out.includes('\n')) resolve();
    });
  });
  const code = JSON.parse(out.split('\n')[0]!) as Record<string, unknown>;
  assert.is(code['event'], 'code');
  for (const key of ['device_code', 'secret', 'link', 'verify_uri']) assert.type(code[key], 'string');
  assert.ok((code['expires_at'] as number) > Date.now() / 1000);
  await house.hold('uplink');
  assert.is(await ended, 69);
  assert.is((JSON.parse(err) as { error: string }).error, 'unavailable');
  house.release('uplink');
  await house.issueCode();
});

test('browsers list is empty before a pairing; forgetting an unknown one is not found', async () => {
  const list = await ingle(['browsers', 'list']);
  assert.is(list.code, 0);
  assert.match(list.out, /No browser is paired/);
  assert.equal((await ingle(['browsers', 'list', '--json'])).lines(), []);
  assert.is((await ingle(['browsers', 'rename', 'A'.repeat(43), 'Kitchen'])).code, 66);
  const unknown = await ingle(['browsers', 'forget', 'A'.repeat(43), '--json']);
  assert.is(unknown.code, 66);
  assert.is((JSON.parse(unknown.err) as { error: string }).error, 'not_found');
  assert.is(unknown.out, '');
});

test('hostile arguments are refused, whatever they are', async () => {
  for (const id of ['../../etc/passwd', '$(reboot)', '\x1b[2J', 'x'.repeat(5000)]) {
    const r = await ingle(['browsers', 'forget', id, '--json']);
    assert.is(r.code, 64, id.slice(0, 20));
    assert.is((JSON.parse(r.err) as { error: string }).error, 'invalid_request');
  }
  assert.is((await ingle(['browsers', 'forget', '--', ''])).code, 64);
});

test('api token rotate changes the token, keeps who may read it, and prints no secret', async () => {
  const file = join(house.data, 'hub/api/token');
  const before = readFileSync(file, 'utf8').trim();
  const mode = statSync(file).mode & 0o777;
  const ask = (token: string) =>
    fetch(`${house.api}/api/status`, { headers: { 'x-service-token': token } }).then((r) => r.status);
  assert.is(await ask(before), 200);
  const r = await ingle(['api', 'token', 'rotate'], { INGLE_DATA: join(house.data, 'hub') });
  assert.is(r.code, 0, r.err);
  const after = readFileSync(file, 'utf8').trim();
  assert.is.not(after, before);
  assert.not.match(r.out, after);
  assert.is(statSync(file).mode & 0o777, mode);
  await until(async () => (await ask(after)) === 200, 'the new token to count');
  assert.is(await ask(before), 401);
});

test('key rotate keeps hub_id', async () => {
  const was = (await house.status()).uplink.hub_id;
  const r = await ingle(['key', 'rotate', '--json']);
  assert.is(r.code, 0, r.err);
  assert.is((await house.status()).uplink.hub_id, was);
});

test('hub serve beside a running hub is a conflict', async () => {
  const r = await ingle(['hub', 'serve', '--json']);
  assert.is(r.code, 73);
  assert.is((JSON.parse(r.err) as { error: string }).error, 'conflict');
});

test('hub serve opens the socket to a root and says that the hub is connected', async () => {
  const child = spawn(
    process.execPath,
    [launcher, 'hub', 'serve', '--root', house.origin, '--data', join(empty, 'second'), '--json'],
    { cwd: empty, env: { ...process.env, INGLE_BUS_ADDRESS: '' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let out = '';
  child.stderr!.on('data', (d) => (out += d));
  await new Promise<void>((resolve, reject) => {
    child.stdout!.on('data', (d) => {
      out += d;
      if (/"event":"connected"/.test(out)) resolve();
    });
    child.on('close', () => reject(new Error(out)));
  });
  child.kill('SIGTERM');
  assert.is(await new Promise((done) => child.on('close', done)), 0);
});

test('where no hub runs, each command says how to start one', async () => {
  for (const args of [['status'], ['init'], ['login'], ['browsers', 'list'], ['key', 'rotate']]) {
    const r = await ingle([...args, '--json'], { INGLE_BUS_ADDRESS: 'unix:path=/nowhere' });
    assert.is(r.code, 69, args.join(' '));
    const body = JSON.parse(r.err) as { error: string; message: string };
    assert.is(body.error, 'unavailable');
    assert.match(body.message, 'npm start');
    assert.is(r.out, '');
  }
});

test('help and version need no hub', async () => {
  assert.match((await ingle(['help'])).out, /ingle <command>/);
  assert.match((await ingle(['--version'])).out, /^\d+\.\d+\.\d+/);
  assert.match((await ingle(['help'], { INGLE_LANG: 'ru' })).out, /ingle <команда>/);
});

test.run();
