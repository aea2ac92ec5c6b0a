// The lines between processes of root: who may have one, and what ends it.
import { connect as dial } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newNode } from '../../root/cluster/node.ts';
import { type Line, openPeers, type Peers } from '../../root/cluster/peers.ts';
import { frameHead, say } from '../../root/cluster/wire.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { until } from '../lab/wait.ts';

const test = suite('lines between nodes');
const KEY = Buffer.alloc(32, 7);
const open: Peers[] = [];
test.after.each(() => {
  for (const p of open.splice(0)) p.close();
});

/** A node that keeps what it hears. */
async function node(key = KEY) {
  const port = await freePort('127.0.0.1');
  const me = newNode(`127.0.0.1:${port}`);
  const heard = { said: [] as object[], frames: [] as string[], lost: 0, lines: new Set<Line>() };
  const handlers = {
    said(line: Line, body: object) {
      heard.lines.add(line);
      heard.said.push(body);
    },
    framed: (_: Line, end: number, ctr: number, frame: Uint8Array) =>
      void heard.frames.push(`${end} ${ctr} ${Buffer.from(frame)}`),
    lost: () => void heard.lost++,
  };
  const peers = await openPeers({
    node: me,
    listen: { host: '127.0.0.1', port },
    key,
    confirmed() {},
    from: handlers,
    to: handlers,
  });
  open.push(peers);
  return { me, port, peers, heard };
}

/** Somebody who speaks TLS to a node with this key. @returns once it is through, or refused */
function stranger(port: number, key: Buffer, identity = 'ingle-root'): Promise<TLSSocket | null> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({
      ...{ host: '127.0.0.1', port, maxVersion: 'TLSv1.2' as const },
      ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
      pskCallback: () => ({ identity, psk: key }),
      checkServerIdentity: () => undefined,
    });
    socket.on('error', () => {});
    socket.once('secureConnect', () => resolve(socket));
    socket.once('close', () => resolve(null));
  });
}
const ended = (socket: { destroyed: boolean }) => until(() => socket.destroyed, 'the line to be cut');

test('what is said and framed arrives in order, both ways', async () => {
  const [a, b] = [await node(), await node()];
  a.peers.keep([b.me.me]);
  const line = await a.peers.lineTo(b.me.me.id);
  line.say({ n: 1 });
  line.frame(3, 5, Buffer.from('x'));
  line.say({ n: 2 });
  await until(() => b.heard.said.length === 2);
  assert.equal(b.heard.said, [{ n: 1 }, { n: 2 }]);
  assert.equal(b.heard.frames, ['3 5 x']);
  for (const back of b.heard.lines) back.say({ n: 3 });
  await until(() => a.heard.said.length === 1);
  a.peers.keep([]);
  await until(() => a.heard.lost === 1 && b.heard.lost === 1, 'both to lose the line');
  assert.is(await a.peers.lineTo(b.me.me.id).catch((e) => e.code), 'unavailable');
});

test('nobody without the key has a line, and none is had to one without it', async () => {
  const [a, evil] = [await node(), await node(Buffer.alloc(32, 8))];
  assert.is(await stranger(a.port, Buffer.alloc(32, 8)), null);
  assert.is(await stranger(a.port, KEY, 'somebody'), null);
  a.peers.keep([evil.me.me]);
  assert.is(await a.peers.lineTo(evil.me.me.id).catch((e) => e.code), 'unavailable');
  assert.equal([a.heard.said, evil.heard.said, a.heard.lost], [[], [], 0]);
});

test('whoever wants another node, or says what is no message, is cut, and others are not', async () => {
  const [a, b] = [await node(), await node()];
  b.peers.keep([a.me.me]);
  const good = await b.peers.lineTo(a.me.me.id);
  const hello = say({ hello: 'me', to: a.me.me.id });
  for (const bytes of [
    say({ hello: 'me', to: 'another node' }),
    say('hello'),
    say({ n: 1 }),
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.concat([hello, Buffer.from('ffffffff00', 'hex')]),
    Buffer.concat([hello, Buffer.from('00000003007bff', 'hex')]),
  ]) {
    const socket = (await stranger(a.port, KEY))!;
    socket.resume();
    socket.write(bytes);
    await ended(socket);
  }
  // A frame before hello goes nowhere, and of an end that nobody opened neither.
  const socket = (await stranger(a.port, KEY))!;
  socket.resume();
  socket.write(Buffer.concat([frameHead(1, 1, 1), Buffer.from('x'), hello]));
  good.say({ n: 4 });
  await until(() => a.heard.said.length === 1);
  assert.equal([a.heard.said, a.heard.frames], [[{ n: 4 }], []]);
  socket.destroy();
});

test('who is silent before or after hello is cut, also one that never speaks TLS', async () => {
  const a = await node();
  const raw = dial(a.port, '127.0.0.1');
  raw.on('error', () => {});
  const before = (await stranger(a.port, KEY))!;
  const after = (await stranger(a.port, KEY))!;
  after.write(say({ hello: 'me', to: a.me.me.id }));
  for (const s of [before, after, raw]) s.resume();
  await Promise.all([ended(before), ended(after), ended(raw)]);
  assert.is(a.heard.lost, 1);
});

test.run();
