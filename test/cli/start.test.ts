// timeout: 300 s
// `npm start` as a person runs it: the real command, its real processes.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findRunning, freePort } from '../../services/cli/house/runtime.ts';
import { until } from '../lab/wait.ts';

const test = suite('npm start');
const base = mkdtempSync(join(tmpdir(), 'ingle-start-'));
const data = join(base, 'data');
const running = new Set<ChildProcess>();
let port = 0;

interface Run {
  child: ChildProcess;
  out: () => string;
  /** Settles when the output matches. */
  says: (what: RegExp) => Promise<RegExpMatchArray>;
  ended: Promise<number | null>;
}

function start(args: string[], env: Record<string, string> = {}, command: 'start' | 'ingle' = 'start'): Run {
  const child = spawn(process.execPath, [`services/cli/${command}.mjs`, ...args], {
    env: { ...process.env, LANG: 'C', INGLE_LANG: 'en', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  running.add(child);
  let out = '';
  const wake = new Set<() => void>();
  const hear = (d: Buffer) => {
    out += d;
    for (const w of wake) w();
  };
  child.stdout!.on('data', hear);
  child.stderr!.on('data', hear);
  const ended = new Promise<number | null>((done) =>
    child.on('close', (code) => {
      running.delete(child);
      done(code);
      for (const w of wake) w();
    }),
  );
  return {
    child,
    out: () => out,
    ended,
    says: (what) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const m = what.exec(out);
          if (m) resolve(m);
          else if (child.exitCode !== null || child.signalCode !== null)
            reject(new Error(`ended without ${what}:\n${out}`));
          else return;
          wake.delete(look);
        };
        wake.add(look);
        look();
      }),
  };
}

/** Processes of the house on `folder`, by what they were told in their environment or arguments. */
function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((p) => /^\d+$/.test(p) && Number(p) !== process.pid)
    .filter((p) => {
      try {
        return ['environ', 'cmdline'].some((f) => readFileSync(`/proc/${p}/${f}`, 'utf8').includes(folder));
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** A folder with only these programs, to be a PATH. */
function pathWith(...programs: string[]): string {
  const dir = mkdtempSync(join(base, 'path-'));
  for (const p of programs) symlinkSync(p === 'node' ? process.execPath : p, join(dir, p.split('/').at(-1)!));
  return dir;
}

test.before(async () => {
  mkdirSync(data, { recursive: true });
  port = await freePort('127.0.0.1');
});
test.after(async () => {
  for (const c of running) c.kill('SIGTERM');
  await until(() => running.size === 0);
  rmSync(base, { recursive: true, force: true });
});

let first: Run;
let hubId = '';
let owned: number[] = [];
const hubOf = async (): Promise<string> => {
  const cli = spawn(process.execPath, ['services/cli/ingle.mjs', 'init', '--json'], {
    env: { ...process.env, INGLE_BUS_ADDRESS: findRunning(data)!.bus },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  for await (const d of cli.stdout) out += d;
  return (JSON.parse(out) as { hub_id: string }).hub_id;
};

test('it shows progress, then the link, the two-group code, and how a phone gets an address', async () => {
  first = start(['--port', String(port), '--data', data]);
  await first.says(/Starting root/);
  await first.says(/Starting uplink/);
  await first.says(/Starting skill hub_status/);
  const [, link] = await first.says(/(http:\/\/localhost:\d+\/#v1\.\S+)/);
  assert.match(link!, new RegExp(`^http://localhost:${port}/#v1\\.\\d{6}\\.[\\w-]{43}\\.[\\w-]+$`));
  const [, device] = await first.says(/type {3}(\d{3}-\d{3}) \d{3}-\d{3}\b/);
  assert.match(link!, device!.replace('-', ''));
  // A code to scan would lead a phone to itself.
  await first.says(
    new RegExp(`tailscale serve --bg ${port}\\n.*cloudflared tunnel --url http://localhost:${port}`),
  );
  await first.says(/Valid for 10 minutes/);
  hubId = await hubOf();
  assert.match(hubId, /\w/);
});

test('the application answers at the address it prints', async () => {
  const r = await fetch(`http://localhost:${port}/`);
  assert.is(r.status, 200);
  assert.match(await r.text(), /<script type="module"/);
});

test('a second start on the same data says that one runs and how to end it', async () => {
  const second = start(['--port', String(await freePort('127.0.0.1')), '--data', data]);
  assert.is(await second.ended, 73);
  assert.match(second.out(), new RegExp(`already runs.*process ${first.child.pid}.*localhost:${port}`));
});

test('a taken port is told with the option that helps', async () => {
  const other = start(['--port', String(port), '--data', join(base, 'other')]);
  assert.is(await other.ended, 73);
  assert.match(other.out(), `Port ${port} is taken`);
  assert.match(other.out(), `npm start -- --port ${port + 1}`);
  assert.equal(processesOf(join(base, 'other')), []);
});

test('a service killed with -9 is started again and the hub is back', async () => {
  const address = findRunning(data)!.bus;
  const { connect } = await import('../../firmware/system/bus.ts');
  const { uplink1 } = await import('../../firmware/uplink/contract.ts');
  const bus = await connect(address);
  const pid = async () =>
    Number(
      (
        await bus.call(
          'org.freedesktop.DBus',
          '/',
          'org.freedesktop.DBus',
          'GetConnectionUnixProcessID',
          's',
          [uplink1.bus],
        )
      )[0],
    );
  const was = await pid();
  process.kill(was, 'SIGKILL');
  await first.says(/uplink ended \(SIGKILL\) and is started again/);
  await until(async () => {
    const s = await bus
      .client(uplink1)
      .Status({})
      .catch(() => undefined);
    return s?.connected === true && s.hub_id === hubId;
  });
  assert.is.not(await pid(), was);
  bus.close();
});

test('Ctrl-C ends every process it started', async () => {
  owned = processesOf(data);
  assert.ok(owned.length >= 6, `${owned}`);
  process.kill(-first.child.pid!, 'SIGINT');
  assert.is(await first.ended, 0);
  assert.match(first.out(), /All processes have ended/);
  assert.equal(processesOf(data), []);
  assert.not.ok(existsSync(join(data, 'house.json')));
});

test('the next start has the same hub', async () => {
  first = start(['--port', String(port), '--data', data, '--json']);
  await first.says(/"event":"code"/);
  assert.is(await hubOf(), hubId);
  for (const line of first.out().trim().split('\n')) JSON.parse(line);
});

test('kill -9 of npm start leaves no orphan and no folder behind', async () => {
  const bus = /unix:path=(.*)\/bus/.exec(findRunning(data)!.bus)![1]!;
  assert.ok(existsSync(bus));
  process.kill(first.child.pid!, 'SIGKILL');
  await first.ended;
  await until(() => processesOf(data).length === 0);
  await until(() => !existsSync(bus));
});

test('after a kill -9 the next start takes over by itself', async () => {
  first = start(['--port', String(port), '--data', data]);
  await first.says(/Valid for 10 minutes/);
  assert.is(await hubOf(), hubId);
  first.child.kill('SIGTERM');
  assert.is(await first.ended, 0);
  assert.equal(processesOf(data), []);
});

test('with the insecure debug mode on, start and login say so beside each code; else nothing speaks of it', async () => {
  assert.not.match(first.out(), /insecure/i);
  const folder = join(base, 'insecure');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ insecure_sealed_secret: true }));
  const house = start(['--port', String(port), '--data', folder]);
  await house.says(new RegExp(`http://localhost:${port}/#insecure\\.\\d{6}\\s`));
  assert.match(house.out(), 'INSECURE: the debug mode insecure_sealed_secret is on');
  const login = (args: string[], lang: string) =>
    start(['login', ...args], { INGLE_LANG: lang, INGLE_BUS_ADDRESS: findRunning(folder)!.bus }, 'ingle');
  for (const [lang, warning] of [
    ['en', 'INSECURE: the debug mode insecure_sealed_secret is on'],
    ['ru', 'НЕБЕЗОПАСНО: включён отладочный режим insecure_sealed_secret'],
  ] as const) {
    const said = login([], lang);
    await said.says(/\/#insecure\.\d{6}\s/);
    assert.match(said.out(), warning);
    said.child.kill('SIGINT');
    await said.ended;
  }
  const json = login(['--json'], 'en');
  const [line] = await json.says(/^\{.*"event":"code".*\}$/m);
  assert.is((JSON.parse(line) as { insecure?: boolean }).insecure, true);
  json.child.kill('SIGINT');
  await json.ended;
  house.child.kill('SIGTERM');
  assert.is(await house.ended, 0);
});

test('without dbus-daemon it says what to install', async () => {
  const none = start(['--data', join(base, 'none')], { PATH: pathWith('node', '/bin/sh') });
  assert.is(await none.ended, 69);
  assert.match(none.out(), /dbus-daemon is missing.*apt-get install dbus-daemon/);
  const russian = start(['--data', join(base, 'none')], {
    PATH: pathWith('node', '/bin/sh'),
    INGLE_LANG: 'ru',
  });
  assert.is(await russian.ended, 69);
  assert.match(russian.out(), /Установите/);
});

test('without bubblewrap it runs, and says what skills from packages miss', async () => {
  const at = ['--data', join(base, 'open'), '--port', String(await freePort('127.0.0.1'))];
  const PATH = pathWith('node', '/bin/sh', '/usr/bin/dbus-daemon');
  const open = start(at, { PATH });
  await open.says(
    /Ingle runs at[\s\S]*bubblewrap.* is missing\. Install it .*apt-get install bubblewrap.* developer on/,
  );
  open.child.kill('SIGTERM');
  assert.is(await open.ended, 0);
  const json = start(['--json', ...at], { PATH });
  await json.says(/"event":"started".*"unconfined":\{"reason":"missing","said":""\}/);
  json.child.kill('SIGTERM');
  assert.is(await json.ended, 0);
});

test('a data folder that cannot be written is told, with the option', async () => {
  const r = start(['--data', '/proc/ingle', '--port', String(port)]);
  assert.is(await r.ended, 64);
  assert.match(r.out(), /\/proc\/ingle cannot be written.*--data/s);
});

test('--help and wrong options answer at once', async () => {
  const help = start(['--help']);
  assert.is(await help.ended, 0);
  for (const o of ['--port', '--data', '--origin', '--api']) assert.match(help.out(), o);
  const cases: [string[], RegExp][] = [
    [['--prot', '1'], /"--prot" is not known/],
    [['--port', '99999'], /1 to 65535/],
    [['--port', '80; rm -rf /'], /1 to 65535/],
    [['--port'], /wants a value/],
    [['--origin', 'http://hub.example.org'], /--origin takes/],
    [['--origin', 'https://hub.example.org/path'], /--origin takes/],
    [['--origin', 'javascript:1'], /--origin takes/],
    [['--origin', 'https://hub.example.org', '--api', 'http://root.example.org'], /--api takes/],
    [['--api', 'https://root.example.org'], /--api needs --origin/],
  ];
  for (const [args, says] of cases) {
    const r = start(args);
    assert.is(await r.ended, 64, args.join(' '));
    assert.match(r.out(), says);
  }
  const json = start(['--port', 'x', '--json']);
  await json.ended;
  assert.is((JSON.parse(json.out()) as { error: string }).error, 'invalid_request');
});

test.run();
