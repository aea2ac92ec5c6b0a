// timeout: 300 s
// Idempotency-Key: one browser's one request, done once; with anything else it is a conflict, and rights come first.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answered, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('idempotency');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status'] });
});
test.after((c) => c.hub.stop());

const refresh = '/skills/hub_status/v1/refresh';
const pin = '/v1/icons/pin';
interface Asked {
  browser: string;
  key: string;
  path: string;
  body: unknown;
}
const ask = (hub: TestHub, a: Asked, as: object = {}): Promise<Answered> =>
  hub.ask('POST', a.path, {
    as: { browser: a.browser, ...as },
    body: a.body,
    headers: { 'idempotency-key': a.key },
  });
const count = async (hub: TestHub): Promise<number> =>
  (await hub.ask('GET', '/skills/hub_status/v1/state', { as: {} })).body.refresh.count;

test('a key with another body, query, path or method is a conflict, and nothing is done', async ({ hub }) => {
  const first: Asked = {
    browser: 'b1',
    key: 'k1',
    path: pin,
    body: { skill_id: 'hub_status', pinned: true },
  };
  assert.is((await ask(hub, first)).status, 200);
  const before = await count(hub);
  for (const other of [
    { body: { skill_id: 'hub_status', pinned: false } },
    { path: `${pin}?x=1` },
    { path: '/v1/icons/order', body: { order: [] } },
    { path: refresh, body: {} },
  ]) {
    const r = await ask(hub, { ...first, ...other });
    assert.is(r.status, 409, JSON.stringify(other));
    assert.is(r.body.error, 'conflict');
    assert.match(r.body.message, /Idempotency-Key/);
  }
  const icons: Answered = await hub.ask('GET', '/v1/icons', { as: {} });
  assert.is(icons.body[0].pinned, true);
  assert.is(await count(hub), before);
  assert.is((await ask(hub, first)).status, 200, 'and the first request still has its answer');
});

test('rights are looked at before the journal answers', async ({ hub }) => {
  const a: Asked = { browser: 'b2', key: 'k2', path: refresh, body: {} };
  assert.is((await ask(hub, a)).status, 200);
  const refusals: [as: object, status: number][] = [
    [{ role: 'kid' }, 403],
    [{ role: 'guest', elevated_until: 0 }, 403],
    [{ elevated_until: 1 }, 401],
  ];
  for (const [as, status] of refusals) assert.is((await ask(hub, a, as)).status, status);
  const b: Asked = { ...a, path: '/api/admin/update/check' };
  assert.is((await ask(hub, b, { elevated_until: 1 })).status, 401, 'a path for which rights are missing');
  assert.is((await ask(hub, b)).status, 409);
});

test('a key is of one browser: another’s is another, and tells nothing of the first', async ({ hub }) => {
  const before = await count(hub);
  const a: Asked = { browser: 'b3', key: 'shared', path: refresh, body: {} };
  assert.is((await ask(hub, a)).status, 200);
  assert.is((await ask(hub, { ...a, browser: 'b4' })).status, 200);
  assert.is(await count(hub), before + 2);
  const other = await ask(hub, { ...a, browser: 'b5', path: pin, body: { skill_id: 7 } });
  assert.is(other.status, 400, 'as if the key were new');
  const local = { headers: { 'idempotency-key': 'shared' }, body: {} };
  assert.is((await hub.ask('POST', refresh, local)).status, 200);
  assert.is(await count(hub), before + 3, 'local control has keys of its own');
});

test('whatever is asked in whatever order, side by side and over kill -9, each request is done once', async ({
  hub,
}) => {
  const before = await count(hub);
  /** What each key of a browser was first used for, and the answer. */
  const model = new Map<string, { said: string; answer: Answered }>();
  let done = 0;
  let round = 0;
  const asked = fc.record({
    browser: fc.constantFrom('p1', 'p2', 'p3'),
    key: fc.constantFrom('a', 'b', 'c'),
    path: fc.constantFrom(refresh, `${refresh}?n=1`, `${refresh}?n=2`),
    body: fc.constantFrom({}, { n: 1 }, { n: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 6 }), fc.nat(7), async (list, kill) => {
      round++;
      for (const one of list) {
        const a = { ...one, key: `${one.key}${round % 4}` };
        const name = `${a.browser} ${a.key}`;
        const said = JSON.stringify([a.path, a.body]);
        const [r, again] = await Promise.all([ask(hub, a), ask(hub, a)]);
        const known = model.get(name);
        if (known && known.said !== said) {
          assert.equal([r.status, again.status], [409, 409]);
          continue;
        }
        assert.equal([r.status, again.status], [200, 200]);
        assert.equal(r.body, again.body);
        if (known) assert.equal(r.body, known.answer.body);
        else {
          model.set(name, { said, answer: r });
          done++;
        }
      }
      if (kill === 0) {
        await hub.kill('api');
        await hub.startApi();
        await hub.available('hub_status');
      }
      assert.is(await count(hub), before + done);
    }),
    { numRuns: 60 },
  );
});

test.run();
