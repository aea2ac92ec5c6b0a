// timeout: 300 s, urgent
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Line, message, openLine } from '../bench/_line.ts';
import {
  bound,
  call,
  heard,
  newAddress,
  newTab,
  type RootProcess,
  signedIn,
  startRoot,
  until,
} from './kit.ts';

const test = suite<{ root: RootProcess }>('flood');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

const MIB = 1024 * 1024;

/** A raw connection; errors of it are what is tested. */
async function raw(
  root: RootProcess,
  namespace = '',
  auth: object = {},
  headers: Record<string, string> = {},
) {
  const line = await openLine(root.port, namespace, auth, { 'x-forwarded-for': newAddress(), ...headers });
  line.tcp.on('error', () => {});
  return line;
}
/** The next event of that name, or the end of the connection. */
const settled = (line: Line, event = 'close') =>
  new Promise<void>((resolve) => {
    line.tcp.once(event, () => resolve());
    line.tcp.once('close', () => resolve());
  });
/** Writes `chunk` as fast as root takes it until it closes. @returns bytes that were taken */
async function pour(line: Line, chunk: Buffer, most = Number.POSITIVE_INFINITY): Promise<number> {
  let sent = 0;
  while (!line.tcp.destroyed && sent < most) {
    sent += chunk.length;
    if (!line.tcp.write(chunk)) await settled(line, 'drain');
  }
  return sent;
}
const gone = (line: Line) => line.tcp.destroyed || settled(line);

/** A hub and a browser with a bound route that answer each other. */
async function pair(root: RootProcess) {
  const { hub, tab, line, owner } = await bound(root);
  let ctr = 0;
  line.on('relay.to_hub', (m) => line.emit('relay.to_browser', m));
  return {
    hub,
    tab,
    line,
    owner,
    /** One round trip through root. */
    async trip() {
      const back = heard(owner, 'relay.to_browser');
      owner.emit('relay.to_hub', { sid: tab.sid, frame: Buffer.alloc(16), ctr: ++ctr });
      await back;
    },
    close() {
      line.close();
      owner.close();
    },
  };
}
/** The raw connection of a signed-in browser with a bound route. */
async function rawOwner(root: RootProcess) {
  const { hub, tab } = await signedIn(root);
  const line = hub.socket();
  await heard(line, 'connect');
  const papers = { cookie: tab.cookie, ...tab.from };
  const owner = await raw(root, '/owner', { token: tab.token, sid: tab.sid }, papers);
  const bound = new Promise<void>((resolve) => {
    owner.onMessage = (_, m) => {
      if (m.includes('"route":"bound"')) resolve();
    };
  });
  owner.text(`42/owner,["owner.online",${JSON.stringify(tab.online())}]`);
  await tab.offer();
  await bound;
  return { hub, tab, line, owner, papers };
}
/** `n` small valid frames of a browser, from counter `from` on. */
function smallFrames(sid: string, from: number, n: number): Buffer {
  return Buffer.concat(
    Array.from({ length: n }, (_, i) => [
      message(
        false,
        Buffer.from(
          `451-/owner,["relay.to_hub",{"sid":"${sid}","frame":{"_placeholder":true,"num":0},"ctr":${from + i}}]`,
        ),
      ),
      message(true, Buffer.alloc(8)),
    ]).flat(),
  );
}
const rss = (root: RootProcess) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${root.pid()}/status`, 'utf8'))![1]) * 1024;

test('a connection nobody signed in on is closed after a handful of packets', async ({ root }) => {
  const x = await pair(root);
  const chunk = Buffer.concat(Array(4096).fill(message(false, Buffer.from('40/x,{}'))));
  const flooders = await Promise.all(Array.from({ length: 8 }, () => raw(root)));
  const poured = flooders.map((f) => pour(f, chunk, 64 * MIB));
  for (let i = 0; i < 20; i++) {
    await x.trip();
    assert.is((await call(root, 'GET', '/health/live')).status, 200);
  }
  for (const sent of await Promise.all(poured))
    assert.ok(sent < 64 * MIB, `root took ${sent} bytes of a flood and did not close`);
  await x.trip();
  x.close();
});

test('what may be said before signing in is little, but enough for a client that tries again', async ({
  root,
}) => {
  const line = await raw(root);
  const answers: string[] = [];
  line.onMessage = (_, m) => void answers.push(m.toString());
  for (let i = 0; i < 6; i++) line.text('40/owner,{}');
  await until(() => answers.length === 6, 'six refusals');
  assert.ok(answers.every((a) => a.includes('unauthenticated') || a.includes('invalid_request')));
  for (let i = 0; i < 6; i++) line.text('40/owner,{}');
  await gone(line);
  const [silent, chatty] = [await raw(root), await raw(root)];
  for (let i = 0; i < 20; i++) chatty.text('3');
  await gone(chatty);
  assert.not(silent.tcp.destroyed, 'it was not the time-out of all that do not sign in');
  silent.tcp.destroy();
});

test('a signed-in browser that floods is closed, kept away for a while, and comes back', async ({ root }) => {
  const x = await pair(root);
  const f = await rawOwner(root);
  let from = 1;
  const flood = (async () => {
    while (!f.owner.tcp.destroyed) {
      await pour(f.owner, smallFrames(f.tab.sid, from, 4096), 1);
      from += 4096;
    }
  })();
  for (let i = 0; i < 20; i++) await x.trip();
  await flood;
  const [refused] = await Promise.allSettled([
    raw(root, '/owner', { token: f.tab.token, sid: f.tab.sid }, f.papers),
  ]);
  assert.is(refused.status, 'rejected');
  assert.match(String((refused as PromiseRejectedResult).reason), /429/);
  await x.trip();
  const back = f.tab.socket();
  await heard(back, 'connect');
  back.close();
  f.line.close();
  x.close();
});

test('full-speed downloads and uploads are no flood', async ({ root }) => {
  const x = await pair(root);
  let [heardAtHub, heardAtBrowser] = [0, 0];
  x.line.removeAllListeners('relay.to_hub');
  x.line.on('relay.to_hub', () => heardAtHub++);
  x.owner.on('relay.to_browser', () => heardAtBrowser++);
  const { sid } = x.tab;
  // 12 MiB in frames of 16 KiB, and as many credits of a few bytes the other way; then the same in reverse. As much is
  // under way as a tunnel lets a few streams have.
  let ctr = 0;
  for (const [up, down] of [[16, 16 * 1024] as const, [16 * 1024, 16] as const])
    for (let i = 0; i < 768; i++) {
      ctr++;
      x.owner.emit('relay.to_hub', { sid, frame: Buffer.alloc(up), ctr });
      x.line.emit('relay.to_browser', { sid, frame: Buffer.alloc(down), ctr });
      if (ctr % 128 === 0) await until(() => heardAtHub === ctr && heardAtBrowser === ctr, 'every frame');
    }
  x.close();
});

test('a hub that floods its browser is closed, and other hubs are heard', async ({ root }) => {
  const x = await pair(root);
  const { hub, tab } = await signedIn(root);
  const auth = { hub_id: hub.hub_id, certificate: hub.certificate, proof: await hub.proof('socket') };
  const line = await raw(root, '/hub', auth, hub.from);
  line.text(`42/hub,["hub.online",${JSON.stringify(hub.online())}]`);
  const one = Buffer.concat([
    message(
      false,
      Buffer.from(
        `451-/hub,["relay.to_browser",{"sid":"${tab.sid}","frame":{"_placeholder":true,"num":0},"ctr":1}]`,
      ),
    ),
    message(true, Buffer.alloc(8)),
  ]);
  const flood = pour(line, Buffer.concat(Array(2048).fill(one)));
  for (let i = 0; i < 20; i++) await x.trip();
  await flood;
  await x.trip();
  x.close();
});

test('readers that stop cost root a bounded amount, and the others go on', async ({ root }) => {
  const x = await pair(root);
  const readers: Line[] = [];
  const hubs: { emit(): void; close(): void }[] = [];
  // Six owners: each may have 20 MiB waiting by itself, all together 48.
  for (let h = 0; h < 6; h++) {
    const { hub, tab } = await signedIn(root);
    const line = hub.socket();
    await heard(line, 'connect');
    const tabs = [tab];
    for (let i = 0; i < 9; i++) {
      const t = await newTab(root, { keys: tab.keys });
      assert.is((await t.login()).status, 200);
      tabs.push(t);
    }
    for (const t of tabs) {
      const owner = await raw(
        root,
        '/owner',
        { token: t.token, sid: t.sid },
        { cookie: t.cookie, ...t.from },
      );
      const bound = new Promise<void>((resolve) => {
        owner.onMessage = (_, m) => {
          if (m.includes('"route":"bound"')) resolve();
        };
      });
      owner.text(`42/owner,["owner.online",${JSON.stringify(t.online())}]`);
      await t.offer();
      await bound;
      owner.tcp.pause();
      readers.push(owner);
    }
    let ctr = 0;
    hubs.push({
      close: () => line.close(),
      emit() {
        ctr++;
        for (const t of tabs)
          line.emit('relay.to_browser', { sid: t.sid, frame: Buffer.alloc(60_000, 1), ctr });
      },
    });
  }
  const before = rss(root);
  let most = 0;
  // 60 readers x 60 frames x 60 kB: 216 MB that nobody takes.
  for (let round = 0; round < 60; round++) {
    for (const h of hubs) h.emit();
    await x.trip();
    most = Math.max(most, rss(root) - before);
  }
  assert.ok(most < 128 * MIB, `root grew by ${Math.round(most / MIB)} MiB`);
  for (const r of readers) r.tcp.destroy();
  for (const h of hubs) h.close();
  await x.trip();
  x.close();
});

test('answers nobody reads do not pile up', async ({ root }) => {
  const f = await rawOwner(root);
  f.owner.tcp.pause();
  const before = rss(root);
  // 4,000 packets a second are allowed; each is answered, and no answer is read.
  const asked = Buffer.concat(
    Array.from({ length: 400 }, (_, i) => message(false, Buffer.from(`42/owner,${i}["nothing"]`))),
  );
  for (let i = 0; i < 40 && !f.owner.tcp.destroyed; i++) {
    f.owner.tcp.write(asked);
    await new Promise((r) => setTimeout(r, 100));
  }
  assert.ok(rss(root) - before < 64 * MIB);
  f.owner.tcp.destroy();
  f.line.close();
});

test('thousands of idle connections nobody signed in on leave room for everybody else', async ({ root }) => {
  const x = await pair(root);
  const idle: Line[] = [];
  for (let i = 0; i < 2500; i += 50)
    idle.push(...(await Promise.all(Array.from({ length: 50 }, () => raw(root)))));
  await until(() => idle.filter((l) => l.tcp.destroyed).length >= 2500 - 2048, 'the oldest to give way');
  assert.not(idle.at(-1)!.tcp.destroyed);
  await x.trip();
  const { tab } = await signedIn(root);
  const owner = tab.socket();
  await heard(owner, 'connect');
  owner.close();
  for (const l of idle) l.tcp.destroy();
  x.close();
});

test('a request that comes a byte at a time is not waited for', async ({ root }) => {
  const x = await pair(root);
  const slow = await Promise.all(
    [
      'POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 4096\r\n\r\n',
      'POST /v1/session HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nContent-Length: 4096\r\n\r\n',
      'GET /v1/session HTTP/1.1\r\nHost: ',
    ].map(async (head) => {
      const tcp = connect(root.port, '127.0.0.1');
      tcp.on('error', () => {});
      await new Promise((r) => tcp.once('connect', r));
      tcp.write(head);
      const drip = setInterval(() => tcp.write('x'), 1000);
      tcp.resume();
      tcp.once('close', () => clearInterval(drip));
      return tcp;
    }),
  );
  await until(() => slow.every((tcp) => tcp.destroyed), 'slow requests to be closed');
  await new Promise((r) => setTimeout(r, 1000));
  assert.ok(root.alive());
  const { headers } = await fetch(`${root.url}/health/live`);
  assert.is.not(headers.get('connection'), 'close', 'others keep their connections');
  await x.trip();
  x.close();
});

test('one address has a bounded number of connections nobody signed in on', async ({ root }) => {
  const from = { 'x-forwarded-for': newAddress() };
  const all = await Promise.allSettled(Array.from({ length: 80 }, () => raw(root, '', {}, from)));
  assert.is(all.filter((r) => r.status === 'fulfilled').length, 64);
  for (const r of all) if (r.status === 'fulfilled') r.value.tcp.destroy();
});
test.run();
