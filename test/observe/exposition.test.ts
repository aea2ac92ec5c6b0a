// What is counted, as text: read by a strict reader, with names that want to break it.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { countIn, exposition, histogramOf, samplesOf } from '../../firmware/observe/exposition.ts';
import { openMetrics } from '../../firmware/scenario/metrics.ts';
import { readExposition, valueIn } from './prometheus.ts';

test('labels and help say what they are given, whatever is in it', () => {
  const nasty = 'a"b\\c\nd,e="f"} 1';
  const text = exposition([
    {
      name: 'x_total',
      type: 'counter',
      help: 'One\nand \\ two',
      samples: [{ labels: { l: nasty }, value: 3 }],
    },
    { name: 'nothing', type: 'gauge', help: 'None.', samples: [] },
    { name: 'y', type: 'gauge', help: 'Y.', samples: [{ value: 0.5 }] },
  ]);
  const read = readExposition(text);
  assert.equal([...read.keys()], ['x_total', 'y']);
  assert.is(valueIn(read, 'x_total', { l: nasty }), 3);
  assert.is(read.get('x_total')!.help, 'One\\nand \\\\ two');
});

test('a histogram counts a value in the bucket whose bound it does not pass', () => {
  const bounds = [0.1, 1];
  const h = histogramOf(bounds);
  for (const v of [0.05, 0.1, 0.5, 7]) countIn(h, bounds, v);
  const read = readExposition(
    exposition([{ name: 'h', type: 'histogram', help: 'H.', samples: samplesOf(h, bounds, { of: 'a' }) }]),
  );
  const at = (le: string) => valueIn(read, 'h_bucket', { of: 'a', le });
  assert.equal([at('0.1'), at('1'), at('+Inf')], [2, 3, 4]);
  assert.equal([valueIn(read, 'h_sum', { of: 'a' }), valueIn(read, 'h_count', { of: 'a' })], [7.65, 4]);
});

const isRefused = (text: string): boolean => {
  try {
    readExposition(text);
    return false;
  } catch {
    return true;
  }
};

test('the reader takes nothing else', () => {
  const good = '# HELP a_total A.\n# TYPE a_total counter\na_total{x="1"} 1\n';
  readExposition(good);
  for (const bad of [
    good.slice(0, -1),
    good.replace('"1"', '1'),
    good.replace('"1"', '"\\q"'),
    good.replace('} 1', '} one'),
    good.replace('} 1', '} 1 2'),
    good.replace('# HELP a_total A.\n', ''),
    good.replace('counter', 'count'),
    `${good}a_total{x="1"} 2\n`,
    `${good}b_total 2\n`,
    `${good}\n`,
    good + good,
  ])
    assert.ok(isRefused(bad), bad);
});

const finish = (m: ReturnType<typeof openMetrics>, id: string, state = 'DONE', latency_ms = 1500) =>
  m.tell('scenario.finish', { run_id: 'r', scenario_id: id, state, latency_ms });
const read = (m: ReturnType<typeof openMetrics>) =>
  readExposition(exposition(m.families({ open: 2, jobs: 3 })));

test('runs, steps, errors and events are counted where they belong', () => {
  const m = openMetrics();
  m.tell('scenario.start', { scenario_id: 'home/a' });
  m.tell('step.finish', { action: 'io.say', latency_ms: 20 });
  m.tell('step.error', { action: 'io.say', error: 'timeout', latency_ms: 20 });
  finish(m, 'home/a');
  finish(m, 'home/a', 'FAILED');
  const f = read(m);
  assert.is(valueIn(f, 'ingle_scenario_events_total', { event: 'scenario.finish' }), 2);
  assert.is(valueIn(f, 'ingle_scenario_runs_total', { scenario: 'home/a', state: 'FAILED' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_step_errors_total', { code: 'timeout' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_run_seconds_sum', { scenario: 'home/a' }), 3);
  assert.is(valueIn(f, 'ingle_scenario_step_seconds_bucket', { action: 'io.say', le: '0.05' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_step_seconds_bucket', { action: 'io.say', le: '0.01' }), 0);
  assert.equal([valueIn(f, 'ingle_scenario_open_runs'), valueIn(f, 'ingle_scenario_jobs')], [2, 3]);
});

test('a thousand scenarios, actions and codes make no thousand series, and nothing is left out', () => {
  const m = openMetrics();
  for (let i = 0; i < 1000; i++) {
    finish(m, `home/s${i}`);
    m.tell('step.finish', { action: `skill.a${i}`, latency_ms: 1 });
    m.tell('step.error', { action: 'x', error: `code${i}` });
  }
  const f = read(m);
  for (const [name, read] of f) assert.ok(read.samples.length <= 33 * 16, `${name}: ${read.samples.length}`);
  const runs = f.get('ingle_scenario_runs_total')!.samples;
  assert.is(
    runs.reduce((sum, s) => sum + s.value, 0),
    1000,
  );
  assert.is(valueIn(f, 'ingle_scenario_runs_total', { scenario: 'other', state: 'DONE' }), 968);
  assert.is(valueIn(f, 'ingle_scenario_step_seconds_count', { action: 'other' }), 968);
});

test('names of every object are names like others', () => {
  const m = openMetrics();
  for (const name of ['constructor', '__proto__', 'toString']) {
    m.tell('step.finish', { action: name, latency_ms: 1 });
    finish(m, name);
  }
  const f = read(m);
  assert.is(valueIn(f, 'ingle_scenario_step_seconds_count', { action: '__proto__' }), 1);
  assert.is(valueIn(f, 'ingle_scenario_runs_total', { scenario: 'constructor', state: 'DONE' }), 1);
});

test('the next process goes on counting, unless its buckets are others', () => {
  const m = openMetrics();
  finish(m, 'home/a');
  const kept = JSON.parse(JSON.stringify(m.counted()));
  const next = openMetrics(kept);
  finish(next, 'home/a');
  assert.is(valueIn(read(next), 'ingle_scenario_runs_total', { scenario: 'home/a', state: 'DONE' }), 2);
  assert.is(valueIn(read(next), 'ingle_scenario_run_seconds_count', { scenario: 'home/a' }), 2);
  kept.run_s['home/a'].counts = [1];
  const other = openMetrics(kept);
  assert.is(valueIn(read(other), 'ingle_scenario_run_seconds_count', { scenario: 'home/a' }), undefined);
});

test.run();
