// timeout: 300 s, patient
// Clients that say little, nothing, or half of it, and hold on to what they have.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Line, message, openLine } from '../bench/_line.ts';
import { call, newAddress, newTab, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('silent');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

/** Descriptors root holds. */
const held = (root: RootProcess) => readdirSync(`/proc/${root.pid()}/fd`);
/** How many of these connections root still has a socket for. */
function kept(root: RootProcess, clients: readonly Socket[]): number {
  const ports = new Set(clients.map((c) => c.localPort));
  const port = (address: string) => Number.parseInt(address.split(':')[1]!, 16);
  const rows = readFileSync(`/proc/${root.pid()}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  return rows.filter((row) => {
    const [, local, remote, ...rest] = row.trim().split(/\s+/);
    // The kernel may still say goodbye for a socket that has no owner any more.
    return port(local!) === root.port && ports.has(port(remote!)) && rest[6] !== '0';
  }).length;
}
const upgrade = (query = '', address = newAddress()) =>
  `GET /socket.io/?EIO=4&transport=websocket${query} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`;

/** A connection that has sent `bytes`, and what came back. */
async function sent(root: RootProcess, bytes: string | Buffer): Promise<{ tcp: Socket; said(): string }> {
  const tcp = connect(root.port, '127.0.0.1');
  let said = '';
  tcp.on('error', () => {});
  tcp.on('data', (d) => {
    said += d.toString('latin1');
  });
  await once(tcp, 'connect');
  tcp.write(bytes);
  return { tcp, said: () => said };
}
async function stranger(root: RootProcess, address = newAddress()): Promise<Line> {
  const line = await openLine(root.port, '', {}, { 'x-forwarded-for': address });
  line.tcp.on('error', () => {});
  return line;
}
/** The raw connection of a signed-in browser. */
async function browser(root: RootProcess): Promise<Line> {
  const { tab } = await signedIn(root);
  const papers = { cookie: tab.cookie, ...tab.from };
  const line = await openLine(root.port, '/owner', { token: tab.token, sid: tab.sid }, papers);
  line.tcp.on('error', () => {});
  return line;
}
const gone = (tcp: Socket, what: string) => until(() => tcp.destroyed, `${what} to be closed`);
const slowBody = (address: string, length = 100) =>
  `POST /v1/session HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n{`;

test('a client that says goodbye is let go at once, whether it has signed in or not', async ({ root }) => {
  // Who came earlier and says nothing is let go later.
  const earlier = await stranger(root);
  for (const line of [await stranger(root), await browser(root)]) {
    line.text('1');
    await gone(line.tcp, 'the connection');
  }
  const after = await stranger(root);
  after.text('40/owner,{}');
  after.text('1');
  await gone(after.tcp, 'one whose request is still looked at');
  assert.not(earlier.tcp.destroyed);
  earlier.tcp.destroy();
  assert.ok(root.alive());
});

test('whoever says nothing more, at whatever point, is let go, and nothing of it stays', async ({ root }) => {
  const lines = await Promise.all([stranger(root), browser(root), browser(root)]);
  const silent = await Promise.all([
    sent(root, ''),
    sent(root, 'GET /v1/session HTTP/1.1\r\nHo'),
    sent(root, upgrade().slice(0, 90)),
    sent(root, slowBody(newAddress())),
    sent(root, 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'),
    sent(root, upgrade()),
  ]);
  // As a phone whose network has gone: it reads nothing, answers no ping, and never says that it left.
  const all = [...lines, ...silent].map(({ tcp }) => tcp);
  for (const tcp of all) tcp.pause();
  await until(() => kept(root, all) === all.length, 'root to hold all of them');
  await until(() => kept(root, all) === 0, 'root to hold none of them');
  for (const tcp of all) tcp.destroy();
});

test('pings of WebSocket count like anything else that is sent', async ({ root }) => {
  const ping = Buffer.from([0x89, 0x84, 0, 0, 0, 0, 1, 2, 3, 4]);
  const quiet = await stranger(root);
  const loud = await stranger(root);
  for (let i = 0; i < 4; i++) loud.tcp.write(ping);
  const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
  for (let i = 0; i < 8; i++) loud.tcp.write(pong);
  await gone(loud.tcp, 'a stranger who pings');
  assert.not(quiet.tcp.destroyed);
  const owner = await browser(root);
  for (let i = 0; i < 16; i++) owner.tcp.write(Buffer.concat(Array(1024).fill(ping)));
  await gone(owner.tcp, 'a browser that floods with pings');
  quiet.tcp.destroy();
});

test('a message that never ends is cut off', async ({ root }) => {
  const line = await stranger(root);
  const first = message(false, Buffer.alloc(8192, 0x34));
  first[0] = 0x01;
  const more = message(false, Buffer.alloc(8192, 0x34));
  more[0] = 0x00;
  line.tcp.write(Buffer.concat([first, ...Array(32).fill(more)]));
  await gone(line.tcp, 'a message of 264 KiB in pieces');
  assert.ok(root.alive());
});

test('no connection takes the place of another', async ({ root }) => {
  const first = await sent(root, upgrade());
  await until(() => first.said().includes('"sid":"'), 'a connection');
  const sid = /"sid":"([^"]+)"/.exec(first.said())![1];
  const second = await sent(root, upgrade(`&sid=${sid}`));
  await gone(second.tcp, 'the second');
  assert.match(second.said(), /^HTTP\/1\.1 400 /);
  assert.not(first.tcp.destroyed);
  first.tcp.destroy();
});

test('heads with too many or too large headers are refused, and others are answered', async ({ root }) => {
  const line = (i: number, size: number) => `x-${i}: ${'x'.repeat(size)}\r\n`;
  for (const headers of [
    Array.from({ length: 2000 }, (_, i) => line(i, 1)).join(''),
    line(0, 100_000),
    Array.from({ length: 40 }, (_, i) => line(i, 4000)).join(''),
  ]) {
    const { tcp, said } = await sent(root, `GET /health/live HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
    await gone(tcp, 'the connection');
    assert.not.match(said(), /^HTTP\/1\.1 200 /);
  }
  assert.is((await call(root, 'GET', '/health/live')).status, 200);
});

test('one network has a bounded number of connections nobody signed in on, and others come in', async ({
  root,
}) => {
  const ask = (i: number) => stranger(root, `198.51.100.${i % 250}`);
  const all = await Promise.allSettled(Array.from({ length: 300 }, (_, i) => ask(i)));
  const came = all.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : []));
  assert.is(came.length, 256);
  const other = await stranger(root, '198.51.101.1');
  // Where some leave, others may come.
  for (const l of came) l.tcp.destroy();
  await until(async () => {
    const again = await ask(1).catch(() => undefined);
    again?.tcp.destroy();
    return again !== undefined;
  }, 'the network to have room again');
  other.tcp.destroy();
});

test('bodies under way are bounded for a client, and what was answered before its end is none', async ({
  root,
}) => {
  const mine = newAddress();
  // Answered from their heads on: of another site, or too large.
  const refused: Socket[] = [];
  for (let i = 0; i < 70; i++) {
    const head = slowBody(mine, 100_000).replace('\r\n\r\n', '\r\nOrigin: https://evil.example\r\n\r\n');
    const { tcp, said } = await sent(root, head);
    refused.push(tcp);
    await until(() => /^HTTP\/1\.1 403 /.test(said()), 'the answer before the end of the body');
  }
  const slow: Socket[] = [];
  for (let i = 0; i < 64; i++) slow.push((await sent(root, slowBody(mine))).tcp);
  const over = await sent(root, slowBody(mine));
  await gone(over.tcp, 'one body more');
  assert.match(over.said(), /^HTTP\/1\.1 429 /);
  assert.match(over.said(), /retry-after: 1/i);
  assert.not(slow[0]!.destroyed);
  await newTab(root);
  for (const tcp of [...refused, ...slow]) tcp.destroy();
  const again = () => call(root, 'POST', '/v1/session', {}, { 'x-forwarded-for': mine, origin: root.origin });
  await until(async () => (await again()).status === 200, 'places to be free again');
});

test('with no descriptor left root lives, and answers again when some are', async () => {
  const root = await startRoot();
  // Its start opens more than it needs to run.
  execFileSync('prlimit', ['--pid', String(root.pid()), `--nofile=${held(root).length + 40}`]);
  const all = await Promise.all(Array.from({ length: 150 }, () => sent(root, '')));
  for (const { tcp } of all) tcp.destroy();
  await until(
    async () => (await call(root, 'GET', '/health/ready').catch(() => undefined))?.status === 200,
    'root to answer',
  );
  assert.ok(root.alive());
  await root.stop();
});

test.run();
