// timeout: 240 s
// The eight events of scenarios: each is in the log of a hub as it is set, in the stream, and counted for Prometheus.
import type { ChildProcess } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { start, stop } from '../../firmware/system/exec.ts';
import { tethered } from '../lab/child.ts';
import { programOf } from '../lab/program.ts';
import { tried, until } from '../lab/wait.ts';
import { readExposition, valueIn } from '../observe/prometheus.ts';
import { serveUplink, startHub, type TestHub } from './hub.ts';

const events = [
  ...['scenario.start', 'scenario.finish', 'step.start', 'step.finish', 'step.error'],
  ...['io.send', 'io.receive', 'intent.detected'],
];
const test = suite<{ hub: TestHub; bus: Bus; service: ChildProcess; log: { text: string } }>(
  'events of scenarios',
);
test.before(async (c) => {
  c.hub = await startHub({ env: { INGLE_LANG: 'en' } });
  c.bus = await connect(c.hub.bus.address);
  await serveUplink(c.bus);
  c.log = { text: '' };
  const { INGLE_LOG: _, ...env } = c.hub.env as Record<string, string>;
  const [first, ...rest] = [...tethered, process.execPath, ...programOf('services/scenario/main.ts')];
  c.service = start(first!, rest, { env, stdio: ['ignore', 'inherit', 'pipe'] });
  c.service.stderr!.on('data', (d) => (c.log.text += d));
  await until(
    tried(async () => (await c.bus.listNames()).includes(scenario1.bus)),
    'the service',
  );
  await c.hub.ask('POST', '/api/skills/developer', { body: { on: true } });
});
test.after(async (c) => {
  await stop(c.service);
  c.bus.close();
  await c.hub.stop();
});

/** A stream that is read until it is ended. */
async function streamOf(hub: TestHub) {
  const abort = new AbortController();
  const headers = { 'x-service-token': hub.token() };
  const r = await fetch(`${hub.base}/api/observe/stream`, { headers, signal: abort.signal });
  const heard = { text: '' };
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of r.body as unknown as AsyncIterable<Uint8Array>)
      heard.text += decoder.decode(chunk, { stream: true });
  })().catch(() => {});
  await until(() => heard.text.includes('retry: '), 'the beginning of the stream');
  return {
    /** The payloads of an event, in order. */
    of: (event: string): Record<string, unknown>[] =>
      heard.text.split('\n\n').flatMap((block) => {
        const [, data = '{}'] = /^data: (.*)$/m.exec(block) ?? [];
        const { topic, payload } = JSON.parse(data);
        return topic === event ? [payload] : [];
      }),
    end: () => {
      abort.abort();
      return ended;
    },
  };
}

test('each of the eight is in the log, in the stream and among what is counted, with what it is of', async ({
  hub,
  bus,
  log,
}) => {
  const steps = [
    { id: 'print', call: 'io.console.print', args: { text: 'Hello' } },
    { id: 'bell', do: 'wait_for', topic: 'external.bell', timeout: '1h' },
    { id: 'bad', call: 'nobody.knows', onError: 'go' },
  ];
  const prototype = {
    ...{ id: 'test/told', version: '1.0.0', dslVersion: '1', name: 'Told', steps },
    triggers: [{ type: 'intent', name: 'tell' }],
  };
  assert.is((await hub.ask('POST', '/api/scenarios/push', { body: { prototype } })).status, 200);
  const rules = [{ intent: 'tell', pattern: 'tell of it all' }];
  assert.is((await hub.ask('PUT', '/api/intent/rules', { body: { rules } })).status, 200);
  const stream = await streamOf(hub);
  const { body } = await hub.ask('POST', '/api/intent/recognize', { body: { text: 'tell of it all' } });
  const { run_id } = body;
  const run = async () => (await hub.ask('GET', `/api/scenario/status?run_id=${run_id}`)).body.run;
  await until(async () => (await run()).waits?.for === 'event', 'it to wait');
  bus.publish('external.bell', { rung: true });
  await until(async () => (await run()).finished_at, 'its end');
  await until(() => stream.of('scenario.finish').length > 0, 'the events');
  await stream.end();
  const counted = readExposition((await hub.ask('GET', '/api/metrics')).body);
  for (const event of events) {
    const told = stream.of(event);
    assert.ok(told.length > 0, `${event} in the stream`);
    const isIntent = event === 'intent.detected';
    for (const one of told)
      assert.is(one[isIntent ? 'scenario_id' : 'run_id'], isIntent ? 'test/told' : run_id, event);
    assert.match(
      log.text,
      new RegExp(`info scenario: ${event.replace('.', '\\.')} .*`),
      `${event} in the log`,
    );
    assert.is(valueIn(counted, 'ingle_scenario_events_total', { event }), told.length, `${event} counted`);
  }
  const fields = (event: string, ...names: string[]) =>
    stream.of(event).map((p) => names.map((n) => p[n]).join(' '));
  assert.equal(fields('step.start', 'step', 'action'), [
    'print io.console.print',
    'bell wait',
    'bad nobody.knows',
  ]);
  assert.equal(fields('step.finish', 'step'), ['print', 'bell']);
  assert.equal(fields('step.error', 'step', 'error'), ['bad not_found']);
  assert.equal(fields('io.send', 'step', 'way'), ['print console']);
  assert.equal(fields('io.receive', 'step', 'topic'), ['bell external.bell']);
  assert.equal(fields('scenario.finish', 'state'), ['DONE']);
});

test.run();
