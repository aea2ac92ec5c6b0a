// timeout: 240 s
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// What the hub counts, over HTTP: read by a strict reader, and traces of runs at a real collector.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { spanId } from '../../firmware/observe/otlp.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { until } from '../lab/wait.ts';
import { readExposition, valueIn } from '../observe/prometheus.ts';
import { serveUplink, startHub, type TestHub } from './hub.ts';

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
  status: { code: number; message?: string };
}

const test = suite<{ hub: TestHub; bus: Bus; spans: SentSpan[]; bodies: string[]; collector: Server }>(
  'metrics over HTTP',
);
test.before(async (c) => {
  c.spans = [];
  c.bodies = [];
  c.collector = createServer((q, r) => {
    let body = '';
    q.on('data', (d) => (body += d)).on('end', () => {
      c.bodies.push(body);
      c.spans.push(...JSON.parse(body).resourceSpans[0].scopeSpans[0].spans);
      r.end('{}');
    });
  });
  await new Promise<void>((done) => c.collector.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(c.collector.address() as AddressInfo).port}`;
  const config = join(mkdtempSync(join(tmpdir(), 'ingle-config-')), 'config.json');
  writeFileSync(config, JSON.stringify({ telemetry: { otlp: { url } } }));
  c.hub = await startHub({ env: { INGLE_LANG: 'en', INGLE_CONFIG: config, INGLE_IDLE_MS: '8000' } });
  c.bus = await connect(c.hub.bus.address);
  await serveUplink(c.bus);
  await c.hub.ask('POST', '/api/skills/developer', { body: { on: true } });
});
test.after(async (c) => {
  c.bus.close();
  c.collector.closeAllConnections();
  c.collector.close();
  await c.hub.stop();
});

const scrape = async (hub: TestHub) => {
  const r = await hub.ask('GET', '/api/metrics');
  assert.is(r.status, 200);
  assert.is(r.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return readExposition(r.body);
};
const up = { service: 'ingle-scenario' };
const isThere = async (bus: Bus) => (await bus.listNames()).includes(scenario1.bus);

test('without the scenario service its numbers are missing, and nothing starts it', async ({ hub, bus }) => {
  const f = await scrape(hub);
  assert.is(valueIn(f, 'ingle_up', up), 0);
  assert.not(f.has('ingle_scenario_open_runs'));
  const before = valueIn(f, 'ingle_api_requests_total')!;
  assert.is(valueIn(await scrape(hub), 'ingle_api_requests_total'), before + 1);
  assert.not(await isThere(bus));
});

test('runs, steps and errors are counted, and told as one trace a run', async ({
  hub,
  bus,
  spans,
  bodies,
}) => {
  const topics: string[] = [];
  await bus.subscribe('io.*', (topic) => void topics.push(topic));
  await hub.startService('scenario', scenario1.bus);
  const steps = [
    { id: 'a', call: 'io.console.print', args: { text: 'a SECRET ${ctx.word}' } },
    { id: 'd', do: 'delay', for: '50ms' },
    { id: 'b', call: 'nobody.knows', onError: 'go', args: { x: 'SECRET' } },
    { id: 'c', call: 'io.console.print', args: {} },
  ];
  const prototype = { id: 'test/traced', version: '1.0.0', dslVersion: '1', name: 'SECRET', steps };
  assert.is((await hub.ask('POST', '/api/scenarios/push', { body: { prototype } })).status, 200);
  const { body } = await hub.ask('POST', '/api/scenario/run', {
    body: { id: 'test/traced', ctx: { word: 'SECRET' } },
  });
  const status = () => hub.ask('GET', `/api/scenario/status?run_id=${body.run_id}`);
  await until(async () => (await status()).body.finished_at, 'its end');
  const { trace_id } = (await status()).body.run;
  await until(() => spans.length === 5, 'the spans');
  assert.ok(spans.every((s) => s.traceId === trace_id));
  const byName = new Map(spans.map((s) => [s.name, s]));
  assert.equal([...byName.keys()].sort(), ['run test/traced', 'step a', 'step b', 'step c', 'step d']);
  const run = byName.get('run test/traced')!;
  assert.equal([run.parentSpanId, run.spanId, run.status.code], [undefined, spanId(body.run_id), 2]);
  for (const s of spans) if (s !== run) assert.is(s.parentSpanId, run.spanId, s.name);
  const codes = ['a', 'd', 'b', 'c'].map((id) => byName.get(`step ${id}`)!.status);
  assert.equal(codes, [
    { code: 0 },
    { code: 0 },
    { code: 2, message: codes[2]!.message },
    { code: 2, message: 'invalid_request' },
  ]);
  assert.not.match(bodies.join(), /SECRET/);

  const f = await scrape(hub);
  assert.is(valueIn(f, 'ingle_up', up), 1);
  assert.is(valueIn(f, 'ingle_scenario_runs_total', { scenario: 'test/traced', state: 'FAILED' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_run_seconds_count', { scenario: 'test/traced' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_step_seconds_count', { action: 'delay' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_step_errors_total', { code: 'invalid_request' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_events_total', { event: 'io.send' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_open_runs'), 0);
  assert.is(valueIn(f, 'ingle_otlp_spans_total', { outcome: 'sent' }), 5);
  assert.ok(topics.includes('io.send'));
});

test('what is said is told as an intent', async ({ hub, bus }) => {
  const heard: object[] = [];
  await bus.subscribe('intent.detected', (_, p) => void heard.push(p as object));
  const spoken: object[] = [];
  await bus.subscribe('nlp.intent.*', (topic, p) => void spoken.push({ topic, ...(p as object) }));
  const rules = { rules: [{ pattern: 'sing a song', intent: 'sing' }], lists: {}, bindings: {} };
  assert.is((await hub.ask('PUT', '/api/intent/rules', { body: rules })).status, 200);
  await hub.ask('POST', '/api/intent/recognize', { body: { text: 'sing a song', start: false } });
  await until(() => heard.length > 0, 'the intent');
  assert.is((heard[0] as { intent: string }).intent, 'sing');
  assert.equal(spoken, [], 'who asks what a sentence means begins nothing by it');
  await hub.ask('POST', '/api/intent/recognize', { body: { text: 'sing a song' } });
  await until(() => spoken.length > 0, 'its topic');
  const { user, ...said } = spoken[0] as { user: string };
  assert.equal(said, {
    topic: 'nlp.intent.sing',
    intent: 'sing',
    scenario_id: '',
    run_id: '',
    role: 'owner',
  });
  assert.ok(user !== '');
});

test('who collects does not keep the service awake, and its counters go on in the next process', async ({
  hub,
  bus,
}) => {
  await until(async () => {
    await scrape(hub);
    return !(await isThere(bus));
  }, 'its rest');
  assert.is(valueIn(await scrape(hub), 'ingle_up', up), 0);
  await hub.startService('scenario', scenario1.bus);
  const f = await scrape(hub);
  assert.is(valueIn(f, 'ingle_scenario_runs_total', { scenario: 'test/traced', state: 'FAILED' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_events_total', { event: 'intent.detected' }), 2);
  await hub.kill('scenario');
  await hub.startService('scenario', scenario1.bus);
  assert.not((await scrape(hub)).has('ingle_scenario_runs_total'), 'after a kill it begins at 0');
});

test('the owner may look, and nobody else', async ({ hub }) => {
  const as = { role: 'guest', owner_id: 'person_x', household: 'o1' } as never;
  assert.is((await hub.ask('GET', '/api/metrics', { as })).status, 403);
  assert.is((await fetch(`${hub.base}/api/metrics`)).status, 401);
});

test.run();
