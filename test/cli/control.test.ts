// timeout: 400 s
// `ingle hub serve | stop | restart`, and the supervisor of a house, as an owner at a terminal meets them.
import { type ChildProcess, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bornOf, findRunning, freePort } from '../../services/cli/house/runtime.ts';
import { child } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';

const test = suite('hub serve, stop and restart');
const launcher = join(process.cwd(), 'services/cli/ingle.mjs');
const base = mkdtempSync(join(tmpdir(), 'ingle-control-'));
const children = new Set<ChildProcess>();

interface Run {
  child: ChildProcess;
  out(): string;
  ended: Promise<number | null>;
}
function ingle(args: string[], env: Record<string, string> = {}, before: string[] = []): Run {
  const [program = '', ...words] = [...before, process.execPath, launcher, ...args];
  const c = child(program, words, {
    cwd: base,
    env: { ...process.env, INGLE_LANG: 'en', INGLE_BUS_ADDRESS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(c);
  let out = '';
  for (const pipe of [c.stdout!, c.stderr!]) pipe.on('data', (d) => (out += d));
  const ended = new Promise<number | null>((done) => c.on('close', (code) => done(code)));
  ended.then(() => children.delete(c));
  return { child: c, out: () => out, ended };
}
/** A hub that is served from `data`; its root is nobody. */
async function serve(data: string, ...more: string[]): Promise<Run> {
  const run = ingle(['hub', 'serve', '--root', 'http://127.0.0.1:9', '--data', data, '--json', ...more]);
  await until(() => run.out().includes('"serving"') || run.child.exitCode !== null, 'the hub to serve');
  assert.match(run.out(), '"serving"');
  return run;
}
async function ask(data: string, method: string, path: string, body?: object) {
  const house = findRunning(data)!;
  const r = await fetch(house.api + path, {
    method,
    headers: { 'x-service-token': readFileSync(join(house.hub, 'api/token'), 'utf8').trim() },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: r.status, body: JSON.parse(await r.text()) };
}
const service = async (data: string, unit: string) => (await ask(data, 'GET', `/api/services/${unit}`)).body;

const data = join(base, 'first');
let hub: Run;

/** Processes of the hub on `data`, by what they were told in their environment. */
function processesOf(): number[] {
  return readdirSync('/proc')
    .filter((p) => /^\d+$/.test(p))
    .filter((p) => textOf(p, 'environ').includes(`INGLE_DATA=${data}`))
    .map(Number);
}
/** The one among them whose command line has these words. */
function processOf(...words: string[]): number {
  const found = processesOf().filter((p) => words.every((w) => textOf(p, 'cmdline').includes(w)));
  assert.is(found.length, 1, `${words}: ${found}`);
  return found[0]!;
}
function textOf(pid: string | number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

test.before(async () => {
  const { build } = await import('../../services/cli/build.mjs' as string);
  await build();
});
test.after(async () => {
  for (const c of children) c.kill('SIGTERM');
  await until(() => children.size === 0, 'the processes to end');
  rmSync(base, { recursive: true, force: true });
});

test('serve listens where it is told, in the place of a hub that is dead or whose number is another process now', async () => {
  const port = await freePort('127.0.0.1');
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, 'house.json'), JSON.stringify({ pid: process.pid, born: '1', origin: 'x' }));
  hub = await serve(data, '--port', `${port}`, '--host', '127.0.0.1');
  assert.is(findRunning(data)!.pid, hub.child.pid);
  assert.is((await fetch(`http://127.0.0.1:${port}/health/ready`)).status, 200);
});

test('a second serve on the same data, or on a taken port, is a conflict that says what to do', async () => {
  const same = ingle(['hub', 'serve', '--data', data]);
  assert.is(await same.ended, 73);
  assert.match(same.out(), `${hub.child.pid}`);
  const server = createServer();
  const port = await freePort('127.0.0.1');
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const taken = ingle(['hub', 'serve', '--data', join(base, 'second'), '--port', `${port}`]);
  assert.is(await taken.ended, 73);
  assert.match(taken.out(), `127.0.0.1:${port}`);
  assert.match(taken.out(), '--port');
  assert.not.ok(existsSync(join(base, 'second/house.json')));
  server.close();
});

test('addresses and ports that are none are refused', async () => {
  for (const wrong of [
    ['--port', '0'],
    ['--port', '65536'],
    ['--port', '80x'],
    ['--host', 'example.org'],
  ]) {
    const r = ingle(['hub', 'serve', '--data', join(base, 'third'), ...wrong]);
    assert.is(await r.ended, 64, `${wrong}: ${r.out()}`);
  }
});

test('the house supervises: a killed service comes back, and is told as the last crash', async () => {
  const before = await service(data, 'ingle-skill@1');
  assert.equal([before.state, before.supervised.restarts, before.skill_id], ['running', 0, 'hub_status']);
  assert.ok(before.supervised.memory_bytes > 1e6);
  const { body } = await ask(data, 'GET', '/api/services');
  const units = body.services.map((s: { unit: string }) => s.unit);
  for (const other of ['root', 'dbus'])
    assert.not.ok(
      units.some((u: string) => u.includes(other)),
      other,
    );
  const pid = processOf('skill-host', 'main.js\x001\x00');
  process.kill(pid, 'SIGKILL');
  await until(async () => (await service(data, 'ingle-skill@1')).supervised.restarts === 1, 'the restart');
  const { last_crash } = (await ask(data, 'GET', '/api/node/reliability')).body;
  assert.equal([last_crash.unit, last_crash.cause], ['ingle-skill@1', 'signal']);
});

test('a frozen service is stopped all the same, stays down, and is started again', async () => {
  await until(async () => (await service(data, 'ingle-skill@1')).state === 'running', 'the skill');
  const pid = await until(
    tried(async () => processOf('skill-host', 'main.js\x001\x00')),
    'its process',
  );
  process.kill(pid, 'SIGSTOP');
  const stopped = await ask(data, 'POST', '/api/services/ingle-skill@1/stop');
  assert.equal([stopped.status, stopped.body.service.supervised.sub_state], [200, 'dead']);
  assert.is(bornOf(pid), '');
  const started = await ask(data, 'POST', '/api/services/ingle-skill@1/start');
  assert.is(started.body.service.supervised.sub_state, 'running');
  for (const unit of ['ingle-uplink', 'ingle-api'])
    assert.is((await ask(data, 'POST', `/api/services/${unit}/stop`)).status, 409);
});

test('logs of the house are read through the API', async () => {
  const { lines } = (await ask(data, 'GET', '/api/services/ingle-api/logs?lines=50')).body;
  assert.ok(
    lines.some(
      (l: { level: string; text: string; at: number }) =>
        /listening/.test(l.text) && l.level === 'info' && l.at > 1e9,
    ),
  );
});

test('restart ends the processes of the hub and starts them where they ran', async () => {
  const api = processOf('services/api/');
  const r = ingle(['hub', 'restart', '--data', data, '--json']);
  assert.is(await r.ended, 0, r.out());
  assert.match(r.out(), '"draining"');
  assert.match(r.out(), '"restarted"');
  assert.is(bornOf(api), '', 'the API of before has ended');
  assert.is((await ask(data, 'GET', '/api/admin/lifecycle')).body.state, 'running');
  assert.is(findRunning(data)!.pid, hub.child.pid);
});

test('an API that is frozen is restarted as well', async () => {
  const api = processOf('services/api/');
  process.kill(api, 'SIGSTOP');
  const r = ingle(['hub', 'restart', '--data', data]);
  assert.is(await r.ended, 0, r.out());
  assert.match(r.out(), 'does not answer');
  assert.is(bornOf(api), '');
});

const apart = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/usr/share']).status === 0;
if (!apart) console.log('SKIP a flashed hub: needs root rights and mount namespaces');
(apart ? test : test.skip)('on a flashed hub both go to systemd, once nothing new begins', async () => {
  const { api, hub: at, bus } = findRunning(data)!;
  const bin = mkdtempSync(join(base, 'bin-'));
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$@" >> '${bin}/asked'\n`, { mode: 0o755 });
  const env = {
    ...{ PATH: `${bin}:${process.env['PATH']}`, INGLE_BUS_ADDRESS: bus, INGLE_DATA: at },
    ...{ INGLE_API_PORT: new URL(api).port, INGLE_DEVICE: '/nonexistent', INGLE_CONFIG: '/nonexistent' },
  };
  for (const what of ['stop', 'restart']) {
    // What a flashed hub is known by lies in a namespace of this process alone.
    const flashed = `mount -t tmpfs none /usr/share && mkdir /usr/share/ingle && echo '{}' > /usr/share/ingle/device.json && exec "$@"`;
    const r = ingle(['hub', what, '--json'], env, ['unshare', '--mount', 'sh', '-c', flashed, 'sh']);
    assert.is(await r.ended, 0, r.out());
    assert.match(r.out(), '"draining"');
    assert.is((await ask(data, 'GET', '/api/admin/lifecycle')).body.state, 'draining');
    assert.is((await ask(data, 'POST', '/api/admin/drain', { on: false })).body.state, 'running');
  }
  assert.is(readFileSync(join(bin, 'asked'), 'utf8'), 'stop ingle.target\nrestart ingle.target\n');
  assert.is(findRunning(data)!.pid, hub.child.pid, 'the house that runs beside it is not meant');
});

test('stop lets what runs come to its end, and leaves nothing', async () => {
  const mine = processesOf();
  assert.ok(mine.length >= 4, `${mine.length}`);
  const r = ingle(['hub', 'stop', '--data', data, '--json']);
  assert.is(await r.ended, 0, r.out());
  for (const event of ['draining', 'ending', 'stopped']) assert.match(r.out(), `"${event}"`);
  assert.not.match(r.out(), '"killed"');
  assert.is(await hub.ended, 0, hub.out());
  assert.not.ok(existsSync(join(data, 'house.json')));
  await until(() => processesOf().length === 0, 'every process to be gone');
  const boots = JSON.parse(readFileSync(join(data, 'hub/api/boots.json'), 'utf8'));
  assert.equal(
    boots.map((b: { end: string }) => b.end),
    ['orderly'],
  );
});

test('where nothing runs, stop and restart say so', async () => {
  for (const what of ['stop', 'restart']) {
    const r = ingle(['hub', what, '--data', data]);
    assert.is(await r.ended, 69);
    assert.match(r.out(), 'ingle hub serve');
  }
});

test('a hub that is frozen is killed once its time is over, and nothing of it stays', async () => {
  hub = await serve(data);
  process.kill(hub.child.pid!, 'SIGSTOP');
  const r = ingle(['hub', 'stop', '--data', data, '--json'], { INGLE_END_MS: '500' });
  assert.is(await r.ended, 0, r.out());
  assert.match(r.out(), '"killed"');
  await hub.ended;
  await until(() => processesOf().length === 0, 'every process to be gone');
});

test('the owner switches it off from afar, in order', async () => {
  hub = await serve(data);
  const r = await ask(data, 'POST', '/api/admin/shutdown', { what: 'poweroff' });
  assert.equal([r.status, r.body.state], [200, 'draining']);
  assert.is(await hub.ended, 0, hub.out());
  const boots = JSON.parse(readFileSync(join(data, 'hub/api/boots.json'), 'utf8'));
  assert.equal(boots.map((b: { end: string }) => b.end)[0], 'orderly');
});

test.run();
