// timeout: 240 s
// What happens on the hub, over HTTP: the stream and its resumption, the look back, events from outside.
import { get, type IncomingMessage } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { garbage } from '../lab/garbage.ts';
import { tried, until, within } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub; bus: Bus }>('observe');
test.before(async (c) => {
  c.hub = await startHub();
  c.bus = await connect(c.hub.bus.address);
});
test.after(async (c) => {
  c.bus.close();
  await c.hub.stop();
});

interface Heard {
  event: string;
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  data: any;
}

/** Server-sent events of a text that comes in pieces, as a browser reads them. */
function eventReader() {
  const heard: Heard[] = [];
  let rest = '';
  const reader = {
    heard,
    /** What a browser sends as Last-Event-ID. */
    last: '',
    retry: '',
    /** A connection has begun; of the one before it, what is not whole is dropped. */
    begin() {
      rest = '';
    },
    push(text: string) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
        reader.retry = field('retry') ?? reader.retry;
        reader.last = field('id') ?? reader.last;
        const data = field('data');
        if (data !== undefined)
          heard.push({ event: field('event') ?? 'message', id: field('id') ?? '', data: JSON.parse(data) });
      }
    },
  };
  return reader;
}

/** Listens as a browser does; it has begun when this settles. */
async function listen(hub: TestHub, path = '/api/observe/stream', last?: string) {
  const abort = new AbortController();
  const r = await fetch(hub.base + path, {
    headers: { 'x-service-token': hub.token(), ...(last === undefined ? {} : { 'last-event-id': last }) },
    signal: abort.signal,
  });
  assert.is(r.status, 200);
  const reader = eventReader();
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of r.body as unknown as AsyncIterable<Uint8Array>)
      reader.push(decoder.decode(chunk, { stream: true }));
  })().catch(() => {});
  await until(() => reader.retry, 'the beginning of the stream');
  return Object.assign(reader, {
    async end() {
      abort.abort();
      await ended;
      return reader.last;
    },
    async hears(count: number) {
      await until(() => reader.heard.length >= count, `${count} events`);
    },
  });
}

const ingest = (hub: TestHub, events: unknown, as?: object) =>
  hub.ask('POST', '/api/observe/ingest', { body: { events }, ...(as ? { as } : {}) });
const tail = async (hub: TestHub, query = '') => {
  const r = await hub.ask('GET', `/api/observe/tail${query}`);
  assert.is(r.status, 200, JSON.stringify(r.body));
  return r.body as { events: (Heard['data'] & { id: string })[]; next: string; gap: string | null };
};
const refused = async (hub: TestHub, events: unknown) => {
  const { status, body } = await ingest(hub, events);
  return [status, body.error, body.details?.pointer];
};

test('before anybody asks the bus is not heard, and who was there before is told so', async ({
  hub,
  bus,
}) => {
  const first = (await ingest(hub, [{ topic: 'external.first', payload: 1 }])).body;
  assert.is(first.taken, 1);
  bus.publish('weather.update', 'unheard');
  await bus.listNames();
  const now = await tail(hub, `?after=${first.last}`);
  assert.equal([now.gap, now.events], ['unheard', []]);
  bus.publish('weather.update', 'heard');
  const next = await until(
    tried(async () => {
      const t = await tail(hub, `?after=${now.next}`);
      return t.events.length > 0 ? t : undefined;
    }),
    'the event',
  );
  assert.equal([next.gap, next.events[0]!.payload], [null, 'heard']);
  assert.equal(
    (await tail(hub, '?topic=external.')).events.map((e) => [e.id, e.payload]),
    [[first.last, 1]],
  );
});

test('events from outside are in the journal, in the stream and on the bus, each once', async ({
  hub,
  bus,
}) => {
  const said: unknown[] = [];
  const stop = await bus.subscribe('external.*', (t, p) => said.push([t, p]));
  const stream = await listen(hub, '/api/observe/stream?topic=external.');
  const { next } = await tail(hub);
  const payload = { text: 'привет', deep: [null, { x: 1.5 }], no: false };
  const r = await ingest(hub, [
    { topic: 'external.door', payload, at: 1 },
    { topic: 'external.door.bell_2', payload: null },
  ]);
  assert.equal([r.status, r.body.taken], [200, 2]);
  await stream.hears(2);
  bus.publish('external.end', 0);
  await stream.hears(3);
  assert.equal(
    stream.heard.map((h) => [h.event, h.data.topic, h.data.payload]),
    [
      ['event', 'external.door', payload],
      ['event', 'external.door.bell_2', null],
      ['event', 'external.end', 0],
    ],
  );
  assert.equal(said, [
    ['external.door', payload],
    ['external.door.bell_2', null],
    ['external.end', 0],
  ]);
  const seen = await tail(hub, `?after=${next}&topic=external.door`);
  assert.equal(
    seen.events.map((e) => e.id),
    stream.heard.slice(0, 2).map((h) => h.id),
  );
  assert.equal([seen.events[0]!.at, seen.events[1]!.id, seen.gap], [1, r.body.last, null]);
  assert.ok(Math.abs(seen.events[1]!.at - Date.now()) < 3600_000);
  await stream.end();
  await stop();
});

test('a repeated Idempotency-Key tells an event once', async ({ hub }) => {
  const { next } = await tail(hub);
  const ask = () =>
    hub.ask('POST', '/api/observe/ingest', {
      as: {},
      headers: { 'idempotency-key': 'once' },
      body: { events: [{ topic: 'external.once', payload: 1 }] },
    });
  const [a, b] = [await ask(), await ask()];
  assert.equal(a.body, b.body);
  assert.is((await tail(hub, `?after=${next}`)).events.length, 1);
});

test('what cannot be taken is refused with its place, and nothing of it is taken', async ({ hub }) => {
  const { next } = await tail(hub);
  const good = { topic: 'external.x', payload: 1 };
  const deep = (levels: number) => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels));
  const bad: [unknown, unknown[]][] = [
    [undefined, [400, 'invalid_request', '/events']],
    [{}, [400, 'invalid_request', '/events']],
    [[], [400, 'invalid_request', '/events']],
    [Array(101).fill(good), [400, 'invalid_request', '/events']],
    [
      [good, 1],
      [400, 'invalid_request', '/events/1'],
    ],
    [
      [good, { topic: 'external.x' }],
      [400, 'invalid_request', '/events/1/payload'],
    ],
    [
      [good, { payload: 1 }],
      [400, 'invalid_request', '/events/1/topic'],
    ],
    [
      [good, { ...good, more: 1 }],
      [400, 'invalid_request', '/events/1/more'],
    ],
    ...[
      'ui.toast',
      'external',
      'external.',
      'externalx.y',
      'external..x',
      'external.X',
      'external.x\n',
      ' external.x',
      `external.${'x'.repeat(80)}`,
      7,
    ].map((topic): [unknown, unknown[]] => [
      [good, { ...good, topic }],
      [400, 'invalid_request', '/events/1/topic'],
    ]),
    ...[-1, 1.5, 9e15, '1'].map((at): [unknown, unknown[]] => [
      [good, { ...good, at }],
      [400, 'invalid_request', '/events/1/at'],
    ]),
    [
      [good, { ...good, payload: 'x'.repeat(8191) }],
      [413, 'too_large', '/events/1/payload'],
    ],
    [
      [good, { ...good, payload: 'ж'.repeat(4096) }],
      [413, 'too_large', '/events/1/payload'],
    ],
    [
      [good, { ...good, payload: { a: ['\0'] } }],
      [400, 'invalid_request', '/events/1/payload'],
    ],
    [
      [good, { ...good, payload: { '\0': 1 } }],
      [400, 'invalid_request', '/events/1/payload'],
    ],
    [
      [good, { ...good, payload: deep(22) }],
      [400, 'invalid_request', '/events/1/payload'],
    ],
    [Array(9).fill({ ...good, payload: 'x'.repeat(8000) }), [413, 'too_large', undefined]],
  ];
  for (const [events, says] of bad)
    assert.equal(await refused(hub, events), says, JSON.stringify(events)?.slice(0, 80));
  assert.equal((await tail(hub, `?after=${next}`)).events, []);
  const most = [
    { ...good, payload: 'x'.repeat(8190) },
    { ...good, payload: deep(21) },
  ];
  assert.is((await ingest(hub, most)).body.taken, 2);
  assert.is((await tail(hub, `?after=${next}`)).events.length, 2);
});

test('any JSON the bus carries is taken, and comes back as it was', async ({ hub, bus }) => {
  const { next } = await tail(hub);
  const payloads = [
    ...garbage.filter((v) => v !== '\0'),
    '\uffff',
    { '': { '': [] } },
    { signature: 's', value: 7 },
  ];
  const heard: unknown[] = [];
  // What an earlier test sent may still be on its way.
  const stop = await bus.subscribe('external.any', (_, p) => heard.push(p));
  const r = await ingest(
    hub,
    payloads.map((payload) => ({ topic: 'external.any', payload })),
  );
  assert.equal([r.status, r.body.taken], [200, payloads.length]);
  const seen = await tail(hub, `?after=${next}`);
  assert.equal(
    seen.events.map((e) => e.payload),
    JSON.parse(JSON.stringify(payloads)),
  );
  await until(() => heard.length === payloads.length, 'all of them over the bus');
  await stop();
});

test('ids and limits of a query that are none are refused', async ({ hub }) => {
  for (const after of [
    '',
    'x',
    '1',
    'x-',
    '-1',
    'x-1-2',
    'x-1%0a',
    '%00',
    'x'.repeat(40) + '-1',
    'x-' + '9'.repeat(16),
  ])
    for (const path of ['tail', 'stream']) {
      const r = await hub.ask('GET', `/api/observe/${path}?after=${after}`);
      assert.equal([r.status, r.body.details?.pointer], [400, '/after'], `${path} ${after}`);
    }
  for (const limit of ['', '0', '501', '-1', '1.5', '1e2', '007', 'x', '9'.repeat(99)]) {
    const r = await hub.ask('GET', `/api/observe/tail?limit=${limit}`);
    assert.equal([r.status, r.body.details?.pointer], [400, '/limit'], limit);
  }
  assert.is((await tail(hub, '?limit=1')).events.length, 1);
  assert.ok((await tail(hub, '?limit=500')).events.length > 1);
});

test('the owner and local control tell events; reading them takes a passkey checked lately', async ({
  hub,
}) => {
  const events = [{ topic: 'external.who', payload: 1 }];
  const late = { elevated_until: 1 };
  assert.is((await ingest(hub, events, late)).status, 200);
  assert.is((await hub.ask('GET', '/api/observe/tail', { as: late })).body.error, 'assertion_required');
  for (const role of ['adult', 'kid', 'guest', 'admin'])
    for (const asked of [
      ingest(hub, events, { role }),
      hub.ask('GET', '/api/observe/tail', { as: { role } as never }),
    ])
      assert.is((await asked).status, 403, role);
});

test('a stream that breaks off in a burst is resumed: nothing is lost and nothing comes twice', async ({
  hub,
  bus,
}) => {
  const total = 1500;
  const path = '/api/observe/stream?topic=burst.';
  const heard: Heard[] = [];
  let stream = await listen(hub, path);
  assert.ok(stream.last, 'resumed even before the first event');
  const publishing = (async () => {
    for (let n = 0; n < total; n++) {
      bus.publish('burst.n', n);
      bus.publish('noise.n', n);
      if (n % 25 === 0) await bus.listNames();
      // The journal holds them all, so a gap would be a fault.
      if (n === 600) await until(() => heard.length > 100, 'some breaks');
    }
  })();
  let breaks = 0;
  while (heard.length + stream.heard.length < total) {
    const some = 1 + ((breaks * 37) % 90);
    await until(() => stream.heard.length >= Math.min(some, total - heard.length), 'more of the burst');
    const last = await stream.end();
    heard.push(...stream.heard);
    breaks++;
    stream = await listen(hub, path, last);
  }
  await publishing;
  heard.push(...stream.heard);
  await stream.end();
  assert.ok(breaks > 10);
  assert.equal(
    heard.map((h) => [h.event, h.data.payload]),
    Array.from({ length: total }, (_, n) => ['event', n]),
  );
});

test('a stream resumed by a query goes on by the header, which is newer', async ({ hub, bus }) => {
  const { next } = await tail(hub);
  bus.publish('query.n', 0);
  bus.publish('query.n', 1);
  const first = await listen(hub, `/api/observe/stream?topic=query.&after=${next}`);
  await first.hears(2);
  await first.end();
  const second = await listen(hub, `/api/observe/stream?topic=query.&after=${next}`, first.heard[0]!.id);
  await second.hears(1);
  await second.end();
  assert.equal(
    second.heard.map((h) => h.data.payload),
    [1],
  );
});

test('what the journal has dropped is told first, then all that it holds comes', async ({ hub, bus }) => {
  const stream = await listen(hub, '/api/observe/stream?topic=old.');
  const last = stream.last;
  for (let n = 0; n < 2100; n++) bus.publish('old.n', n);
  await stream.hears(2100);
  await stream.end();
  const late = await listen(hub, '/api/observe/stream?topic=old.', last);
  await late.hears(2001);
  const [gap, ...events] = late.heard;
  assert.equal([gap!.event, gap!.data, gap!.id], ['gap', { reason: 'dropped' }, last]);
  assert.equal(
    events.map((h) => h.data.payload),
    Array.from({ length: 2000 }, (_, n) => n + 100),
  );
  await late.end();
  const first = await tail(hub, `?after=${last}&topic=old.&limit=1`);
  assert.equal([first.gap, first.events[0]!.payload], ['dropped', 100]);
});

test('an event too large to pass on is named', async ({ hub, bus }) => {
  const stream = await listen(hub, '/api/observe/stream?topic=large.');
  bus.publish('large.n', 'x'.repeat(20_000));
  bus.publish(`large.${'n'.repeat(400)}`, 1);
  await stream.hears(2);
  const [{ data }, long] = stream.heard as [Heard, Heard];
  assert.equal([data.topic, 'payload' in data, data.too_large > 20_000], ['large.n', false, true]);
  assert.is(long.data.topic.length, 255);
  await stream.end();
});

test('an id of another hub, of a later time or of no form is told, and everything held comes', async ({
  hub,
}) => {
  const { next } = await tail(hub);
  const future = next.replace(/\d+$/, '99999999');
  for (const id of ['000000000000-1', future, 'garbage', '%00', 'x'.repeat(2000)]) {
    const stream = await listen(hub, '/api/observe/stream?topic=old.', id);
    await until(() => stream.heard.length > 1, `what is held, after ${id.slice(0, 20)}`);
    assert.equal([stream.heard[0]!.event, stream.heard[0]!.data], ['gap', { reason: 'unknown' }]);
    assert.not.match(stream.heard[0]!.id, /garbage|xxx/);
    assert.ok(stream.heard.slice(1).every((h) => h.event === 'event'));
    await stream.end();
  }
  assert.is((await tail(hub, `?after=${future}`)).gap, 'unknown');
});

test('one that reads nothing disturbs nobody, and reads on from where it was', async ({ hub, bus }) => {
  const total = 1400;
  const path = '/api/observe/stream?topic=slow.';
  const slow = eventReader();
  let line: IncomingMessage | undefined;
  let isOpen = true;
  const open = () => {
    const headers = { 'x-service-token': hub.token(), ...(slow.last ? { 'last-event-id': slow.last } : {}) };
    get(hub.base + path, { headers, agent: false }, (r) => {
      line = r;
      slow.begin();
      r.setEncoding('utf8');
      r.on('data', slow.push);
      r.on('error', () => {});
      // The server may give up one that takes nothing for long; it comes back as a browser does.
      r.on('close', () => isOpen && open());
    });
  };
  open();
  await until(() => slow.retry, 'the slow stream');
  line!.pause();
  const quick = await listen(hub, path);
  for (let n = 0; n < total; n++) {
    bus.publish('slow.n', { n, fill: 'x'.repeat(15_000) });
    if (n % 40 === 39) await quick.hears(n + 1);
  }
  await quick.hears(total);
  await quick.end();
  assert.ok(quick.heard.every((h, n) => h.event === 'event' && h.data.payload.n === n));
  line!.resume();
  const numbers = () => slow.heard.filter((h) => h.event === 'event').map((h) => h.data.payload.n as number);
  await until(() => numbers().at(-1) === total - 1, 'the slow one to come to the end');
  isOpen = false;
  line!.destroy();
  assert.ok(numbers().length < total, 'it missed some');
  let due = 0;
  for (const [i, h] of slow.heard.entries()) {
    if (h.event === 'gap') continue;
    if (slow.heard[i - 1]?.event === 'gap') assert.ok(h.data.payload.n > due);
    else assert.is(h.data.payload.n, due, 'nothing twice, and nothing missing without a word');
    due = h.data.payload.n + 1;
  }
  assert.is((await hub.ask('GET', '/api/status')).status, 200);
});

test('who tells too much is asked to wait, and others are served', async ({ hub }) => {
  const events = Array.from({ length: 100 }, () => ({ topic: 'external.flood', payload: 1 }));
  const flood = { browser: 'flooder' };
  const answers = await within(
    Promise.all(Array.from({ length: 60 }, () => ingest(hub, events, flood))),
    'the answers to a flood',
  );
  const limited = answers.filter((r) => r.status === 429);
  assert.ok(limited.length >= 50);
  assert.ok(answers.every((r) => r.status === 200 || r.body.error === 'rate_limited'));
  for (const r of limited) {
    const wait = r.body.details.retry_after;
    assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 5, `${wait}`);
    assert.is(r.headers.get('retry-after'), String(wait));
  }
  for (const as of [{ browser: 'other' }, undefined]) assert.is((await ingest(hub, events, as)).status, 200);
});

test('an id of an earlier start is told', async ({ hub, bus }) => {
  const { next } = await tail(hub);
  await hub.kill('api');
  await hub.startApi();
  const stream = await listen(hub, '/api/observe/stream', next);
  bus.publish('again.n', 1);
  await stream.hears(2);
  assert.equal(
    stream.heard.map((h) => [h.event, h.data.reason ?? h.data.payload]),
    [
      ['gap', 'unknown'],
      ['event', 1],
    ],
  );
  await stream.end();
});

test.run();
