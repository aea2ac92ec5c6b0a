// timeout: 400 s
// kill -9 of uplink and root while an owner works: the browser is back by itself, and nothing is lost or done twice.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorTable, fromBody } from '../../firmware/protocol/errors.ts';
import { type Op, openOutbox } from '../../firmware/protocol/tunnel/outbox.ts';
import { until } from '../root/kit.ts';
import { accessOf, type Home, type Phone, phone, signIn, withHub } from './kit.ts';

interface World extends Home {
  p: Phone;
}
const test = suite<World>('kill -9');
withHub(test);
test.before(async (c) => {
  const code = await c.hub.calls.IssueCode({ new_passkey: false });
  const tab = await signIn(c.root, code.device_code);
  c.p = await phone(c.root, tab, c.hubId, accessOf(code.link).access);
  await c.p.up();
});
test.after((c) => c.p?.close());

function memory() {
  const ops = new Map<string, Op>();
  return {
    load: async () => [...ops.values()],
    put: async (op: Op) => void ops.set(op.id, op),
    remove: async (id: string) => void ops.delete(id),
  };
}

/** Rounds of ten changes each, with a kill at a random moment of each round. Every change must be done exactly once. */
async function underFire({ p, api }: World, figure: string, fall: () => Promise<void>) {
  const before = api.runs;
  const outbox = await openOutbox({
    storage: memory(),
    backoff: 50,
    async send(op) {
      const r = await p.post(op.path, JSON.stringify(op.body), { 'idempotency-key': op.id });
      if (r.status >= 400) throw fromBody(JSON.parse(r.text), r.status);
      return JSON.parse(r.text);
    },
  });
  outbox.online();
  const waiting: Promise<unknown>[] = [];
  const ids: string[] = [];
  const back: number[] = [];
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 10; i++) {
      const { id, done } = await outbox.enqueue({ method: 'POST', path: '/once', body: { round, i } });
      ids.push(id);
      waiting.push(done);
    }
    await new Promise((ok) => setTimeout(ok, Math.random() * 60));
    const began = performance.now();
    await fall();
    await until(
      async () => (await p.get('/alive').catch(() => null))?.status === 200,
      'the browser to be back',
    );
    back.push(Math.round(performance.now() - began));
    outbox.online();
  }
  await Promise.all(waiting);
  assert.is(outbox.pending.length, 0);
  assert.is(api.runs - before, ids.length);
  for (const [n, id] of ids.entries()) {
    const stored = JSON.parse(api.done.get(id)!);
    assert.equal(stored, { round: Math.floor(n / 10), i: n % 10 });
  }
  outbox.close();
  console.log(`\nFIGURE ${figure} ${Math.max(...back)}`);
}

test('changes made while the uplink is killed again and again are each done once', (c) =>
  underFire(c, 'uplink_kill9_to_answer_ms_max', async () => {
    await c.hub.kill();
    await c.hub.again();
  }));

test('changes made while root is killed again and again are each done once, and nobody has to help', (c) =>
  underFire(c, 'root_kill9_to_answer_ms_max', async () => {
    await c.root.kill();
    await c.root.again();
  }));

test('the browser is back without a person after kill -9 of root', async ({ root, p, hub }) => {
  await root.kill();
  await until(async () => !(await hub.calls.Status({})).connected);
  assert.match((await hub.calls.Status({})).last_error, /does not answer/);
  const began = performance.now();
  await root.again();
  await until(
    async () => (await p.get('/alive').catch(() => null))?.status === 200,
    'the browser to be back',
  );
  console.log(`\nFIGURE root_start_to_answer_ms ${Math.round(performance.now() - began)}`);
  assert.is((await hub.calls.Status({})).last_error, '');
});

test('SIGTERM ends the uplink in order, and a bus that goes ends it with an error', async ({ hub, p }) => {
  assert.is(await hub.terminate(), 0);
  await hub.again();
  await p.up();
  await hub.daemon.stop();
  await until(() => hub.exit() !== null);
  assert.is(hub.exit(), errorTable.unavailable.exit);
});

test.run();
