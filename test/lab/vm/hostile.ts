// A skill that its author made to harm the hub: each of its paths tries one way out of its sandbox and tells what it got.

/** Runs in the skill's process: only Node is there. */
const code = `
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';

const home = process.env.STATE_DIRECTORY;
const tried = (f) => { try { const got = f(); return got === undefined ? 'done' : String(got).slice(0, 80); } catch (e) { return undefined; } };
const all = (ways) => Object.fromEntries(Object.entries(ways).map(([k, f]) => [k, tried(f)]).filter(([, got]) => got !== undefined));

const files = () => {
  const read = ['/var/lib/ingle/api/token', '/etc/shadow', '/proc/1/environ', '/run/ingle/setup/status'];
  const list = ['/var/lib/ingle/api', '/var/lib/ingle/uplink', '/var/lib/ingle/skill-1', '/var/lib/ingle/wifi', '/tmp', '/var/tmp', '/dev/shm', '/home', '/root'];
  const write = ['/var/lib/ingle/x', '/usr/x', '/etc/x', '/run/x', '/run/lock/x', '/dev/shm/x', '/tmp/x', '/var/tmp/x', '/proc/sys/kernel/hostname'];
  return all({
    ...Object.fromEntries(read.map((f) => ['read ' + f, () => readFileSync(f, 'utf8')])),
    ...Object.fromEntries(list.map((f) => ['list ' + f, () => readdirSync(f)])),
    ...Object.fromEntries(write.map((f) => ['write ' + f, () => writeFileSync(f, 'x')])),
    // Processes of others, their words and their memory.
    processes: () => { const other = readdirSync('/proc').filter((p) => /^[0-9]+$/.test(p) && Number(p) !== process.pid); if (other.length === 0) throw 0; return other; },
    mount: () => execFileSync('/usr/bin/mount', ['-t', 'tmpfs', 'x', '/mnt'], { stdio: 'ignore' }),
    unshare: () => execFileSync('/usr/bin/unshare', ['-Ur', 'true'], { stdio: 'ignore' }),
    kill: () => process.kill(1, 9),
  });
};

const bus = () => {
  const call = (...words) => () => execFileSync('/usr/bin/busctl', ['--system', '--timeout=5', 'call', ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const own = (name) => ['io.ingle.' + name, '/io/ingle/' + name, 'io.ingle.' + name];
  return all({
    'stop the api': call('org.freedesktop.systemd1', '/org/freedesktop/systemd1', 'org.freedesktop.systemd1.Manager', 'StopUnit', 'ss', 'ingle-api.service', 'replace'),
    'a pairing code': call(...own('Uplink1'), 'IssueCode', 'b', 'true'),
    'the browsers': call(...own('Uplink1'), 'ListBrowsers'),
    'restart setup': call(...own('Setup1'), 'Restart', 's', ''),
    'the networks': call(...own('Wifi1'), 'Status'),
    'another skill': call('io.ingle.Skill1.slot1', '/io/ingle/Skill1', 'io.ingle.Skill1', 'Describe'),
    'reboot': call('org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager', 'Reboot', 'b', 'false'),
    'an update': call('de.pengutronix.rauc', '/', 'de.pengutronix.rauc.Installer', 'Install', 's', '/x'),
    'a name of the hub': call('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'RequestName', 'su', 'io.ingle.Wifi1', '4'),
    'what others say': call('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus.Monitoring', 'BecomeMonitor', 'asu', '0', '0'),
  });
};

const net = async () => {
  const tcp = (port, host) => new Promise((done) => {
    try { const s = connect({ port, host, timeout: 3000 }); s.on('connect', () => done('connected')); for (const e of ['error', 'timeout']) s.on(e, () => done(undefined)); } catch { done(undefined); }
  });
  const udp = () => new Promise((done) => {
    try { const s = createSocket('udp4'); s.on('error', () => done(undefined)); s.send('x', 53, '10.0.2.3', (e) => done(e ? undefined : 'sent')); } catch { done(undefined); }
  });
  const got = {
    'the local API': await tcp(8777, '127.0.0.1'),
    'the router': await tcp(53, '10.0.2.3'),
    'a datagram': await udp(),
    'a name': await lookup('example.org').then((a) => a.address, () => undefined),
    'the resolver': await new Promise((done) => { const s = connect('/run/systemd/resolve/io.systemd.Resolve'); s.on('connect', () => done('connected')); s.on('error', () => done(undefined)); }),
  };
  return Object.fromEntries(Object.entries(got).filter(([, v]) => v !== undefined));
};

const forks = () => new Promise((done) => {
  const children = [];
  let ran = 0;
  for (let i = 0; i < 48; i++) {
    const c = spawn('/usr/bin/sleep', ['60'], { stdio: 'ignore' });
    c.on('error', () => {});
    if (c.pid) { ran++; children.push(c); }
  }
  setTimeout(() => { for (const c of children) c.kill('SIGKILL'); done({ ran }); }, 200);
});

const disk = () => {
  const at = home + '/flood';
  mkdirSync(at, { recursive: true });
  let bytes = 0, files = 0, why = 0;
  const mib = Buffer.alloc(2 ** 20, 1);
  try { for (; bytes < 200; bytes++) writeFileSync(at + '/big' + bytes, mib); } catch (e) { why = e.errno; }
  rmSync(at, { recursive: true });
  mkdirSync(at);
  let whyFiles = 0;
  try { for (; files < 5000; files++) writeFileSync(at + '/' + files, ''); } catch (e) { whyFiles = e.errno; }
  rmSync(at, { recursive: true });
  return { mib: bytes, why, files, whyFiles };
};

let held = [];
const memory = () => { for (let i = 0; i < 1024; i++) held.push(Buffer.alloc(2 ** 20, i)); return { mib: held.length }; };

const at = (path, f) => ({ method: 'POST', path: '/v1/' + path, async answer() { return { body: await f() }; } });
// What takes a slow device longer than a request may take: begun by one, told by another.
const later = (path, f) => {
  let said = null;
  return [
    at(path, () => { said = null; setTimeout(async () => { said = await f(); }); return {}; }),
    at(path + '/said', () => ({ said })),
  ];
};
export const skill = { start: () => ({ endpoints: [
  at('files', files), at('bus', bus), at('net', net), ...later('forks', forks), ...later('disk', disk), at('memory', memory),
  at('loop', () => { for (;;); }), at('never', () => new Promise(() => {})), at('huge', () => 'x'.repeat(2 ** 28)), at('well', () => ({ well: true })),
] }) };`;
export const hostile = code.trim();
