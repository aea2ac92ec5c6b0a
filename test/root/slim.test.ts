// A slim connection does what Socket.IO's own does: the same messages give the same events and the same ends, whatever
// comes in whatever pieces, and nothing of it is left when it has ended.
import { App, us_listen_socket_close } from 'uWebSockets.js';
import { once } from 'node:events';
import fc from 'fast-check';
import { type Server as Io, Server, type Socket as ServerSocket } from 'socket.io';
import { io as connect, type Socket } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket from 'ws';
import { slimmer, withoutRooms } from '../../root/slim.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { until, within } from '../lab/wait.ts';

const test = suite('slim');
/** What was heard on a socket: events, answers to what it asked, and its end. */
type Heard = unknown[];
const heard = new Map<string, Heard>();
const ends = new Map<ServerSocket, number>();
const servers = new Map<string, ServerSocket>();
const unslim: boolean[] = [];
let [io, url, close, pings]: [Io | undefined, string, () => void, number] = [undefined, '', () => {}, 0];

/** Bytes are valid for as long as an event is heard. */
const copy = (said: unknown): unknown =>
  JSON.parse(
    JSON.stringify(said, (_, v) =>
      v?.type === 'Buffer' || v instanceof Uint8Array || v instanceof ArrayBuffer
        ? { bytes: Buffer.from(v.data ?? v).toString('hex') }
        : v,
    ),
  );
const nameOf = (s: ServerSocket) => (s.handshake.auth as { name: string }).name;

function serve(server: Io, space: string): void {
  const space_ = server.of(space);
  if (space === '/slim') withoutRooms(space_);
  const names = new Map<ServerSocket, string>();
  function take(s: ServerSocket, args: unknown[]): void {
    const reply = typeof args.at(-1) === 'function' ? (args.pop() as (a: unknown) => void) : undefined;
    heard.get(names.get(s)!)!.push(copy(args));
    reply?.({ got: args.length });
  }
  function gone(s: ServerSocket): void {
    ends.set(s, (ends.get(s) ?? 0) + 1);
    heard.get(names.get(s)!)!.push('the end');
  }
  const slim = slimmer(
    function (this: ServerSocket, args) {
      take(this, args);
    },
    function (this: ServerSocket) {
      gone(this);
    },
  );
  space_.on('connection', (s) => {
    const name = nameOf(s);
    names.set(s, name);
    heard.set(name, []);
    servers.set(name, s);
    if (space === '/slim') {
      if (!slim(s)) unslim.push(false);
    } else {
      s.onAny((...args) => take(s, args));
      s.on('disconnect', () => gone(s));
    }
  });
}

test.before(async () => {
  const app = App();
  io = new Server({
    ...{ serveClient: false, transports: ['websocket'], perMessageDeflate: false },
    ...{ pingInterval: 100, pingTimeout: 2000 },
  });
  io.attachApp(app);
  serve(io, '/slim');
  serve(io, '/plain');
  const port = await freePort('127.0.0.1');
  const listening = await new Promise<unknown>((resolve) => app.listen('127.0.0.1', port, resolve));
  url = `127.0.0.1:${port}`;
  close = () => {
    us_listen_socket_close(listening as Parameters<typeof us_listen_socket_close>[0]);
    io!.engine.close();
    app.close();
  };
});
test.after(() => close());

let last = 0;
/** A WebSocket that a namespace has let in. */
async function raw(space: string, frozen = false): Promise<{ ws: WebSocket; name: string; got: string[] }> {
  const name = `${space}${++last}`;
  const ws = new WebSocket(`ws://${url}/socket.io/?EIO=4&transport=websocket`);
  const got: string[] = [];
  let isIn = () => {};
  const let_in = new Promise<void>((resolve) => {
    isIn = resolve;
  });
  ws.on('message', (data) => {
    const text = String(data);
    if (text === '2') {
      pings++;
      if (!frozen) ws.send('3');
      return;
    }
    if (text.startsWith('0{')) ws.send(`40${space},${JSON.stringify({ name })}`);
    else if (text.startsWith(`40${space},`)) isIn();
    else got.push(text);
  });
  ws.on('error', () => {});
  await within(let_in, 'the namespace');
  return { ws, name, got };
}
const counts = () => ({
  engine: io!.engine.clientsCount,
  clients: Object.keys((io!.engine as unknown as { clients: object }).clients).length,
  sockets: io!.of('/slim').sockets.size + io!.of('/plain').sockets.size,
  rooms: io!.of('/slim').adapter.rooms.size,
});
const nobody = { engine: 0, clients: 0, sockets: 0, rooms: 0 };
const empty = () => until(() => JSON.stringify(counts()) === JSON.stringify(nobody), 'all to be gone');

test('connections are kept by pings, and one that answers none is closed', async () => {
  const [awake, frozen] = [await raw('/slim'), await raw('/slim', true)];
  await until(() => heard.get(frozen.name)!.includes('the end'), 'the frozen one to be closed');
  pings = 0;
  await until(() => pings >= 3, 'three more pings');
  assert.equal(heard.get(awake.name), []);
  awake.ws.terminate();
  await empty();
});

test('questions to a client are answered, late ones told, and none is kept after that', async () => {
  const c: Socket = connect(`http://${url}/slim`, {
    ...{ transports: ['websocket'], forceNew: true, reconnection: false, auth: { name: 'asked' } },
  });
  await within(once(c as never, 'connect'), 'the connection');
  const s = servers.get('asked')!;
  const kept = () => (s as unknown as { acks: Map<number, unknown> }).acks.size;
  c.on('add', (a: number, reply: (n: number) => void) => reply(a + 1));
  const some = Array.from({ length: 50 }, (_, i) => s.timeout(20_000).emitWithAck('add', i));
  assert.is(kept(), 50);
  assert.equal(
    await within(Promise.all(some), 'fifty answers'),
    [...Array(50).keys()].map((i) => i + 1),
  );
  assert.is(kept(), 0);
  await assert_late(s.timeout(50).emitWithAck('unheard'));
  assert.is(kept(), 0);
  // What another client says to it is no answer.
  const other = await raw('/slim');
  const mine = s.timeout(20_000).emitWithAck('add', 1);
  const [id] = (s as unknown as { acks: Map<number, unknown> }).acks.keys();
  other.ws.send(`43/slim,${id}[0]`);
  assert.is(await within(mine, 'its own answer'), 2);
  const acksOf = (one: ServerSocket) => (one as unknown as { acks: object }).acks;
  assert.ok(acksOf(s) === acksOf(servers.get(other.name)!), 'at rest all have the same');
  other.ws.close();
  assert.equal(await within(c.emitWithAck('mine', 1, Buffer.from([1, 2])), 'its answer'), { got: 3 });
  assert.equal(heard.get('asked'), [['mine', 1, { bytes: '0102' }]]);
  c.disconnect();
  await empty();
});
async function assert_late(asked: Promise<unknown>): Promise<void> {
  let said = '';
  await within(asked, 'the end of its time').catch((e: Error) => {
    said = e.message;
  });
  assert.match(said, 'timed out');
}

test('however it ends, it ends once and nothing is left', async () => {
  const ways: Record<string, (s: ServerSocket, ws: WebSocket) => void> = {
    'the client leaves the namespace': (_, ws) => ws.send('41/slim,'),
    'the client closes': (_, ws) => ws.close(),
    'the network goes': (_, ws) => ws.terminate(),
    'root sends it away': (s) => s.disconnect(),
    'root sends it away and closes': (s) => s.disconnect(true),
    'root closes': (s) => void s.conn.close(),
    'root closes twice': (s) => {
      s.conn.close();
      s.conn.close();
    },
    'root closes while it goes': (s, ws) => {
      ws.terminate();
      s.disconnect(true);
    },
    'no packet': (_, ws) => ws.send('4nonsense'),
    'bytes nobody announced': (_, ws) => ws.send(Buffer.from([1])),
    'bytes missing': (_, ws) => {
      ws.send('451-/slim,["a",{"_placeholder":true,"num":0}]');
      ws.terminate();
    },
    'text in place of bytes': (_, ws) => {
      ws.send('451-/slim,["a",{"_placeholder":true,"num":0}]');
      ws.send('42/slim,["b"]');
    },
    'the namespace again': (_, ws) => ws.send('40/slim,{"name":"again"}'),
    'another namespace': (_, ws) => ws.send('40/plain,{"name":"other"}'),
    'an event of another namespace': (_, ws) => ws.send('42/plain,["a"]'),
  };
  const leaving = ['the client leaves the namespace', 'root sends it away'];
  for (const [what, end] of Object.entries(ways)) {
    const { ws, name } = await raw('/slim');
    const s = servers.get(name)!;
    end(s, ws);
    await until(() => heard.get(name)!.includes('the end'), what);
    // Leaving a namespace leaves the connection; root's own sides close it then.
    if (leaving.includes(what)) ws.terminate();
    await empty();
    (s.conn as unknown as { write(text: string): void }).write('said into the void');
    s.emit('too late');
    assert.is(ends.get(s), 1, what);
    assert.equal(
      heard.get(name)!.filter((e) => e !== 'the end'),
      [],
      what,
    );
  }
});

test('two requests for the namespace at once leave nobody behind', async () => {
  // Both are let in before either is slim.
  const wait: (() => void)[] = [];
  io!.of('/slim').use((s, go) => {
    if (nameOf(s).startsWith('twice')) wait.push(go);
    else go();
  });
  const ws = new WebSocket(`ws://${url}/socket.io/?EIO=4&transport=websocket`);
  ws.on('error', () => {});
  ws.on('message', (data) => {
    if (String(data) === '2') ws.send('3');
    if (!String(data).startsWith('0{')) return;
    ws.send('40/slim,{"name":"twice1"}');
    ws.send('40/slim,{"name":"twice2"}');
  });
  await until(() => wait.length === 2, 'both requests');
  for (const go of wait) go();
  await within(once(ws, 'close'), 'the connection to be closed');
  await empty();
  assert.is(unslim.length, 1);
  assert.equal(heard.get('twice1'), ['the end']);
});

/** What a client may send after it was let in; `space` stands where the namespace goes. */
const events = fc.oneof(
  fc.json({ maxDepth: 2 }).map((j) => [`42space,["e",${j}]`]),
  fc.json({ maxDepth: 1 }).map((j) => [`42space,7["e",${j}]`]),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat({ max: 9 }))
    .map(([b, n]) => [`451-space,["f",{"_placeholder":true,"num":0},${n}]`, Buffer.from(b)]),
  fc
    .tuple(fc.uint8Array({ minLength: 1 }), fc.uint8Array({ minLength: 1 }))
    .map(([a, b]) => [
      '452-space,3["g",{"a":{"_placeholder":true,"num":1}},{"_placeholder":true,"num":0}]',
      Buffer.from(a),
      Buffer.from(b),
    ]),
  fc.constantFrom(['3'], ['43space,99[]'], ['43space,1[1,2]'], ['42space,[""]'], ['42space,["e"]']),
);
const wrong = fc.constantFrom<(string | Buffer)[]>(
  ...[['4'], ['49'], ['42space,'], ['42space,{}'], ['42space,["disconnect"]'], ['44space,"no"']],
  ...[['451-space,["f",{"_placeholder":true,"num":5}]', Buffer.from([1])], ['459999-space,["f"]']],
  ...[['42/nowhere,["e"]'], ['2'], ['zzz'], [Buffer.from([4, 2])], ['41space,']],
);
const course = fc.tuple(fc.array(events, { maxLength: 6 }), fc.option(wrong, { freq: 2, nil: [] }));

test('what comes is heard as Socket.IO itself hears it, in pieces between those of others', async () => {
  await fc.assert(
    fc.asyncProperty(course, course, fc.infiniteStream(fc.boolean()), async (a, b, turns) => {
      const sides = await Promise.all(['/slim', '/slim', '/plain', '/plain'].map((space) => raw(space)));
      const said = [a, b, a, b].map(([good, bad]) => [...good.flat(), ...bad]);
      // The two slim ones take turns, as what one has begun is another's when a decoder is shared.
      const [one, two] = [said[0]!.length, said[1]!.length];
      for (let i = 0, j = 0; i < one || j < two; )
        for (const k of (i < one && turns.next().value) || j >= two ? [0, 2] : [1, 3]) {
          const at = k === 0 || k === 2 ? i : j;
          const piece = said[k]![at]!;
          const space = k < 2 ? '/slim' : '/plain';
          sides[k]!.ws.send(typeof piece === 'string' ? piece.replace('space', space) : piece);
          if (k === 2) i++;
          if (k === 3) j++;
        }
      for (const [k, { ws }] of sides.entries())
        if (ws.readyState === WebSocket.OPEN) ws.send(`42${k < 2 ? '/slim' : '/plain'},["last"]`);
      const isOver = (name: string) =>
        heard.get(name)!.some((e) => e === 'the end' || JSON.stringify(e) === '["last"]');
      await until(() => sides.every(({ name }) => isOver(name)), 'all that was sent');
      for (const { ws } of sides) ws.close();
      await empty();
      const [slim1, slim2, plain1, plain2] = sides.map(({ name, got }) => ({
        heard: heard.get(name),
        answers: got.map((t) => t.replace(/\/(slim|plain)/, 'space')),
      }));
      assert.equal([slim1, slim2], [plain1, plain2]);
      for (const { name } of sides) heard.delete(name);
    }),
    { numRuns: 150 },
  );
});

test.run();
