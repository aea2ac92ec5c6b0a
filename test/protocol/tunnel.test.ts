// gate: out, 5 s of a processor
import fc from 'fast-check';
import mitt from 'mitt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concat, utf8 } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { CHUNK, MAX_STREAMS, WINDOW } from '../../firmware/protocol/limits.ts';
import type { Channel, ChannelEvents } from '../../firmware/protocol/noise/channel.ts';
import { tunnelClient } from '../../firmware/protocol/tunnel/client.ts';
import { tunnelServer } from '../../firmware/protocol/tunnel/server.ts';
import {
  encode,
  encodeHead,
  MAX_WS_MESSAGE,
  PIECE,
  readU32,
  u32,
} from '../../firmware/protocol/tunnel/stream.ts';
import type { TunnelClient, TunnelHandlers } from '../../firmware/protocol/tunnel/tunnel.ts';
import { flag, messageKind } from '../../firmware/protocol/wire.ts';
import { bothOpen, known, until, world } from './root.ts';

const test = suite('tunnel');
const code = (p: Promise<unknown>) =>
  p.then(
    () => 'ok',
    (e: { code?: string }) => e.code ?? String(e),
  );

/** Two channel ends without the sealing: what the tunnel sees of one. */
function wire() {
  const [a, b] = [mitt<ChannelEvents>(), mitt<ChannelEvents>()];
  const log: { from: 'client' | 'server'; message: Uint8Array }[] = [];
  let isOpen = true;
  const end = (own: typeof a, other: typeof a, from: 'client' | 'server') =>
    ({
      on: own.on,
      off: own.off,
      get state() {
        return isOpen ? 'open' : 'shaking';
      },
      async send(message: Uint8Array) {
        if (!isOpen) throw new IngleError('unavailable', 'gone');
        log.push({ from, message });
        setImmediate(() => isOpen && other.emit('message', message));
      },
    }) as unknown as Channel;
  return {
    client: end(a, b, 'client'),
    server: end(b, a, 'server'),
    log,
    /** A message no honest end would send. */
    toServer: (message: Uint8Array) => b.emit('message', message),
    toClient: (message: Uint8Array) => a.emit('message', message),
    lose() {
      isOpen = false;
      a.emit('lost', 'gap');
      b.emit('lost', 'gap');
    },
    reopen() {
      isOpen = true;
      for (const e of [a, b]) e.emit('open', { first: true } as ChannelEvents['open']);
    },
  };
}

const text = (b: Uint8Array) => new TextDecoder().decode(b);
const echo: TunnelHandlers = {
  async request(head, body) {
    if (head.path === '/throw') throw new IngleError('conflict', 'Two at once.');
    if (head.path === '/bug') throw new TypeError('secret detail');
    return { status: 200, headers: { 'x-method': head.method, ...head.headers }, body };
  },
  async websocket(head, socket) {
    if (head.path === '/refuse') throw new IngleError('forbidden', 'No.');
    socket.onmessage = (data) => socket.send(data);
  },
};
function both(handlers: Partial<TunnelHandlers> = {}, admitted?: () => boolean) {
  const w = wire();
  tunnelServer(w.server, { ...echo, ...handlers }, admitted);
  return { ...w, tunnel: tunnelClient(w.client) };
}
async function* pieces(list: Uint8Array[]) {
  yield* list;
}

test('whatever a request carries and however it is cut, it comes back whole', async () => {
  const { tunnel } = both();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40_000, size: 'max' }), { maxLength: 20 }),
      async (parts) => {
        const r = await tunnel.request({
          method: 'POST',
          path: '/x',
          headers: { 'x-a': 'b' },
          body: pieces(parts),
        });
        assert.is(r.status, 200);
        assert.is(r.headers['x-a'], 'b');
        assert.ok(Buffer.from(concat(...parts)).equals(await r.body()));
      },
    ),
    { numRuns: 60 },
  );
});

test('many requests at once do not mix', async () => {
  const { tunnel } = both();
  const all = await Promise.all(
    Array.from({ length: MAX_STREAMS }, async (_, i) => {
      const body = new Uint8Array(i * 3001).fill(i);
      const r = await tunnel.request({ method: 'PUT', path: `/${i}`, body });
      return Buffer.from(body).equals(await r.body());
    }),
  );
  assert.ok(all.every(Boolean));
});

test('one stream more than the limit is refused, by the browser’s end and by the hub’s', async () => {
  let release: () => void = () => {};
  const held = new Promise<void>((r) => {
    release = r;
  });
  const { tunnel, toServer, log } = both({ request: () => held.then(() => ({ status: 204, headers: {} })) });
  const all = Array.from({ length: MAX_STREAMS }, () => tunnel.request({ method: 'GET', path: '/' }));
  assert.is(await code(tunnel.request({ method: 'GET', path: '/' })), 'rate_limited');
  await until(() => log.length === MAX_STREAMS);
  await new Promise((r) => setImmediate(r));
  toServer(encodeHead(messageKind.open, 9999, flag.end, { method: 'GET', path: '/' }));
  await until(() => log.some((l) => l.from === 'server' && text(l.message.subarray(5)) === 'rate_limited'));
  release();
  for (const r of await Promise.all(all)) assert.is((await r.body()).length, 0);
});

test('a slow reader slows the sender: no more than the window is under way', async () => {
  let produced = 0;
  async function* endless() {
    for (;;) {
      produced += 1000;
      yield new Uint8Array(1000);
    }
  }
  const { tunnel } = both({ request: async () => ({ status: 200, headers: {}, body: endless() }) });
  const r = await tunnel.request({ method: 'GET', path: '/' });
  let before = -1;
  while (before !== produced) {
    before = produced;
    await new Promise((ok) => setTimeout(ok, 20));
  }
  assert.ok(produced <= WINDOW + 1000, `${produced}`);
  let read = 0;
  for await (const p of r.stream) {
    read += p.length;
    if (read > 3 * WINDOW) break;
  }
  assert.ok(produced <= read + WINDOW + 1000);
});

test('leaving a body early, or aborting, stops the hub’s work on it', async () => {
  const aborted: boolean[] = [];
  const { tunnel } = both({
    async request(_head, _body, signal) {
      const i = aborted.push(false) - 1;
      signal.addEventListener('abort', () => {
        aborted[i] = true;
      });
      async function* drip() {
        for (;;) yield new Uint8Array(10);
      }
      return { status: 200, headers: {}, body: drip() };
    },
  });
  for await (const _ of (await tunnel.request({ method: 'GET', path: '/' })).stream) break;
  const control = new AbortController();
  const r = await tunnel.request({ method: 'GET', path: '/', signal: control.signal });
  control.abort();
  assert.is(await code(r.body()), 'timeout');
  (await tunnel.request({ method: 'GET', path: '/' })).cancel();
  await until(() => aborted.length === 3 && aborted.every(Boolean));
});

test('an error of the hub arrives in the one shape, and a fault tells nothing of the inside', async () => {
  const { tunnel } = both();
  const r = await tunnel.request({ method: 'GET', path: '/throw' });
  assert.is(r.status, 409);
  assert.equal(JSON.parse(text(await r.body())), { error: 'conflict', message: 'Two at once.' });
  const bug = await tunnel.request({ method: 'GET', path: '/bug' });
  assert.is(bug.status, 500);
  assert.not.match(text(await bug.body()), /secret/);
});

test('a lost channel ends every stream with a clear error, and the next channel works', async () => {
  const { tunnel, lose, reopen } = both({
    request: async (head, body) => {
      if (head.path === '/hang') await new Promise(() => {});
      return { status: 200, headers: {}, body };
    },
  });
  const hanging = tunnel.request({ method: 'GET', path: '/hang' });
  const half = await tunnel.request({
    method: 'POST',
    path: '/',
    body: (async function* () {
      yield utf8('x');
      await new Promise(() => {});
    })(),
  });
  const socket = await tunnel.websocket('/ws');
  const closed = new Promise<IngleError | null>((r) => {
    socket.onclose = r;
  });
  await new Promise((r) => setTimeout(r, 5));
  lose();
  assert.is(await code(hanging), 'unavailable');
  assert.is(await code(half.body()), 'unavailable');
  assert.is((await closed)?.code, 'unavailable');
  assert.is(await code(socket.send('x')), 'unavailable');
  assert.is(await code(tunnel.request({ method: 'GET', path: '/' })), 'unavailable');
  reopen();
  const r = await tunnel.request({ method: 'POST', path: '/', body: utf8('again') });
  assert.is(text(await r.body()), 'again');
});

test('what was under way on a lost channel ends nothing on the next, which numbers its streams anew', async () => {
  const late: (() => void)[] = [];
  const { client, lose, reopen, tunnel } = both({
    websocket: (_, socket) =>
      new Promise((accepted, refused) => {
        socket.onmessage = (data) => socket.send(data);
        if (late.length > 0) accepted();
        else late.push(() => refused(new IngleError('unavailable', 'It ended with the channel.')));
      }),
  });
  const old = code(tunnel.websocket('/old'));
  await until(() => late.length === 1);
  lose();
  assert.is(await old, 'unavailable');
  reopen();
  // Another page: its numbers begin at 1 as well.
  const next = tunnelClient(client);
  const s = await next.websocket('/new');
  const heard: unknown[] = [];
  s.onmessage = (data) => void heard.push(data);
  let end: unknown = 'none';
  s.onclose = (e) => {
    end = e;
  };
  late[0]!();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await s.send('still there');
  await until(() => heard.length === 1 || end !== 'none');
  assert.equal([heard, end], [['still there'], 'none']);
  next.close();
});

test('WebSocket messages keep their bounds, order and kind, whatever their size', async () => {
  const { tunnel } = both();
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(fc.string({ unit: 'grapheme' }), fc.uint8Array({ maxLength: 3 * CHUNK, size: 'max' })),
        { maxLength: 12 },
      ),
      async (messages) => {
        const socket = await tunnel.websocket('/ws');
        const back: (string | Uint8Array)[] = [];
        socket.onmessage = (m) => void back.push(m);
        const closed = new Promise<unknown>((r) => {
          socket.onclose = r;
        });
        await Promise.all(messages.map((m) => socket.send(m)));
        await until(() => back.length === messages.length);
        socket.close();
        assert.is(await closed, null);
        back.forEach((m, i) => {
          const sent = messages[i]!;
          assert.ok(typeof m === 'string' ? m === sent : Buffer.from(m).equals(sent as Uint8Array));
        });
      },
    ),
    { numRuns: 40 },
  );
  const socket = await tunnel.websocket('/ws');
  const big = new Uint8Array(MAX_WS_MESSAGE).fill(3);
  const back = new Promise<string | Uint8Array>((r) => {
    socket.onmessage = r;
  });
  await socket.send(big);
  assert.is((await back).length, big.length);
  assert.is(await code(socket.send(new Uint8Array(MAX_WS_MESSAGE + 1))), 'too_large');
  assert.is(await code(tunnel.websocket('/refuse')), 'forbidden');
});

test('a first message goes along with the question, before all others, and is dropped where the answer is no', async () => {
  const { tunnel } = both();
  for (const first of [utf8('first'), new Uint8Array(0), new Uint8Array(3 * WINDOW).fill(7)]) {
    const socket = await tunnel.websocket('/ws', first);
    const back: (string | Uint8Array)[] = [];
    socket.onmessage = (m) => void back.push(m);
    await socket.send('second');
    await until(() => back.length === 2);
    assert.ok(Buffer.from(back[0] as Uint8Array).equals(first));
    assert.is(back[1], 'second');
    socket.close();
  }
  assert.is(await code(tunnel.websocket('/refuse', utf8('first'))), 'forbidden');
  assert.is(await code(tunnel.websocket('/refuse', new Uint8Array(3 * WINDOW))), 'forbidden');
  const r = await tunnel.request({ method: 'POST', path: '/', body: utf8('still here') });
  assert.is(text(await r.body()), 'still here');
});

test('a browser that is not let in yet opens nothing', async () => {
  let isIn = false;
  const { tunnel } = both({}, () => isIn);
  assert.is(await code(tunnel.request({ method: 'GET', path: '/' })), 'assertion_required');
  assert.is(await code(tunnel.websocket('/')), 'assertion_required');
  isIn = true;
  assert.is((await tunnel.request({ method: 'GET', path: '/' })).status, 200);
});

async function works(tunnel: TunnelClient) {
  const r = await tunnel.request({ method: 'POST', path: '/ok', body: utf8('still here') });
  assert.is(text(await r.body()), 'still here');
}

test('a hostile browser harms its own stream only', async () => {
  const w = both({
    request: async () => new Promise(() => {}),
    websocket: async () => new Promise(() => {}),
  });
  const other = both();
  const answerOf = (id: number) =>
    w.log
      .filter(
        (l) => l.from === 'server' && l.message[0] === messageKind.reset && readU32(l.message, 1) === id,
      )
      .map((l) => text(l.message.subarray(5)));
  let id = 100;
  const open = (flags = 0) => {
    w.toServer(encodeHead(messageKind.open, ++id, flags, { method: 'GET', path: '/' }));
    return id;
  };
  const send = (kind: number, stream: number, rest: Uint8Array, flags?: number) => {
    w.toServer(encode(kind, stream, rest, flags));
    return stream;
  };
  const many = (stream: number, bytes: number, flags: number) => {
    for (let i = 0; i * (bytes + PIECE) <= WINDOW; i++)
      send(messageKind.data, stream, new Uint8Array(bytes), flags);
    return stream;
  };
  const heads = [
    ...['nonsense', '[]', '{}', '{"method":"GET"}', '{"method":"get","path":"/"}'],
    ...['{"method":"GET","path":"//evil/x"}', '{"method":"GET","path":"http://evil"}'],
    '{"method":"GET","path":"/\\r\\nX: y"}',
    '{"method":"GET","path":"/","headers":{"a b":"c"}}',
    '{"method":"GET","path":"/","headers":{"a":"b\\r\\nc"}}',
    '{"method":"GET","path":"/","headers":{"a":1}}',
    '{"method":"GET","path":"/","headers":[]}',
  ];
  const { data, credit } = messageKind;
  const cases: [string, () => number][] = [
    ['too_large', () => send(data, open(), new Uint8Array(CHUNK + 1), 0)],
    ['too_large', () => many(open(), CHUNK, 0)],
    ['too_large', () => many(open(flag.websocket), 0, flag.websocket | flag.more)],
    ['invalid_request', () => send(data, open(flag.end), utf8('x'), 0)],
    ['invalid_request', () => send(credit, open(), u32(1))],
    ['invalid_request', () => send(credit, open(), new Uint8Array(7))],
    ['invalid_request', () => send(messageKind.open, open(), utf8('{"method":"GET","path":"/"}'), 0)],
    ['invalid_request', () => send(messageKind.head, open(), utf8('{"status":200}'), 0)],
    ...heads.map((json): [string, () => number] => [
      'invalid_request',
      () => send(messageKind.open, ++id, utf8(json), 0),
    ]),
    ['too_large', () => send(messageKind.open, ++id, new Uint8Array(40_000).fill(32), 0)],
  ];
  for (const [want, act] of cases) {
    const at = act();
    await until(() => answerOf(at).length, `${want}: ${act}`);
    assert.is(answerOf(at)[0], want, String(act));
    await works(other.tunnel);
  }
});

test('random bytes to either end never throw and never stop the others', async () => {
  const { tunnel, toServer, toClient } = both();
  const message = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc
      .tuple(
        fc.integer({ min: 0, max: 6 }),
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0, max: 15 }),
        fc.oneof(
          fc.uint8Array({ maxLength: 40 }),
          fc.constantFrom(utf8('{"status":200}'), utf8('{"method":"GET","path":"/"}')),
        ),
      )
      .map(([kind, id, flags, rest]) => encode(kind, 1_000_000 + id, rest, flags)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 30 }), async (list) => {
      const mine = tunnel.request({ method: 'POST', path: '/ok', body: utf8('mine') });
      await new Promise((r) => setImmediate(r));
      for (const m of list) toClient(m);
      assert.is(text(await (await mine).body()), 'mine');
    }),
    { numRuns: 150 },
  );
  await fc.assert(
    fc.property(fc.array(message, { maxLength: 30 }), (list) => {
      for (const m of list) toServer(m);
    }),
    { numRuns: 150 },
  );
});

test('over a real channel: large bodies both ways while keys change', async () => {
  const w = await world(known, { paired: true });
  tunnelServer(w.hub, echo);
  const tunnel = tunnelClient(w.browser);
  await bothOpen(w);
  const body = crypto.getRandomValues(new Uint8Array(65_000));
  const big = concat(...Array.from({ length: 40 }, () => body));
  const timer = setInterval(() => w.browser.rekey(), 10);
  const began = performance.now();
  const all = await Promise.all(
    Array.from({ length: 4 }, async () =>
      (await tunnel.request({ method: 'POST', path: '/', body: big })).body(),
    ),
  );
  const seconds = (performance.now() - began) / 1000;
  clearInterval(timer);
  for (const b of all) assert.ok(Buffer.from(b).equals(big));
  assert.equal(w.atBrowser.lost, []);
  assert.ok(w.atHub.opened.length > 1);
  console.log(`FIGURE tunnel_echo_mib_per_s ${((8 * big.length) / 2 ** 20 / seconds).toFixed(1)}`);
  w.close();
});

test.run();
