// Traces on their way: a real collector that takes them, is silent, slow, frozen, away, or says how long to wait.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  BATCH,
  type Exporter,
  MOST_WAITING,
  openExporter,
  retryAfter,
} from '../../firmware/observe/exporter.ts';
import { type Span, spanId } from '../../firmware/observe/otlp.ts';
import { openTraces, spanOf } from '../../firmware/scenario/traces.ts';
import type { Log } from '../../firmware/system/log.ts';
import { until, within } from '../lab/wait.ts';

const trace_id = '5b8efff798038103d269b633813fc60c';
const span = (i: number): Span => ({
  ...{
    trace_id,
    span_id: spanId(`s${i}`),
    name: `s${i}`,
    start: 1_700_000_000_000.25,
    end: 1_700_000_000_500,
  },
  attributes: { n: i },
});

type Answer = (q: IncomingMessage, r: ServerResponse, n: number) => void;
interface Collector {
  url: string;
  /** Bodies as they came. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  got: any[];
  headers: IncomingMessage['headers'][];
  answer: Answer;
  server: Server;
}
const takes: Answer = (_, r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{}');

async function collector(answer: Answer = takes): Promise<Collector> {
  const c: Collector = { url: '', got: [], headers: [], answer, server: undefined as never };
  c.server = createServer((q, r) => {
    let body = '';
    q.on('data', (d) => (body += d)).on('end', () => {
      assert.equal([q.method, q.url], ['POST', '/v1/traces']);
      c.got.push(JSON.parse(body));
      c.headers.push(q.headers);
      c.answer(q, r, c.got.length);
    });
  });
  await new Promise<void>((done) => c.server.listen(0, '127.0.0.1', done));
  c.url = `http://127.0.0.1:${(c.server.address() as AddressInfo).port}`;
  return c;
}
const namesOf = (body: { resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[] }): string[] =>
  body.resourceSpans[0]!.scopeSpans[0]!.spans.map((s) => s.name);

/** A clock whose timers are fired by hand, and tell how long they were set for. */
function handed() {
  const set: { ms: number; work: () => void }[] = [];
  return {
    set,
    wall: Date.now,
    after(ms: number, work: () => void) {
      const timer = { ms, work };
      set.push(timer);
      return () => void set.splice(set.indexOf(timer), 1);
    },
    /** Fires the one timer there is. @returns what it was set for */
    async fire(): Promise<number> {
      await until(() => set.length > 0, 'a timer');
      const [{ ms, work }] = set.splice(0, 1) as [{ ms: number; work: () => void }];
      work();
      return ms;
    },
  };
}

const lines: string[] = [];
const log = Object.fromEntries(
  ['error', 'warn', 'notice', 'info', 'debug'].map((l) => [l, (m: string) => void lines.push(`${l} ${m}`)]),
) as unknown as Log;

const test = suite<{ close: (() => void)[] }>('exporter');
test.before.each((c) => {
  c.close = [];
  lines.length = 0;
});
test.after.each((c) => {
  for (const f of c.close) f();
});
async function setUp(c: { close: (() => void)[] }, answer?: Answer, timeoutMs = 5000) {
  const to = await collector(answer);
  const clock = handed();
  const e = openExporter({
    ...{ url: `${to.url}/`, headers: { authorization: 'Bearer x' }, log, clock, random: () => 1, timeoutMs },
    resource: { 'service.name': 'ingle-scenario' },
    scope: { name: 'ingle', version: '1.0.0' },
  });
  c.close.push(() => {
    to.server.closeAllConnections();
    to.server.close();
  });
  return { to, clock, e };
}
const settled = (e: Exporter, what: Partial<ReturnType<Exporter['counts']>>) =>
  until(() => Object.entries(what).every(([k, v]) => e.counts()[k as 'sent'] === v), JSON.stringify(what));

test('a batch is a request as the protocol has it in JSON', async (c) => {
  const { to, clock, e } = await setUp(c);
  e.add({ ...span(1), parent: spanId('run'), attributes: { text: 'a', n: 2, f: 0.5, yes: true } });
  e.add({ ...span(2), error: 'timeout' });
  assert.is(await clock.fire(), 2000);
  await settled(e, { sent: 2, waiting: 0 });
  assert.is(to.headers[0]!['content-type'], 'application/json');
  assert.is(to.headers[0]!['authorization'], 'Bearer x');
  const [{ resource, scopeSpans }] = to.got[0].resourceSpans;
  assert.equal(resource.attributes, [{ key: 'service.name', value: { stringValue: 'ingle-scenario' } }]);
  assert.equal(scopeSpans[0].scope, { name: 'ingle', version: '1.0.0' });
  assert.equal(scopeSpans[0].spans[0], {
    ...{ traceId: trace_id, spanId: spanId('s1'), parentSpanId: spanId('run'), name: 's1', kind: 1 },
    startTimeUnixNano: '1700000000000250000',
    endTimeUnixNano: '1700000000500000000',
    attributes: [
      { key: 'text', value: { stringValue: 'a' } },
      { key: 'n', value: { intValue: '2' } },
      { key: 'f', value: { doubleValue: 0.5 } },
      { key: 'yes', value: { boolValue: true } },
    ],
    status: { code: 0 },
  });
  assert.equal(scopeSpans[0].spans[1].status, { code: 2, message: 'timeout' });
  assert.match(spanId('x'), /^[0-9a-f]{16}$/);
  assert.is(clock.set.length, 0, 'nothing ticks where nothing waits');
});

test('many spans go in batches, one after the other and each once', async (c) => {
  const { to, clock, e } = await setUp(c);
  for (let i = 0; i < 600; i++) e.add(span(i));
  assert.is(clock.set.length, 1);
  assert.equal([await clock.fire(), await clock.fire(), await clock.fire()], [2000, 0, 2000]);
  await settled(e, { sent: 600 });
  assert.equal(
    to.got.map((b) => namesOf(b).length),
    [BATCH, BATCH, 600 - 2 * BATCH],
  );
  assert.is(new Set(to.got.flatMap(namesOf)).size, 600);
});

test('429 with Retry-After is waited for, then the same spans come', async (c) => {
  const { to, clock, e } = await setUp(c, (q, r, n) =>
    n === 1 ? r.writeHead(429, { 'retry-after': '7' }).end() : takes(q, r, n),
  );
  e.add(span(1));
  await clock.fire();
  assert.is(await clock.fire(), 7000);
  await settled(e, { sent: 1, dropped: 0 });
  assert.equal(to.got.map(namesOf), [['s1'], ['s1']]);
});

test('a collector that fails is asked again ever more seldom, and told of once', async (c) => {
  const { to, clock, e } = await setUp(c, (_, r) => r.writeHead(503).end());
  e.add(span(1));
  await clock.fire();
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) waits.push(await clock.fire());
  assert.equal(waits, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  await until(() => clock.set.length > 0, 'the next try');
  assert.is(lines.filter((l) => l.startsWith('warn')).length, 1);
  to.answer = takes;
  await clock.fire();
  await settled(e, { sent: 1, waiting: 0 });
  assert.ok(lines.some((l) => l.startsWith('info')));
});

test('what a collector refuses for good is dropped and counted, whole or in part', async (c) => {
  const { to, clock, e } = await setUp(c, (_, r) => r.writeHead(400).end());
  e.add(span(1));
  await clock.fire();
  await settled(e, { dropped: 1, waiting: 0 });
  to.answer = (_, r) => r.end(JSON.stringify({ partialSuccess: { rejectedSpans: '2' } }));
  for (let i = 0; i < 3; i++) e.add(span(i));
  await clock.fire();
  await settled(e, { sent: 1, dropped: 3 });
});

test('a silent collector costs its time and no span; an answer without end is none', async (c) => {
  const { to, clock, e } = await setUp(c, () => {}, 100);
  e.add(span(1));
  await clock.fire();
  assert.is(await clock.fire(), 1000);
  to.answer = (_, r) => void r.write('x'.repeat(100_000));
  assert.is(await clock.fire(), 2000);
  await until(() => clock.set.length > 0, 'the next try');
  to.answer = takes;
  await clock.fire();
  await settled(e, { sent: 1, dropped: 0 });
});

test('a slow collector is not asked twice at a time', async (c) => {
  let free = () => {};
  const { to, clock, e } = await setUp(c, (q, r, n) => (free = () => takes(q, r, n)));
  e.add(span(1));
  await clock.fire();
  await until(() => to.got.length === 1, 'the first request');
  for (let i = 2; i < 50; i++) e.add(span(i));
  assert.is(clock.set.length, 0, 'no timer while one goes on');
  free();
  await clock.fire();
  await until(() => to.got.length === 2, 'the second');
  free();
  await settled(e, { sent: 49 });
});

test('a collector that takes connections and nothing else bounds what waits, and the oldest go', async (c) => {
  const frozen = createTcp(() => {});
  await new Promise<void>((done) => frozen.listen(0, '127.0.0.1', done));
  const clock = handed();
  const e = openExporter({
    ...{ url: `http://127.0.0.1:${(frozen.address() as AddressInfo).port}`, log, clock, timeoutMs: 100 },
    ...{ resource: {}, scope: { name: 'ingle', version: '1' } },
  });
  c.close.push(() => frozen.close());
  for (let i = 0; i < MOST_WAITING + 500; i++) e.add(span(i));
  assert.equal(e.counts(), { sent: 0, dropped: 500, waiting: MOST_WAITING });
  await clock.fire();
  for (let i = 0; i < 300; i++) e.add(span(i));
  await until(() => clock.set.length > 0, 'the next try');
  assert.equal(e.counts(), { sent: 0, dropped: 800, waiting: MOST_WAITING });
});

test('nobody there: refused connections are tried again', async (c) => {
  const { to, clock, e } = await setUp(c);
  to.server.close();
  e.add(span(1));
  await clock.fire();
  assert.is(await clock.fire(), 1000);
  assert.is(await clock.fire(), 2000);
  assert.is(e.counts().waiting + e.counts().dropped, 1);
});

test('the end sends what waits, and does not wait for who does not answer', async (c) => {
  const { to, e } = await setUp(c);
  e.add(span(1));
  await within(e.stop(2000), 'the end');
  assert.equal(e.counts(), { sent: 1, dropped: 0, waiting: 0 });
  assert.is(to.got.length, 1);
  const silent = await setUp(c, () => {}, 60_000);
  silent.e.add(span(1));
  const over = silent.e.stop(2000);
  await silent.clock.fire();
  await within(over, 'the end');
  assert.equal(silent.e.counts(), { sent: 0, dropped: 1, waiting: 0 });
});

test('Retry-After is seconds or a date, and has an end', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.is(retryAfter('5', now), 5000);
  assert.is(retryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now), 30_000);
  assert.is(retryAfter('Thu, 01 Jan 2025 00:00:30 GMT', now), 0);
  assert.is(retryAfter('999999', now), 600_000);
  assert.is(retryAfter('soon', now), undefined);
  assert.is(retryAfter(undefined, now), undefined);
});

const told = {
  run_id: 'r1',
  scenario_id: 'home/a',
  trace_id,
  step: 'one',
  seq: 0,
  action: 'io.say',
  attempt: 2,
};

test('a run is a span and its tries are spans in it, whatever process told them', () => {
  const run = spanOf('scenario.finish', { ...told, state: 'DONE', latency_ms: 500 }, 1000)!;
  const step = spanOf('step.finish', { ...told, latency_ms: 20 }, 900)!;
  const failed = spanOf('step.error', { ...told, attempt: 1, error: 'timeout', latency_ms: 20 }, 800)!;
  assert.equal([run.trace_id, run.start, run.end, run.error], [trace_id, 500, 1000, undefined]);
  assert.equal([step.parent, failed.parent, run.parent], [run.span_id, run.span_id, undefined]);
  assert.is.not(step.span_id, failed.span_id);
  assert.equal([failed.error, failed.attributes['ingle.attempt']], ['timeout', 1]);
  assert.is(spanOf('scenario.start', told, 0), undefined);
  assert.is(spanOf('step.finish', { ...told, trace_id: 'no' }, 0), undefined);
  const lost = { ...told, state: 'FAILED', error: { code: 'conflict', message: 'the secret' } };
  assert.is(spanOf('scenario.finish', lost, 0)!.error, 'conflict');
  assert.is(spanOf('scenario.finish', { ...told, state: 'CANCELED' }, 0)!.error, 'canceled');
});

test('nothing of what a step was given, answered or said is in a trace', async (c) => {
  const { to, clock } = await setUp(c);
  const t = openTraces({
    ...{ url: to.url, log, clock },
    resource: {},
    scope: { name: 'ingle', version: '1' },
  });
  const error = { code: 'conflict', message: 'SECRET' };
  const more = {
    args: { a: 'SECRET' },
    ctx: { b: 'SECRET' },
    result: 'SECRET',
    user: 'SECRET',
    payload: 'SECRET',
  };
  t.tell('step.error', { ...told, ...more, error: 'conflict' });
  t.tell('step.finish', { ...told, ...more });
  t.tell('scenario.finish', { ...told, ...more, state: 'FAILED', error });
  await clock.fire();
  await until(() => t.counts().sent === 3, 'the spans');
  assert.not.match(JSON.stringify(to.got), /SECRET/);
});

test.run();
