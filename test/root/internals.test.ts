// What root uses of Socket.IO and Engine.IO beyond their documented interface: frames.ts writes packets past them,
// gate.ts stands before their parser, sockets.ts takes a socket's handshake away and routes its events itself.

import { App, us_listen_socket_close } from 'uWebSockets.js';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Server as Io, Server, type Socket as ServerSocket } from 'socket.io';
import { io as connect, type Socket } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openBacklog } from '../../root/backlog.ts';
import { sendFrame } from '../../root/frames.ts';
import { slimmer } from '../../root/slim.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { until, within } from '../lab/wait.ts';

/**
 * The versions these internals were read in. When one of them moves: read its `userver.js`, `transports-uws/websocket.js`,
 * `socket.js` and `client.js` again, run the suites of root, then change the number here.
 */
const checked = {
  'socket.io': '4.8.4',
  'socket.io-parser': '4.2.7',
  'engine.io': '6.6.11',
  'uWebSockets.js': '20.0.8',
};

const test = suite('internals');
let io: Io;
let url = '';
let close = () => {};
const clients: Socket[] = [];

test.before(async () => {
  const app = App();
  // As root/server.ts has it.
  io = new Server({ serveClient: false, transports: ['websocket'], perMessageDeflate: false });
  io.attachApp(app);
  const port = await freePort('127.0.0.1');
  const listening = await new Promise<unknown>((resolve) => app.listen('127.0.0.1', port, resolve));
  url = `http://127.0.0.1:${port}`;
  close = () => {
    us_listen_socket_close(listening as Parameters<typeof us_listen_socket_close>[0]);
    io.engine.close();
    app.close();
  };
});
test.after(() => {
  for (const c of clients) c.disconnect();
  close();
});

/** Both ends of a connection to a namespace. */
async function pair(space: string): Promise<{ client: Socket; server: ServerSocket }> {
  const arrived = once(io.of(space), 'connection') as Promise<[ServerSocket]>;
  const client = connect(url + space, { transports: ['websocket'], forceNew: true, reconnection: false });
  clients.push(client);
  const [server] = await within(arrived, `a socket on ${space}`);
  if (!client.connected) await within(once(client as never, 'connect'), 'the connection');
  return { client, server };
}

/** The next messages of the WebSocket under a client, as they came: text, or bytes as hexadecimal digits. */
function heard(client: Socket, count: number): Promise<string[]> {
  const { ws } = (client.io.engine as unknown as { transport: { ws: WebSocket } }).transport;
  const all: string[] = [];
  const some = new Promise<string[]>((resolve) => {
    ws.addEventListener('message', ({ data }) => {
      all.push(typeof data === 'string' ? data : Buffer.from(data as ArrayBuffer).toString('hex'));
      if (all.length === count) resolve(all);
    });
  });
  return within(some, `${count} messages`);
}

test('the versions are those the internals were checked with', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  for (const [name, version] of Object.entries(checked)) {
    const file = `node_modules/${name}/package.json`;
    assert.is(JSON.parse(readFileSync(file, 'utf8')).version, version, `${name} as installed`);
    assert.is(lock[`node_modules/${name}`].version, version, `${name} as locked`);
    // A second copy would be the one in use somewhere.
    const copies = Object.keys(lock).filter((p) => p.endsWith(`/node_modules/${name}`));
    assert.equal(copies, [], name);
  }
});

test('a frame is, byte for byte, what Socket.IO itself sends', async () => {
  const backlog = openBacklog();
  for (const [side, event] of [
    ['hub', 'relay.to_hub'],
    ['browser', 'relay.to_browser'],
  ] as const) {
    const { client, server } = await pair(side === 'hub' ? '/hub' : '/owner');
    const frame = Uint8Array.from({ length: 300 }, (_, i) => i);
    const got = heard(client, 4);
    server.emit(event, { sid: 'abc_-9', frame: Buffer.from(frame), ctr: 4_294_967_296 });
    assert.ok(sendFrame(backlog, server, side, 'abc_-9', 4_294_967_296, frame));
    const [head, bytes, ...ours] = await got;
    assert.match(head!, /^451-\/(hub|owner),\["relay/);
    assert.is(bytes, Buffer.from(frame).toString('hex'));
    assert.equal(ours, [head, bytes], 'what sendFrame wrote');
  }
});

test('under a socket lies the WebSocket with what root calls, and packets pass onData', async () => {
  const { client, server } = await pair('/owner');
  const { transport } = server.conn as unknown as { transport: Record<string, unknown> };
  const ws = transport['socket'] as Record<string, (...a: unknown[]) => unknown>;
  for (const name of ['send', 'cork', 'getBufferedAmount', 'close', 'getUserData'])
    assert.type(ws[name], 'function', name);
  assert.ok((ws['getUserData']!() as { transport: unknown }).transport === transport);
  assert.type(ws['getBufferedAmount']!(), 'number');
  const passed: unknown[] = [];
  const onData = transport['onData'] as (data: unknown) => void;
  transport['onData'] = (data: unknown) => {
    passed.push(data);
    onData.call(transport, data);
  };
  const event = once(server as never, 'ask');
  client.emit('ask', 1);
  assert.equal(await within(event, 'the event'), [1]);
  assert.equal(passed, ['42/owner,["ask",1]']);
});

test('a slim socket keeps no handshake, and its events with their reply come to the one dispatch', async () => {
  const { client, server } = await pair('/hub');
  const kept = server as unknown as { conn: { request: unknown }; dispatch: unknown; handshake: object };
  assert.type(kept.dispatch, 'function');
  assert.ok(kept.conn.request, 'there is a request to let go of');
  assert.ok('headers' in kept.handshake);
  const seen: unknown[][] = [];
  let ended: ServerSocket | undefined;
  const slim = slimmer(
    function (this: ServerSocket, args: unknown[]) {
      assert.ok(this === server);
      seen.push(args);
      (args.at(-1) as (answer: string) => void)('done');
    },
    function (this: ServerSocket) {
      ended = this;
    },
  );
  assert.ok(slim(server));
  assert.is(kept.conn.request, undefined);
  assert.equal(Object.keys(kept.handshake), []);
  const listened: unknown[] = [];
  server.on('ask', (...args) => listened.push(args));
  assert.is(await within(client.emitWithAck('ask', { a: 1 }), 'the answer'), 'done');
  assert.equal([seen.length, seen[0]!.slice(0, 2)], [1, ['ask', { a: 1 }]]);
  assert.equal(listened, [], 'Socket.IO routes nothing itself');
  // Leaving asks for nothing that is gone.
  client.disconnect();
  await until(() => ended === server, 'the end');
});

test.run();
