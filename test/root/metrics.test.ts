// What root tells its operators: whether it is ready and what of it is not, and metrics on an address of their own.
import { readFileSync } from 'node:fs';
import type { Socket } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { rootApi } from '../../root/endpoints.ts';
import { openHealth } from '../../root/health.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { ask, bound, call, newHub, newTab, type RootProcess, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess; at: string }>('metrics of root');
test.before(async (c) => {
  const port = await freePort('127.0.0.1');
  c.at = `http://127.0.0.1:${port}/metrics`;
  c.root = await startRoot({ INGLE_ROOT_METRICS: `127.0.0.1:${port}`, INGLE_ROOT_SURGE: '1000' });
});
test.after(async (c) => c.root?.stop());

/** All series of the text format, by name and labels. */
async function scrape(at: string): Promise<Map<string, number>> {
  const r = await fetch(at, { headers: { connection: 'close' } });
  assert.is(r.status, 200);
  assert.match(r.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const lines = (await r.text()).split('\n').filter((l) => l !== '' && !l.startsWith('#'));
  return new Map(lines.map((l) => [l.slice(0, l.lastIndexOf(' ')), Number(l.slice(l.lastIndexOf(' ') + 1))]));
}
const has = (at: string, series: string, value: number) =>
  until(async () => (await scrape(at)).get(series) === value, `${series} ${value}`);

test('connections, frames, drops, logins and codes are counted, and gone connections no longer', async ({
  root,
  at,
}) => {
  const { hub, tab, line, owner } = await bound(root);
  const before = await scrape(at);
  const [up, bytes] = [
    'ingle_root_frames_total{direction="up"}',
    'ingle_root_frame_bytes_total{direction="up"}',
  ];
  const frame = Buffer.alloc(1000, 7);
  for (let ctr = 1; ctr <= 5; ctr++) await ask(owner, 'relay.to_hub', { sid: tab.sid, frame, ctr });
  assert.is((await ask(owner, 'relay.to_hub', { sid: tab.sid, frame, ctr: 5 })).ok, false);
  await ask(line, 'relay.to_browser', { sid: tab.sid, frame, ctr: 1 });
  const after = await scrape(at);
  assert.is(after.get(up)! - before.get(up)!, 5);
  assert.is(after.get(bytes)! - before.get(bytes)!, 5000);
  assert.is(after.get('ingle_root_frames_total{direction="down"}'), 1);
  assert.is(after.get('ingle_root_dropped_total{reason="counter"}'), 1);
  assert.is(after.get('ingle_root_dropped_total{reason="rate"}'), 0);
  assert.is(after.get('ingle_root_connections{kind="hub"}'), 1);
  assert.is(after.get('ingle_root_connections{kind="browser"}'), 1);
  assert.is(after.get('ingle_root_logins_total{result="ok"}'), 1);
  assert.is(after.get('ingle_root_codes_total{result="taken"}'), 1);
  assert.is(after.get('ingle_root_draining'), 0);
  const wrong = await (await newTab(root)).verify('000-000');
  assert.is(wrong.status, 400);
  const codes = await scrape(at);
  assert.is(codes.get('ingle_root_codes_total{result="wrong"}'), 1);
  for (const s of [line, owner]) s.close();
  for (const kind of ['hub', 'browser', 'stranger'])
    await has(at, `ingle_root_connections{kind="${kind}"}`, 0);
});

test('a connection whose owner is let in after it has gone is counted once and then never', async ({
  root,
  at,
}) => {
  const hubs = await Promise.all(Array.from({ length: 12 }, () => newHub(root)));
  const all: Socket[] = [];
  for (let round = 0; round < 3; round++)
    for (const hub of hubs) {
      const s = hub.socket();
      all.push(s);
      s.on('connect', () => s.close());
      // Some leave while root looks at their proof.
      setTimeout(() => s.io.engine?.close(), round * 3);
      setTimeout(() => s.close(), 40);
    }
  await until(() => all.every((s) => !s.connected && s.io.engine?.readyState !== 'open'), 'all to leave');
  // Whoever comes after them is counted after them.
  const last = hubs[0]!.socket();
  await has(at, 'ingle_root_connections{kind="hub"}', 1);
  last.close();
  for (const kind of ['hub', 'stranger']) await has(at, `ingle_root_connections{kind="${kind}"}`, 0);
});

test('answers are counted by endpoint and class; nothing a client invents becomes a series', async ({
  root,
  at,
}) => {
  for (let i = 0; i < 40; i++) {
    await call(root, 'GET', `/v1/invented-${i}`);
    await call(root, i % 2 ? 'PUT' : 'BREW', '/v1/session');
    await call(root, 'GET', `/invented-${i}`);
    await call(root, 'GET', `/skill-ui/invented_${i}/v1/ui/x?ticket=y${i}`);
  }
  await call(root, 'GET', '/health/live');
  const series = await scrape(at);
  assert.ok(series.get('ingle_root_http_answers_total{endpoint="live",class="2xx"}')! >= 1);
  assert.ok(series.get('ingle_root_http_answers_total{endpoint="none",class="4xx"}')! >= 80);
  assert.ok(series.get('ingle_root_http_seconds_count{endpoint="page"}')! >= 40);
  assert.ok(series.get('ingle_root_records_seconds_count{verb="sessions.begin"}')! >= 1);
  const names = new Set([...Object.keys(rootApi), 'file', 'none']);
  for (const one of series.keys()) {
    assert.not.match(one, /invented|sid=|owner|hub_[\w-]{16}|127\.0\.0\.1|10\.\d+\./, one);
    const endpoint = /endpoint="([^"]*)"/.exec(one)?.[1];
    assert.ok(endpoint === undefined || names.has(endpoint), one);
  }
  assert.ok(series.size < 1200, `${series.size} series`);
});

test('metrics are at their own address and nowhere else', async ({ root, at }) => {
  assert.not.match((await call(root, 'GET', '/metrics')).body?.toString() ?? '', /ingle_root_/);
  assert.is((await fetch(`${at}/x`)).status, 404);
  assert.is((await fetch(at, { method: 'POST' })).status, 404);
  for (const part of [
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_p99_seconds',
    'process_resident_memory_bytes',
  ])
    assert.ok((await scrape(at)).has(part), part);
});

test('readiness names what is missing, also where the database is silent', async () => {
  const ready = (answer: () => Promise<void>) => openHealth({ ready: answer }, undefined, 20);
  assert.equal(await ready(async () => {}).notReady(), []);
  const failing = ready(() => Promise.reject(new Error('postgresql://u:hunter2@10.0.0.1')));
  assert.equal(await failing.notReady(), ['records']);
  const silent = ready(() => new Promise(() => {}));
  assert.equal(await silent.notReady(), ['records']);
  silent.drain();
  assert.equal(await silent.notReady(), ['records', 'draining']);
});

/** The queries of the board, and those of the alert rules by name. */
function queries() {
  const board = JSON.parse(readFileSync('root/ops/grafana.json', 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const exprs = board.panels.flatMap((p) => p.targets?.map((t) => t.expr) ?? []);
  const alerts = parse(readFileSync('root/ops/alerts.yaml', 'utf8')) as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
  };
  return { exprs, rules: alerts.groups.flatMap((g) => g.rules) };
}

test('each metric that the board and the alerts name is one root has, and so is each label and its values', async ({
  root,
  at,
}) => {
  // What appears with the first event only.
  await call(root, 'GET', '/health/live');
  await call(root, 'GET', '/v1/session');
  const labels = (text: string) => [...text.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)];
  /** Values of each label of each metric. */
  const known = new Map<string, Map<string, Set<string>>>();
  for (const series of (await scrape(at)).keys()) {
    const name = series.replace(/\{.*$/, '');
    const of = known.get(name) ?? new Map<string, Set<string>>();
    known.set(name, of);
    for (const [, label, , value] of labels(series))
      of.set(label!, (of.get(label!) ?? new Set<string>()).add(value!));
  }
  const classes = new Set(['2xx', '3xx', '4xx', '5xx']);
  known.get('ingle_root_http_answers_total')!.set('class', classes);
  const endpoints = new Set(Object.keys(rootApi));
  for (const of of known.values()) if (of.has('endpoint')) of.set('endpoint', endpoints);
  const { exprs, rules } = queries();
  assert.ok(exprs.length >= 10);
  assert.ok(rules.length >= 6);
  for (const r of rules) assert.ok(r.annotations.summary.endsWith('.'), r.alert);
  /** What Prometheus itself adds. */
  const ofScrape = ['instance', 'job'];
  for (const expr of [...exprs, ...rules.map((r) => r.expr)]) {
    const named = [...expr.matchAll(/\b((?:ingle_root|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)];
    assert.ok(named.length > 0 || /^up\{/.test(expr), expr);
    const has = new Set(ofScrape);
    for (const [, name, matchers = ''] of named) {
      const of = known.get(name!);
      assert.ok(of, `${name} in ${expr}`);
      for (const label of of.keys()) has.add(label);
      for (const [, label, , values] of labels(matchers))
        for (const value of values!.split('|'))
          assert.ok(ofScrape.includes(label!) || of.get(label!)?.has(value), `${label} ${value} in ${expr}`);
    }
    for (const [, by] of expr.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of by!.split(/, */)) assert.ok(has.has(label), `by ${label} in ${expr}`);
  }
});

test('who looks whether root is well makes no failure of it: that is what 503 is for', () => {
  const { expr } = queries().rules.find((r) => r.alert === 'IngleRootFails')!;
  const looks = Object.entries(rootApi)
    .filter(([, e]) => e.path.startsWith('/health/'))
    .map(([name]) => name);
  assert.ok(looks.length >= 3);
  const left = [...expr.matchAll(/endpoint!~"([^"]*)"/g)].map(([, names]) => names!.split('|').sort());
  assert.equal(left, [looks.sort(), looks.sort()]);
});

test.run();
