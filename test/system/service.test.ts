// A service's life, with real processes on a private bus and systemd's own way to be told of it.
import type { ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorTable } from '../../firmware/protocol/errors.ts';
import { connect } from '../../firmware/system/bus.ts';
import { STOP_MS } from '../../firmware/system/service.ts';
import { privateBus } from '../lab/bus.ts';
import { child } from '../lab/child.ts';
import { until, within } from '../lab/wait.ts';

const running: ChildProcess[] = [];

/** Prints each datagram, and takes no file descriptors: that ends the wait of systemd-notify, as systemd's own reading does. */
const receiver =
  'socket(S,AF_UNIX,SOCK_DGRAM,0);bind(S,sockaddr_un($ARGV[0]));$|=1;print "$b\\n" while defined recv(S,$b,4096,0)';

/** Begins the service of living.ts; `address` is its bus. */
async function living(
  how: string,
  address: string,
  env: Record<string, string> = {},
  before: readonly string[] = [],
) {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-life-'));
  const socket = join(dir, 'notify');
  const systemd = child('perl', ['-MSocket', '-e', receiver, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  systemd.stdout!.on('data', (d: Buffer) => (told += d));
  await until(() => readdirSync(dir).includes('notify'), 'the socket of systemd');
  const [first, ...rest] = [...before, process.execPath, '--import', 'tsx', 'test/system/living.ts', how];
  const service = child(first!, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, INGLE_BUS_ADDRESS: address, NOTIFY_SOCKET: socket, ...env },
  });
  running.push(systemd, service);
  let out = '';
  let log = '';
  service.stdout!.on('data', (d: Buffer) => (out += d));
  service.stderr!.on('data', (d: Buffer) => (log += d));
  service.stdin!.on('error', () => {});
  const gone = new Promise<number | null>((resolve) => service.on('close', resolve));
  return {
    lines: () => out.split('\n').filter(Boolean),
    log: () => log.split('\n').filter(Boolean),
    told: () => told,
    order: (text: string) => service.stdin!.write(`${text}\n`),
    kill: (signal: NodeJS.Signals) => service.kill(signal),
    signal: () => service.signalCode,
    alive: () => service.exitCode === null && service.signalCode === null,
    says: (text: string) => until(() => out.includes(text), `"${text}" of the service`),
    tells: (text: string) => until(() => told.includes(text), `${text} to systemd`),
    /** Its exit status. */
    ended: () => within(gone, 'the service to end'),
    tidy: () => {
      systemd.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const inOrder = ['server closing', 'server closed', 'store closed healthy=false'];

const test = suite<{ address: string; stop: () => Promise<void> }>('a service’s life');
test.before(async (c) => {
  const bus = await privateBus({ quiet: true });
  c.address = bus.address;
  c.stop = bus.stop;
});
test.after.each(() => {
  for (const c of running.splice(0)) c.kill('SIGKILL');
});
test.after((c) => c.stop());

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('SKIP a name server of its own needs root rights');
(isRoot ? test : test.skip)('a name server that does not answer holds up no stop', async ({ address }) => {
  const server = createSocket('udp4');
  await new Promise<void>((done) => server.bind(53, '127.0.0.99', done));
  const dir = mkdtempSync(join(tmpdir(), 'ingle-names-'));
  const file = join(dir, 'resolv.conf');
  // It waits longer than this test.
  writeFileSync(file, 'nameserver 127.0.0.99\noptions timeout:30 attempts:5\n');
  const mounted = `mount --bind '${file}' /etc/resolv.conf && exec "$@"`;
  const l = await living('', address, {}, ['unshare', '-m', 'sh', '-c', mounted, 'sh']);
  try {
    await l.says('serving');
    const asked = new Promise((done) => server.once('message', done));
    l.order('ask');
    await within(asked, 'its question');
    l.kill('SIGTERM');
    await l.ended();
    assert.equal(l.lines().slice(-3), inOrder);
    // systemd takes this signal for an orderly end, too.
    assert.is(l.signal(), 'SIGTERM');
  } finally {
    server.close();
    l.tidy();
    rmSync(dir, { recursive: true });
  }
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  test(`READY once it is there; ${signal} stops it in order, told to systemd, with status 0`, async ({
    address,
  }) => {
    const s = await living('wait', address);
    await s.says('wired');
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.is(s.told(), '', 'nothing is told while it starts');
    s.order('go');
    await s.tells('READY=1');
    s.kill(signal);
    assert.is(await s.ended(), 0);
    await s.tells('STOPPING=1');
    assert.equal(s.lines(), ['wired', 'serving', ...inOrder]);
    assert.equal(s.log(), []);
    s.tidy();
  });

test('it is not gone before systemd was told that it stops', async ({ address }) => {
  const slow = mkdtempSync(join(tmpdir(), 'ingle-slow-'));
  // Nobody can speak for a process that is gone; on a busy machine its helper starts late.
  const file = join(slow, 'systemd-notify');
  writeFileSync(file, `#!/bin/sh\nsleep 1\nPATH=\${PATH#*:} exec systemd-notify "$@"\n`, { mode: 0o755 });
  const s = await living('', address, { PATH: `${slow}:${process.env['PATH']}` });
  await s.tells('READY=1');
  s.kill('SIGTERM');
  assert.is(await s.ended(), 0);
  await until(() => s.told().includes('STOPPING=1'), 'STOPPING=1 at once', 0.5);
  rmSync(slow, { recursive: true });
  s.tidy();
});

test('a signal while it starts stops it, and it is never ready', async ({ address }) => {
  const s = await living('wait slow', address);
  await s.says('wired');
  s.kill('SIGTERM');
  await s.says('server closing');
  s.order('go');
  assert.is(await s.ended(), 0);
  assert.equal(s.lines(), ['wired', 'server closing', 'serving', ...inOrder.slice(1)]);
  await s.tells('STOPPING=1');
  assert.not.match(s.told(), /READY/);
  s.tidy();
});

test('a second signal neither begins the stop again nor cuts it short', async ({ address }) => {
  const s = await living('slow', address);
  await s.says('serving');
  s.kill('SIGTERM');
  await s.says('server closing');
  s.kill('SIGTERM');
  s.kill('SIGINT');
  assert.is(await s.ended(), 0);
  assert.equal(s.lines().slice(2), inOrder);
  await s.tells('STOPPING=1');
  assert.is(s.told().match(/STOPPING=1/g)?.length, 1);
  s.tidy();
});

test('a stop that hangs is left behind', async ({ address }) => {
  const s = await living('hang', address);
  await s.says('serving');
  const began = performance.now();
  s.kill('SIGTERM');
  assert.is(await s.ended(), 0);
  assert.ok(performance.now() - began > 1400, 'it had its time');
  assert.equal(s.lines().at(-1), 'server closing');
  assert.match(s.log().join(), /the stop took too long/);
  s.tidy();
});

test('a step of the stop that throws keeps neither the others nor the end', async ({ address }) => {
  const s = await living('throw', address);
  await s.says('serving');
  s.kill('SIGTERM');
  assert.is(await s.ended(), 0);
  assert.is(s.lines().at(-1), 'store closed healthy=false');
  assert.is(s.log().length, 1);
  assert.match(s.log()[0]!, /a fault while stopping error=internal .*the server\\ndoes not close/);
  s.tidy();
});

test('a start that fails is one line of the one error shape, and its status', async ({ address }) => {
  const s = await living('conflict', address);
  assert.is(await s.ended(), errorTable.conflict.exit);
  assert.equal(s.lines(), ['wired', ...inOrder], 'what was there is stopped');
  assert.is(s.log().length, 1);
  assert.match(
    s.log()[0]!,
    /living: the service does not start error=conflict message="The port is taken." details={ port: 1 }$/,
  );
  assert.not.match(s.told(), /READY/);
  s.tidy();

  const f = await living('fault', address);
  assert.is(await f.ended(), errorTable.internal.exit);
  assert.is(f.log().length, 1);
  assert.match(f.log()[0]!, /does not start error=internal .*a fault\\nof two lines\\n +at .*living\.ts/);
  f.tidy();

  const n = await living('', 'unix:path=/nonexistent/bus');
  assert.is(await n.ended(), errorTable.unavailable.exit);
  assert.is(n.log().length, 1);
  assert.match(n.log()[0]!, /does not start error=unavailable message="The system's message bus/);
  n.tidy();
});

test('a fault that nobody caught ends it in order', async ({ address }) => {
  const s = await living('', address);
  await s.says('serving');
  s.order('crash');
  assert.is(await s.ended(), errorTable.internal.exit);
  assert.equal(s.lines().slice(2), inOrder);
  assert.is(s.log().length, 1);
  assert.match(s.log()[0]!, /the service ends error=internal .*unforeseen/);
  s.tidy();
});

test('it ends with its bus', async () => {
  const bus = await privateBus({ quiet: true });
  const s = await living('', bus.address);
  await s.says('serving');
  await bus.stop();
  assert.is(await s.ended(), errorTable.unavailable.exit);
  assert.equal(s.lines().slice(2), inOrder);
  assert.is(s.log().length, 1);
  assert.match(s.log()[0]!, /error=unavailable message="The message bus is gone."/);
  s.tidy();
});

test('it leaves when idle: after the last call, and not while it is busy', async ({ address }) => {
  const s = await living('idle', address, { INGLE_IDLE_MS: '1000' });
  await s.says('serving');
  const began = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 600));
  s.order('touch');
  assert.is(await s.ended(), 0);
  assert.ok(performance.now() - began > 1550, 'the call began the time again');
  assert.equal(s.lines().slice(2), inOrder);
  s.tidy();

  const b = await living('busy', address, { INGLE_IDLE_MS: '300' });
  await b.says('serving');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.ok(b.alive(), 'it is busy');
  b.order('rest');
  assert.is(await b.ended(), 0);
  b.tidy();
});

test('one that tells when it is busy no longer is not woken meanwhile', async ({ address }) => {
  const s = await living('busy told', address, { INGLE_IDLE_MS: '300' });
  await s.says('serving');
  await s.says('looks');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.is(s.lines().filter((l) => l === 'looks').length, 1, 'it looks once, and sleeps');
  s.order('rest');
  assert.is(await s.ended(), 0);
  s.tidy();
});

test('no call is lost to a service that leaves: it answers, or the next process does', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-leaving-'));
  // systemd is told late, so that calls come while the service leaves.
  const notify = '#!/bin/sh\ncase "$*" in *STOPPING*) touch "${0%/*}/leaving"; sleep 0.5;; esac\n';
  writeFileSync(join(dir, 'systemd-notify'), notify, { mode: 0o755 });
  const program = `'${process.execPath}' --import tsx test/system/living.ts 'serve idle slow'`;
  const env = `INGLE_BUS_ADDRESS="$DBUS_STARTER_ADDRESS" PATH='${dir}':"$PATH" NOTIFY_SOCKET=/nobody INGLE_IDLE_MS=300`;
  writeFileSync(join(dir, 'start'), `cd '${process.cwd()}' && ${env} exec ${program} </dev/null\n`);
  writeFileSync(
    join(dir, 'io.ingle.Living1.service'),
    `[D-BUS Service]\nName=io.ingle.Living1\nExec=/bin/sh ${dir}/start\n`,
  );
  const daemon = await privateBus({ quiet: true, servicedir: dir });
  const bus = await connect(daemon.address);
  const who = async () => {
    const [pid] = await bus.call('io.ingle.Living1', '/io/ingle/Living1', 'io.ingle.Living1', 'Who');
    return pid as number;
  };
  const first = await who();
  await until(() => readdirSync(dir).includes('leaving'), 'the service to leave');
  const pids = new Set<number>();
  const lost: string[] = [];
  let open = 0;
  const one = () => {
    open++;
    void who()
      .then(
        (pid) => pids.add(pid),
        (e) => lost.push(String(e)),
      )
      .finally(() => open--);
  };
  // The daemon takes 128 open calls of a connection.
  const calling = setInterval(() => open < 60 && one(), 5);
  const isGone = () => {
    try {
      return !process.kill(first, 0);
    } catch {
      return true;
    }
  };
  await until(() => isGone() && (pids.size > 1 || lost.length > 0), 'the next process to answer');
  clearInterval(calling);
  await until(() => open === 0, 'every answer');
  assert.equal(lost, []);
  assert.is(pids.size, 2);
  assert.ok(pids.has(first));
  bus.close();
  await daemon.stop();
  rmSync(dir, { recursive: true });
});

test('systemd waits for a stop longer than a stop may take, and hears who tells of READY', () => {
  const folder = 'systemd/units';
  const units = readdirSync(folder)
    .filter((f) => f.endsWith('.service'))
    .map((f) => ({ name: f, text: readFileSync(join(folder, f), 'utf8') }))
    .filter((u) => /^ExecStart=.*\/services\/[\w-]+\/main\.js/m.test(u.text));
  const mains = readdirSync('services').filter((s) => readdirSync(join('services', s)).includes('main.ts'));
  assert.is(units.length, mains.length);
  for (const { name, text } of units) {
    const service = /\/services\/([\w-]+)\/main\.js/.exec(text)![1]!;
    const main = readFileSync(join('services', service, 'main.ts'), 'utf8');
    const own = /startService\([^)]*stopMs: ([\d_]+)/.exec(main)?.[1];
    const stopMs = own ? Number(own.replaceAll('_', '')) : STOP_MS;
    const limit = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) * 1000;
    assert.ok(limit >= stopMs + 2000, `${name}: TimeoutStopSec ${limit} ms, a stop has ${stopMs}`);
    const type = /^Type=(\w+)$/m.exec(text)?.[1];
    assert.ok(type === 'dbus' || type === 'notify', name);
    if (type === 'notify') assert.match(text, /^NotifyAccess=all$/m, name);
    else assert.match(text, /^BusName=io\.ingle\./m, name);
    assert.not.match(text, /SuccessExitStatus/, name);
  }
});

test.run();
