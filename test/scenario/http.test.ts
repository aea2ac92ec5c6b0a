// http.fetch: to the hosts of the scenario and no other, narrowed by people, counted, and bounded in what comes back.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fromUtf8, utf8 } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Asked } from '../../firmware/scenario/action.ts';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import { checkImplementation } from '../../firmware/scenario/check-implementation.ts';
import { type Answered, httpActions, MOST_BODY, type Outgoing } from '../../firmware/scenario/http-action.ts';
import { effective } from '../../firmware/scenario/merge.ts';
import { migrate } from '../../firmware/scenario/migrate.ts';
import { openLab, scenario } from './lab.ts';

const api = 'api.example.org';
async function fetched(args: object, answer: Partial<Answered> = {}, hosts = [api]) {
  const sent: Outgoing[] = [];
  const action = httpActions({
    hostsOf: async () => hosts,
    async fetch(o) {
      sent.push(o);
      return { status: 200, url: o.url, headers: {}, body: utf8('hello'), ...answer };
    },
  })['http.fetch']!;
  const asked = { args, key: 'run/step/0', run_id: 'run' } as unknown as Asked;
  try {
    return { sent, result: await action.perform(asked) };
  } catch (e) {
    assert.ok(e instanceof IngleError, String(e));
    return { sent, code: (e as IngleError).code, message: (e as IngleError).message };
  }
}

test('it fetches, and gives text as text and JSON as what it is', async () => {
  const { sent, result } = await fetched({ url: `https://${api}/a?k=1` });
  assert.equal(result, { status: 200, body: 'hello' });
  assert.equal([sent[0]!.method, sent[0]!.hosts, sent[0]!.body.length], ['GET', [api], 0]);
  const json = {
    headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    body: utf8('{"a":[1]}'),
  };
  assert.equal((await fetched({ url: `https://${api}/` }, json)).result, { status: 200, body: { a: [1] } });
  const broken = { headers: { 'content-type': 'application/json' }, body: utf8('{') };
  assert.is((await fetched({ url: `https://${api}/` }, broken)).code, 'unavailable');
});

test('what is posted has its form and the key of its effect', async () => {
  const { sent } = await fetched({
    ...{ url: `https://${api}/`, method: 'POST' },
    ...{ headers: { Authorization: 'Bearer x' }, body: { a: 1 } },
  });
  assert.equal(sent[0]!.headers, {
    ...{ 'content-type': 'application/json', 'idempotency-key': 'run/step/0', authorization: 'Bearer x' },
  });
  assert.is(fromUtf8(sent[0]!.body), '{"a":1}');
  assert.equal((await fetched({ url: `https://${api}/`, method: 'POST', body: 'plain' })).sent[0]!.headers, {
    'idempotency-key': 'run/step/0',
  });
});

test('another host is refused before anything goes out, and its address is not repeated', async () => {
  for (const [url, hosts] of [
    ['https://other.example.org/?key=hidden', [api]],
    [`https://${api}.evil.example/?key=hidden`, [api]],
    [`https://${api}/?key=hidden`, []],
  ] as const) {
    const { sent, code, message } = await fetched({ url }, {}, [...hosts]);
    assert.equal([sent.length, code], [0, 'forbidden'], url);
    assert.not.match(message!, /hidden/);
  }
  for (const args of [
    {},
    { url: 5 },
    { url: 'nothing' },
    { url: `https://${api}/`, headers: 'x' },
    { url: `https://${api}/`, headers: { a: {} } },
  ])
    assert.is((await fetched(args)).code, 'invalid_request', JSON.stringify(args));
});

test('a host that cannot now is asked again later, and too much is refused', async () => {
  for (const status of [429, 500, 503])
    assert.is((await fetched({ url: `https://${api}/` }, { status })).code, 'unavailable');
  assert.equal((await fetched({ url: `https://${api}/` }, { status: 404 })).result, {
    status: 404,
    body: 'hello',
  });
  const large = { body: new Uint8Array(MOST_BODY + 1) };
  assert.is((await fetched({ url: `https://${api}/` }, large)).code, 'too_large');
});

test('each counts by the quota http, and one that is used up says so', async () => {
  const { takes } = httpActions({} as never)['http.fetch']!;
  const lab = await openLab({
    quotas: { http: { scenario: { day: 2 } } },
    actions: { 'http.fetch': { ...(takes ? { takes } : {}), perform: async () => null } },
  });
  const steps = [1, 2, 3].map((i) => ({ id: `f${i}`, call: 'http.fetch', args: { url: 'x' } }));
  const { run_id } = await lab.start(steps);
  const row = await lab.runs.ended(run_id);
  assert.equal([row?.state, row?.error?.code, row?.error?.step], ['FAILED', 'rate_limited', 'f3']);
  assert.match(row!.error!.message, /quota of http/);
  assert.is(lab.effects.length, 2);
});

const two = scenario([{ id: 'a', call: 'http.fetch', args: { url: 'x' } }], {
  hosts: [api, 'b.example.org'],
});

test('a prototype that fetches names hosts, and a person can only take some away', () => {
  const none = checkPrototype(scenario([{ id: 'a', call: 'http.fetch', args: { url: 'x' } }]));
  assert.equal(
    none.map((f) => f.code),
    ['no_hosts'],
  );
  assert.equal(checkPrototype(two), []);
  for (const host of ['*', 'API.example.org', 'localhost', '127.0.0.1', 'a.example.org:8'])
    assert.ok(checkPrototype({ ...two, hosts: [host] }).length > 0, host);
  const of = (hosts: string[]) => ({ rewriteVersion: 1, hosts });
  assert.equal(effective(two, of([api])).scenario.hosts, [api]);
  assert.equal(effective(two, of([])).scenario.hosts, []);
  assert.equal(effective(two, { rewriteVersion: 1 }).scenario.hosts, two.hosts);
  const wider = checkImplementation(of([api, 'c.example.org']), two);
  assert.equal(
    wider.map((f) => `${f.pointer} ${f.code}`),
    ['/hosts/1 no_host'],
  );
});

test('a newer version that fetches from fewer hosts takes them from people, and says so', () => {
  const m = migrate({ rewriteVersion: 1, hosts: [api, 'b.example.org'] }, two, { ...two, hosts: [api] });
  assert.equal(m.implementation.hosts, [api]);
  assert.equal(
    m.repaired.map((f) => f.code),
    ['host_gone'],
  );
  assert.equal(m.implementation.notes?.[0]?.value, 'b.example.org');
});

test.run();
