// timeout: 300 s
import { io, type Socket } from 'socket.io-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import type { RouteStatus } from '../../firmware/protocol/wire.ts';
import { ask, bound, heard, newHub, newTab, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('sockets');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root.stop());

/** A hub and a browser with a bound route, and what each hears. */
async function heardBoth(root: RootProcess) {
  const { hub, tab, line, owner } = await bound(root);
  const atHub: number[] = [];
  const atBrowser: number[] = [];
  line.on('relay.to_hub', (m: { ctr: number }) => atHub.push(m.ctr));
  owner.on('relay.to_browser', (m: { ctr: number }) => atBrowser.push(m.ctr));
  return {
    hub,
    tab,
    line,
    owner,
    atHub,
    atBrowser,
    close() {
      line.close();
      owner.close();
    },
  };
}
const refused = async (s: Socket) => {
  const [e] = (await heard(s, 'connect_error')) as [Error & { data?: { error: string } }];
  s.close();
  return e.data?.error;
};
const frame = (n = 3) => Buffer.alloc(n, 3);

test('a handshake without the right papers is refused in the one shape', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const other = await signedIn(root);
  const connect = (nsp: string, auth: object, headers: Record<string, string> = {}) =>
    io(`${root.url}${nsp}`, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      auth,
      extraHeaders: headers,
    });
  const cookie = { cookie: tab.cookie };
  const owner = { token: tab.token, sid: tab.sid };
  assert.is(await refused(connect('/owner', owner)), 'unauthenticated', 'no cookie');
  assert.is(await refused(connect('/owner', { ...owner, sid: other.tab.sid }, cookie)), 'unauthenticated');
  assert.is(
    await refused(connect('/owner', { ...owner, token: other.tab.token }, cookie)),
    'unauthenticated',
  );
  assert.is(await refused(connect('/owner', {}, cookie)), 'unauthenticated');
  assert.is(await refused(connect('/owner', { ...owner, more: 1 }, cookie)), 'invalid_request');
  const papers = { hub_id: hub.hub_id, certificate: hub.certificate };
  assert.is(
    await refused(connect('/hub', { ...papers, proof: await other.hub.proof('socket') })),
    'unauthenticated',
  );
  assert.is(await refused(connect('/hub', papers)), 'unauthenticated', 'no proof');
  assert.is(
    await refused(connect('/hub', { ...papers, hub_id: other.hub.hub_id, proof: await hub.proof('socket') })),
    'unauthenticated',
  );
  const proof = await hub.proof('socket');
  const byName = connect('/owner', { session_jwt: tab.token }, cookie);
  await heard(byName, 'connect');
  byName.close();
  const good = connect('/hub', { ...papers, proof });
  await heard(good, 'connect');
  assert.is(await refused(connect('/hub', { ...papers, proof })), 'unauthenticated', 'a proof opens once');
  good.close();
  assert.is(await refused(connect('/', {})), 'forbidden');
  const nowhere = connect('/elsewhere', {});
  await heard(nowhere, 'connect_error');
  nowhere.close();
  const foreign = connect('/owner', owner, { ...cookie, origin: 'https://evil.example' });
  await heard(foreign, 'connect_error');
  foreign.close();
  assert.ok(root.alive());
});

test('a browser is told that its route is bound when it is, not with the next beat', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const line = hub.socket({ accept: false });
  const owner = tab.socket();
  await Promise.all([heard(line, 'connect'), heard(owner, 'status')]);
  await ask(line, 'hub.online', hub.online());
  const request = heard(line, 'pairing.request');
  await tab.offer();
  await request;
  assert.is(owner.last!.route, 'waiting');
  assert.is((await ask(line, 'pairing.accept', { sid: tab.sid })).ok, true);
  // Whatever root sent before this answer has come.
  await ask(owner, 'relay.to_hub', null);
  assert.is(owner.last!.route, 'bound');
  line.close();
  owner.close();
});

test('replayed, reordered and duplicated frames stop at root, in both directions', async ({ root }) => {
  const x = await heardBoth(root);
  const { sid } = x.tab;
  for (const ctr of [1, 2, 2, 1, 5, 4, 6]) x.owner.emit('relay.to_hub', { sid, frame: frame(), ctr });
  for (const ctr of [10, 10, 9, 11]) x.line.emit('relay.to_browser', { sid, frame: frame(), ctr });
  await until(() => x.atHub.includes(6) && x.atBrowser.includes(11));
  assert.equal(x.atHub, [1, 2, 5, 6]);
  assert.equal(x.atBrowser, [10, 11]);
  x.close();
});

test('a browser hears of its route by itself, and frames pass before it has announced itself', async ({
  root,
}) => {
  const x = await heardBoth(root);
  x.owner.close();
  const next = x.tab.socket({ announce: false });
  await until(() => next.last?.route === 'bound' && next.last.hub_online, 'its route');
  next.emit('relay.to_hub', { sid: x.tab.sid, frame: frame(), ctr: 1 });
  await until(() => x.atHub.includes(1), 'the frame');
  const said = (await ask(next, 'owner.online', x.tab.online())) as unknown as RouteStatus;
  assert.equal([said.route, said.hub_online], ['bound', true]);
  next.close();
  x.close();
});

test('a first frame that comes with the greeting is passed on where the route is bound, once, and nowhere else', async ({
  root,
}) => {
  const x = await heardBoth(root);
  const first = (ctr: number, bytes: Uint8Array = frame()) => ({ frame: toBase64url(bytes), ctr });
  const whole: { sid: string; frame: Uint8Array; ctr: number }[] = [];
  x.line.on('relay.to_hub', (m) => whole.push(m));
  const greeted = async (given: object) => {
    const s = x.tab.socket({ announce: false, first: given });
    await until(() => s.last?.route, 'its route');
    // What root made of the frame has been made of it by then.
    await ask(s, 'relay.to_hub', null);
    return s;
  };
  const one = await greeted(first(3, new Uint8Array([1, 2, 255])));
  await until(() => whole.length === 1, 'the frame');
  assert.equal([whole[0]!.sid, whole[0]!.ctr], [x.tab.sid, 3]);
  assert.equal([...whole[0]!.frame], [1, 2, 255]);
  // Its number is used, and a connection that comes back brings it again.
  one.disconnect().connect();
  await heard(one, 'status');
  one.emit('relay.to_hub', { sid: x.tab.sid, frame: frame(), ctr: 4 });
  await until(() => x.atHub.includes(4), 'the next');
  assert.equal(x.atHub, [3, 4]);
  for (const bad of [first(3), first(-1), first(5.5), first(2 ** 53), first(9, new Uint8Array(0))])
    (await greeted(bad)).close();
  (await greeted(first(9, new Uint8Array(65_536)))).close();
  assert.equal(x.atHub, [3, 4]);

  // Root keeps none for a hub that is not there: its browser begins anew once the route is bound.
  x.line.close();
  const early = x.tab.socket({ announce: false, first: first(20) });
  await until(() => early.last?.hub_online === false, 'that the hub is away');
  const back = x.hub.socket();
  back.on('relay.to_hub', (m: { ctr: number }) => x.atHub.push(m.ctr));
  await until(() => early.last?.route === 'bound', 'the route');
  early.emit('relay.to_hub', { sid: x.tab.sid, frame: frame(), ctr: 21 });
  await until(() => x.atHub.includes(21), 'what follows');
  assert.equal(x.atHub, [3, 4, 21]);
  for (const s of [one, early, back]) s.close();
  x.close();
});

test('a greeting with a first frame that is none is refused in the one shape', async ({ root }) => {
  const { tab } = await signedIn(root);
  for (const first of ['x', 7, [], {}, { frame: 'AQ' }, { frame: 7, ctr: 1 }, { frame: 'AQID', ctr: '1' }])
    assert.is(await refused(tab.socket({ first } as never)), 'invalid_request', JSON.stringify(first));
  for (const text of ['A', '+', 'AQI=', 'AR', 'ы'])
    assert.is(await refused(tab.socket({ first: { frame: text, ctr: 1 } })), 'invalid_request', text);
  const other = await newTab(root);
  assert.is(await refused(other.socket({ first: { frame: 'AQID', ctr: 1 } })), 'unauthenticated');
  assert.ok(root.alive());
});

test('counters outlive both sockets', async ({ root }) => {
  const x = await heardBoth(root);
  const { sid } = x.tab;
  x.owner.emit('relay.to_hub', { sid, frame: frame(), ctr: 7 });
  await until(() => x.atHub.length === 1);
  x.owner.disconnect().connect();
  await heard(x.owner, 'status');
  x.line.disconnect().connect();
  const { generation } = x.owner.last!;
  await until(() => x.owner.last!.route === 'bound' && x.owner.last!.generation > generation);
  x.owner.emit('relay.to_hub', { sid, frame: frame(), ctr: 7 });
  x.owner.emit('relay.to_hub', { sid, frame: frame(), ctr: 8 });
  await until(() => x.atHub.includes(8));
  assert.equal(x.atHub, [7, 8]);
  x.close();
});

test('a malformed, oversized or foreign frame is dropped, told where asked, and the next one passes', async ({
  root,
}) => {
  const x = await heardBoth(root);
  const y = await heardBoth(root);
  const { sid } = x.tab;
  const bad: unknown[] = [
    undefined,
    null,
    'x',
    7,
    [],
    {},
    { sid, frame: 'text', ctr: 1 },
    { sid, frame: frame(), ctr: 'x' },
    { sid, frame: frame(), ctr: 1.5 },
    { sid, frame: frame(), ctr: -1 },
    { sid, frame: frame(), ctr: 2 ** 53 },
    { sid, frame: frame(0), ctr: 1 },
    { sid, frame: frame(65_536), ctr: 1 },
    { sid: y.tab.sid, frame: frame(), ctr: 1 },
    { sid: '__proto__', frame: frame(), ctr: 1 },
  ];
  for (const m of bad) {
    assert.is((await ask(x.owner, 'relay.to_hub', m)).error, 'invalid_request');
    assert.is((await ask(x.line, 'relay.to_browser', m)).error, 'invalid_request');
  }
  assert.is((await ask(x.owner, 'relay.to_hub', { sid, frame: frame(65_535), ctr: 1 })).ok, true);
  assert.is((await ask(x.line, 'relay.to_browser', { sid, frame: frame(65_535), ctr: 1 })).ok, true);
  await until(() => x.atHub.length === 1 && x.atBrowser.length === 1);
  assert.equal([y.atHub, y.atBrowser], [[], []]);
  x.close();
  y.close();
});

test('a packet beyond the transport limit ends that socket alone', async ({ root }) => {
  const x = await heardBoth(root);
  const y = await heardBoth(root);
  const gone = heard(x.owner, 'disconnect');
  x.owner.emit('relay.to_hub', { sid: x.tab.sid, frame: frame(256 * 1024), ctr: 1 });
  await gone;
  y.owner.emit('relay.to_hub', { sid: y.tab.sid, frame: frame(), ctr: 1 });
  await until(() => y.atHub.length === 1);
  x.close();
  y.close();
});

test('unknown and out-of-order events are answered and change nothing', async ({ root }) => {
  const { hub, tab } = await signedIn(root);
  const other = await newHub(root);
  const line = hub.socket({ accept: false });
  const owner = tab.socket({ announce: false });
  await Promise.all([heard(line, 'connect'), heard(owner, 'connect')]);
  await tab.offer();
  const sid = tab.sid;
  assert.is((await ask(owner, 'relay.to_hub', { sid, frame: frame(), ctr: 1 })).ok, false, 'not bound');
  assert.is((await ask(line, 'pairing.accept', { sid })).error, 'hub_offline', 'before hub.online');
  assert.is((await ask(line, 'relay.to_browser', { sid, frame: frame(), ctr: 1 })).ok, false);
  for (const s of [line, owner]) {
    assert.is((await ask(s, 'no.such.event', {})).error, 'invalid_request');
    assert.is((await ask(s, 'constructor', {})).error, 'invalid_request');
    assert.is((await ask(s, 'error', {})).error, 'invalid_request');
  }
  for (const m of [
    null,
    {},
    { ...hub.online(), caps: 1 },
    { ...hub.online(), caps: { e2e: 1 } },
    { ...hub.online(), x: 1 },
  ])
    assert.is((await ask(line, 'hub.online', m)).error, 'invalid_request');
  assert.is((await ask(line, 'hub.online', other.online())).error, 'forbidden');
  assert.is((await ask(line, 'hub.online', hub.online())).ok, true);
  assert.is((await ask(line, 'pairing.accept', { sid: 'unknown' })).error, 'not_found');
  assert.is((await ask(line, 'pairing.accept', { sid, hub_e2e_pub: '!' })).error, 'invalid_request');
  for (const m of [null, {}, { ...tab.online(), x: 1 }, { ...tab.online(), sid: 1 }])
    assert.is((await ask(owner, 'owner.online', m)).error, 'invalid_request');
  assert.is((await ask(owner, 'owner.online', { ...tab.online(), browser_key_id: 'x' })).error, 'forbidden');
  assert.is(
    (await ask(owner, 'owner.online', { ...tab.online(), session_jwt: 'x' })).error,
    'unauthenticated',
  );
  assert.is((await ask(owner, 'owner.online', tab.online())).ok, true);
  assert.is(await tab.stage(), 'AUTH');
  line.close();
  owner.close();
});

test('a hub cannot send to, or accept, a browser of another hub', async ({ root }) => {
  const x = await heardBoth(root);
  const y = await heardBoth(root);
  const sid = y.tab.sid;
  assert.is((await ask(x.line, 'pairing.accept', { sid })).error, 'not_found');
  assert.is((await ask(x.line, 'relay.to_browser', { sid, frame: frame(), ctr: 1 })).ok, false);
  assert.equal(y.atBrowser, []);
  x.close();
  y.close();
});

test('a newer socket takes over, of a browser and of a hub', async ({ root }) => {
  const x = await heardBoth(root);
  const second = x.tab.socket({ announce: false });
  await heard(second, 'connect');
  const gone = heard(x.owner, 'disconnect');
  await ask(second, 'owner.online', x.tab.online());
  await gone;
  x.owner.close();
  second.emit('relay.to_hub', { sid: x.tab.sid, frame: frame(), ctr: 1 });
  await until(() => x.atHub.length === 1);

  const left = heard(x.line, 'disconnect');
  const line = x.hub.socket();
  await left;
  x.line.close();
  await until(
    () => second.last?.route === 'bound' && second.last.generation >= 2,
    'the new socket to be bound',
  );
  const next = heard(line, 'relay.to_hub');
  second.emit('relay.to_hub', { sid: x.tab.sid, frame: frame(), ctr: 2 });
  await next;
  second.close();
  line.close();
});

test('a browser that stops reading is cut off and the hub goes on with the others', async ({ root }) => {
  const x = await heardBoth(root);
  const second = await newTab(root, { keys: x.tab.keys });
  await second.login();
  await second.offer();
  const other = second.socket();
  await until(() => other.last?.route === 'bound');
  // The raw socket under the client stops being read, as on a phone that lost its radio.
  const raw = (x.owner.io.engine.transport as unknown as { ws: { pause(): void; resume(): void } }).ws;
  raw.pause();
  let heardOther = 0;
  other.on('relay.to_browser', () => heardOther++);
  let ctr = 1;
  await until(async () => {
    for (let i = 0; i < 20; i++)
      x.line.emit('relay.to_browser', { sid: x.tab.sid, frame: frame(60_000), ctr: ++ctr });
    x.line.emit('relay.to_browser', { sid: second.sid, frame: frame(), ctr });
    return (await x.tab.stage()) === 'PAIRED';
  }, 'the slow browser to be cut off');
  await until(() => heardOther > 0);
  assert.ok(other.connected);
  assert.ok(x.line.connected);
  // One that does not read would wait for the other side's goodbye.
  raw.resume();
  x.close();
  other.close();
});

test.run();
