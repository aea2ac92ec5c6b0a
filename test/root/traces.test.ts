// Traces of root: within the trace of whoever asked, without anything of a person, and never in anybody's way.
import { createServer, type Server } from 'node:http';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { json } from '../../root/http.ts';
import { exportRequest, parentOf, type Span } from '../../root/spans.ts';
import { openTraces } from '../../root/traces.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { until } from '../lab/wait.ts';
import { call, signedIn, startRoot } from './kit.ts';

const test = suite('traces of root');

interface Sent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
  status: { code: number };
}

/** A collector: what it was sent, and how it answers. */
async function collector(answer: { status: number } = { status: 200 }) {
  const port = await freePort('127.0.0.1');
  const got: { path: string; type: string | undefined; text: string }[] = [];
  const server: Server = createServer((req, res) => {
    let text = '';
    req.on('data', (d) => {
      text += d;
    });
    req.on('end', () => {
      got.push({ path: req.url!, type: req.headers['content-type'], text });
      if (answer.status > 0) res.writeHead(answer.status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    ...{ url: `http://127.0.0.1:${port}`, got, answer },
    spans: () => got.flatMap((g) => JSON.parse(g.text).resourceSpans[0].scopeSpans[0].spans as Sent[]),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
const attribute = (s: Sent, key: string) =>
  Object.values(s.attributes.find((a) => a.key === key)?.value ?? {})[0];

test('a request joins the trace it names, with its steps in the records, and says nothing of anybody', async () => {
  const c = await collector();
  const root = await startRoot({ INGLE_ROOT_TRACES: `${c.url}/` });
  const { tab } = await signedIn(root);
  const [trace, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const asked = (flags: string) =>
    call(root, 'GET', '/v1/owner/credentials', undefined, {
      ...tab.bearer(),
      traceparent: `00-${trace}-${parent}-${flags}`,
    });
  assert.is((await asked('00')).status, 200);
  assert.is((await asked('01')).status, 200);
  await call(root, 'BREW', `/v1/invented?x=${tab.sid}`);
  await until(() => c.spans().some((s) => s.traceId === trace), 'the span of the request');
  await until(() => c.spans().some((s) => s.name === '_OTHER none'), 'the span of the last request');
  const of = c.spans().filter((s) => s.traceId === trace);
  const [top, ...more] = of.filter((s) => s.kind === 2);
  assert.equal([top!.name, top!.parentSpanId, more.length], ['GET credentials', parent, 0]);
  assert.is(attribute(top!, 'http.response.status_code'), '200');
  const steps = of.filter((s) => s.kind === 3);
  assert.ok(
    steps.some((s) => s.name === 'records passkeys.ofOwner'),
    steps.map((s) => s.name).join(),
  );
  for (const s of steps) {
    assert.is(s.parentSpanId, top!.spanId);
    assert.ok(BigInt(s.startTimeUnixNano) <= BigInt(s.endTimeUnixNano));
  }
  const logins = c.spans().filter((s) => s.name === 'POST loginFinish');
  assert.ok(logins.length === 1 && logins[0]!.parentSpanId === undefined);
  const all = c.got.map((g) => g.text).join();
  for (const secret of [
    tab.sid,
    tab.token,
    tab.cookie,
    'invented',
    'BREW',
    '127.0.0.1',
    tab.from['x-forwarded-for']!,
  ])
    assert.not.ok(all.includes(secret), secret);
  for (const g of c.got) assert.equal([g.path, g.type], ['/v1/traces', 'application/json']);
  await root.terminate();
  await root.stop();
  c.stop();
});

test('a collector that is away, silent or refuses keeps nobody, and what it misses is bounded and counted', async () => {
  const closed = `http://127.0.0.1:${await freePort('127.0.0.1')}`;
  const silent = await collector({ status: 0 });
  const refusing = await collector({ status: 503 });
  for (const url of [closed, silent.url, refusing.url]) {
    const traces = openTraces(url);
    const asked = { endpoint: 'live', method: 'GET', traceparent: '' };
    const done = async () => ({ reply: json({}), error: null });
    for (let i = 0; i < 5000; i++) await traces.observer.request(asked, done);
    assert.is(traces.counts().sent, 0);
    assert.ok(traces.counts().dropped >= 5000 - 2048 - 256, url);
    await traces.stop();
    // Beyond what it kept no room for: the one it tried to send.
    assert.is(traces.counts().sent, 0, url);
    assert.ok(traces.counts().dropped >= 5000 - 2048 + 256, `${url}: ${traces.counts().dropped} dropped`);
  }
  silent.stop();
  refusing.stop();
});

test('one that comes back gets what is traced from then on', async () => {
  const c = await collector({ status: 503 });
  const traces = openTraces(c.url);
  const asked = { endpoint: 'live', method: 'GET', traceparent: '' };
  const one = () => traces.observer.request(asked, async () => ({ reply: json({}), error: null }));
  await one();
  await until(() => traces.counts().dropped === 1, 'the refusal');
  c.answer.status = 200;
  await one();
  await until(() => traces.counts().sent === 1, 'the second span');
  // What a step throws goes on, and outside of a request nothing is traced.
  const failing = traces.observer.record('codes.take', () => Promise.reject(new Error('x')));
  assert.is(await failing.catch((e) => e.message), 'x');
  await traces.stop();
  assert.equal(traces.counts(), { sent: 1, dropped: 1 });
  c.stop();
});

test('traceparent: what is one is read, and nothing else', () => {
  const hex = (n: number) =>
    fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: n, maxLength: n }).map((d) => d.join(''));
  fc.assert(
    fc.property(hex(2), hex(32), hex(16), hex(2), fc.constantFrom('', '-x'), (version, t, s, flags, more) => {
      const isOne =
        version !== 'ff' && !/^0+$/.test(t) && !/^0+$/.test(s) && (version !== '00' || more === '');
      const read = parentOf(`${version}-${t}-${s}-${flags}${more}`);
      const isRecorded = (Number.parseInt(flags, 16) & 1) === 1;
      assert.equal(read, isOne ? { trace_id: t, span_id: s, isRecorded } : null);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => parentOf(text) === null));
  const good = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  assert.ok(parentOf(good));
  for (const bad of [good.toUpperCase(), ` ${good}`, `${good} `, `${good}-`, good.slice(1), `${good}\n`, ''])
    assert.is(parentOf(bad), null, bad);
  for (const zero of [
    `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
    `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`,
  ])
    assert.is(parentOf(zero), null);
});

test('a span that ends before it began takes no time, and ids are as they came', () => {
  const span: Span = {
    ...{ trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), parent: '', name: 'x', kind: 'server' },
    ...{ start: 1_700_000_000_000.25, end: 0, attributes: { n: 5 }, error: 'internal' },
  };
  const text = JSON.stringify(exportRequest('ingle-root', [span]));
  const sent = JSON.parse(text).resourceSpans[0].scopeSpans[0].spans[0] as Sent;
  assert.equal(
    [sent.startTimeUnixNano, sent.endTimeUnixNano],
    ['1700000000000250000', '1700000000000250000'],
  );
  assert.equal([attribute(sent, 'n'), attribute(sent, 'error.type'), sent.status.code], ['5', 'internal', 2]);
  assert.is('parentSpanId' in sent, false);
});

test.run();
