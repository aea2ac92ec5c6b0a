// timeout: 300 s
// A slice of what `npm run test:soak:fuzz` sends.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Gate } from '../../root/gate.ts';
import { hubSide } from '../../root/hub-side.ts';
import { ownerSide } from '../../root/owner-side.ts';
import type { Root } from '../../root/root.ts';
import { events, footprint, fuzz } from './fuzzed.ts';
import { errorFault } from './fuzzed-answers.ts';
import { endpoints, systematic } from './fuzzed-requests.ts';
import { bound, heard, type RootProcess, signedIn, startRoot, until } from './kit.ts';

/** Of `INGLE_SEED`, which draws others. */
const SEED = Number(process.env['INGLE_SEED'] ?? 20261126);
/** Every place meets some values; all of them meet all in `systematic.length * 8 / 3` inputs. */
const INPUTS = 6000;

const test = suite<{ root: RootProcess }>('fuzz');
test.before(async (c) => {
  // Wrong codes and new hubs are what is sent here; their bounds have tests of their own.
  c.root = await startRoot({ INGLE_ROOT_SURGE: '1000000', INGLE_ROOT_GUESSES: '1000000' });
});
test.after((c) => c.root.stop());

test('whatever comes to any endpoint, socket or port, it is answered in the one shape, and nothing of it stays', async ({
  root,
}) => {
  const { hub, tab, line, owner } = await bound(root);
  // Warm first: what a compiler and a database keep for good is no leak.
  await fuzz(root, { seed: SEED + 1, from: 0, to: 500, workers: 4 });
  const before = footprint(root);
  const { kinds, statuses } = await fuzz(root, { seed: SEED, from: 0, to: INPUTS, workers: 4 });
  for (const kind of ['field', 'body', 'head', 'packet', 'handshake', 'bytes'])
    assert.ok(kinds[kind]! > INPUTS / 40, `${kind}: ${kinds[kind]}`);
  for (const status of [200, 400, 401, 403, 404, 405]) assert.ok(statuses[status]! > 0, `no ${status}`);
  const passed = heard(line, 'relay.to_hub');
  owner.emit('relay.to_hub', { sid: tab.sid, frame: Buffer.from([1]), ctr: 2 ** 40 });
  await passed;
  assert.ok(root.alive());
  assert.not.match(root.log(), / error /, 'nothing failed inside');
  await until(() => footprint(root).descriptors <= before.descriptors, 'descriptors to be as many as before');
  await until(() => footprint(root).bytes < before.bytes + 48 * 1024 * 1024, 'memory to be about as before');
  console.log(`FIGURE root.fuzz.inputs ${INPUTS} seed ${SEED} ${JSON.stringify(statuses)}`);
  line.close();
  owner.close();
});

test('what is sent covers every endpoint, and garbage every field of every body', () => {
  const sent = new Set(systematic.map(({ place }) => place.e.name));
  const withBody = endpoints.filter((e) => e.body).map((e) => e.name);
  assert.equal(
    withBody.filter((name) => !sent.has(name)),
    [],
  );
  assert.ok(endpoints.length >= 20);
});

test('what is sent covers every event', () => {
  const root = { config: { proxies: 0, trustedProxies: [], mtlsHeader: '' } } as unknown as Root;
  const answered = [hubSide, ownerSide].flatMap((side) => Object.keys(side(root, {} as Gate).events));
  assert.ok(answered.length >= 5);
  for (const event of answered) assert.ok(events.includes(event), event);
});

test('an answer with internal words, of another shape or another status is told', () => {
  const good = { error: 'not_found', message: 'There is nothing here.' };
  assert.is(errorFault(404, JSON.stringify(good)), '');
  assert.is(errorFault(0, JSON.stringify({ ...good, ok: false }), ['ok']), '');
  for (const [status, body] of [
    [500, { error: 'internal', message: 'Something went wrong.' }],
    [400, good],
    [404, { ...good, stack: 'x' }],
    [404, { ...good, error: 'nothing' }],
    [404, { ...good, message: 'TypeError: x is not a function.' }],
    [404, { ...good, message: 'The value undefined is wrong.' }],
    [404, { ...good, message: 'SQLITE_BUSY: database is locked.' }],
    [404, { ...good, message: 'no sentence' }],
  ] as const)
    assert.is.not(errorFault(status, JSON.stringify(body)), '', JSON.stringify(body));
  assert.is.not(errorFault(404, 'Not found'), '');
});

test('the log holds no sid, token, code or frame', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const code = await hub.code();
  for (const secret of [tab.sid, tab.token, tab.cookie, hub.certificate, code, code.replace('-', '')])
    assert.not.ok(root.log().includes(secret));
});

test.run();
