import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { contract, fromVariant, toDict, toVariant } from '../../firmware/system/contract.ts';
import { privateBus } from '../lab/bus.ts';

const echo1 = contract({
  name: 'io.ingle.Echo1',
  bus: 'io.ingle.Echo1',
  path: '/io/ingle/Echo1',
  doc: 'A contract for this test.',
  methods: {
    Echo: {
      doc: 'Gives back what it gets.',
      in: { text: 's', bytes: 'ay', big: 't', dict: 'a{sv}', rows: 'a(sd)' },
      out: { text: 's', bytes: 'ay', big: 't', dict: 'a{sv}', rows: 'a(sd)' },
      errors: [],
    },
    Named: {
      doc: 'Gives back records whose fields have names.',
      in: { one: { x: 'i', y: 's' }, many: [{ name: 's', score: 'd' }] },
      out: { one: { x: 'i', y: 's' }, many: [{ name: 's', score: 'd' }] },
      errors: [],
    },
    Fail: { doc: 'Fails.', in: { how: 's' }, out: {}, errors: ['conflict'] },
  },
  signals: { Said: { doc: 'Somebody said something.', args: { text: 's', count: 'u' } } },
  properties: { Count: { doc: 'Calls so far.', type: 'u' } },
});

const test = suite<{ stop: () => Promise<void>; a: Bus; b: Bus }>('bus');
test.before(async (c) => {
  const bus = await privateBus();
  c.stop = bus.stop;
  c.a = await connect(bus.address);
  c.b = await connect(bus.address);
});
test.after((c) => c.stop());

test('every D-Bus type of a contract arrives as it was sent', async ({ a, b }) => {
  const served = await a.serve(
    echo1,
    { Echo: (x) => x, Named: (x) => x, Fail: () => ({}) },
    { properties: { Count: 3 } },
  );
  const value = {
    text: 'ж',
    bytes: new Uint8Array([1, 2, 255]),
    big: 2n ** 60n,
    dict: toDict({ a: 1, b: 'x', c: null, d: [1, 'y', { z: true }], e: 1.5 }),
    rows: [['x', 0.5]] as [string, number][],
  };
  const back = await b.client(echo1).Echo(value);
  assert.is(back.text, 'ж');
  assert.equal([...back.bytes], [1, 2, 255]);
  assert.is(back.big, 2n ** 60n);
  assert.equal(fromVariant(back.dict), { a: 1, b: 'x', c: null, d: [1, 'y', { z: true }], e: 1.5 });
  assert.equal(back.rows, [['x', 0.5]]);

  const said = new Promise((resolve) =>
    b.onSignal(echo1, 'Said', resolve).then(() => served.emit('Said', { text: 'hi', count: 2 })),
  );
  assert.equal(await said, { text: 'hi', count: 2 });
  const xml = (
    await b.call('io.ingle.Echo1', '/io/ingle/Echo1', 'org.freedesktop.DBus.Introspectable', 'Introspect')
  )[0];
  assert.match(String(xml), /method name="Echo"/);
  const all = await b.call(
    'io.ingle.Echo1',
    '/io/ingle/Echo1',
    'org.freedesktop.DBus.Properties',
    'GetAll',
    's',
    ['io.ingle.Echo1'],
  );
  assert.equal(fromVariant(all[0]), { Count: 3 });
});

test('records with named fields arrive as they were sent, as arguments and as answers', async ({ a, b }) => {
  await a.serve(echo1, { Echo: (x) => x, Named: (x) => x, Fail: () => ({}) });
  const sent = { one: { x: -1, y: 'ж' }, many: [{ name: 'a', score: 0.5 }] };
  assert.equal(await b.client(echo1).Named(sent), sent);
});

test('an error keeps its code and its details across the bus', async ({ a, b }) => {
  const c2 = contract({ ...echo1, name: 'io.ingle.Echo2', bus: 'io.ingle.Echo2', path: '/io/ingle/Echo2' });
  await a.serve(c2, {
    Echo: (x) => x,
    Named: (x) => x,
    Fail: ({ how }) => {
      throw how === 'ours'
        ? new IngleError('conflict', 'Two at once.', { pointer: '/a', n: 2 })
        : new Error('secret detail');
    },
  });
  const client = b.client(c2);
  const ours = await client.Fail({ how: 'ours' }).catch((e) => e);
  assert.is(ours.code, 'conflict');
  assert.is(ours.message, 'Two at once.');
  assert.equal(ours.details, { pointer: '/a', n: 2 });
  const other = await client.Fail({ how: 'x' }).catch((e) => e);
  assert.is(other.code, 'internal');
  assert.not.match(other.message, /secret/);
});

test('a call to nobody is told as unavailable', async ({ b }) => {
  const e = await b.call('io.ingle.Nobody1', '/x', 'io.ingle.Nobody1', 'X').catch((x) => x);
  assert.is(e.code, 'unavailable');
});

test('topics reach those who asked for them, by name or by prefix', async ({ a, b }) => {
  const heard: unknown[] = [];
  await b.subscribe('weather.update', (t, p) => heard.push([t, p]));
  await b.subscribe('ui.*', (t, p) => heard.push([t, p]));
  a.publish('weather.update', { temp_c: 3.5, place: 'Y', n: 2 });
  a.publish('weather.other', 1);
  a.publish('ui.toast', ['x', null]);
  await a.listNames();
  await b.listNames();
  assert.equal(heard, [
    ['weather.update', { temp_c: 3.5, place: 'Y', n: 2 }],
    ['ui.toast', ['x', null]],
  ]);
});

test('what the daemon would throw its sender out for is refused before, and as much as it carries arrives', async ({
  a,
  b,
}) => {
  const nested = (levels: number, around: (v: unknown) => unknown) => {
    let v: unknown = 1;
    for (let i = 0; i < levels; i++) v = around(v);
    return v;
  };
  const heard: unknown[] = [];
  await b.subscribe('deep.*', (_, p) => heard.push(p));
  const object = (v: unknown) => ({ a: v });
  const array = (v: unknown) => [v];
  const most = [
    nested(21, object),
    nested(31, array),
    [nested(20, object)],
    nested(30, () => new Uint8Array(2)),
  ];
  for (const payload of most) a.publish('deep.most', payload);
  const bytes = nested(21, (v) => object(v === 1 ? new Uint8Array(1) : v));
  const refused = [nested(22, object), nested(32, array), bytes, nested(1000, array), 'a\0', { '\0': 1 }];
  for (const payload of refused)
    assert.throws(
      () => a.publish('deep.refused', payload),
      (e: IngleError) => e.code === 'invalid_request',
    );
  const later = a.publication('deep.later', 1);
  await a.listNames();
  later();
  await a.listNames();
  await b.listNames();
  assert.equal(heard.length, most.length + 1);
  assert.equal(heard.slice(0, 2), most.slice(0, 2));
});

test('JSON survives the way through variants', () => {
  for (const v of [0, -1, 2 ** 40, 1.25, '', 'x', true, null, [], {}, [[1], { a: [null] }]])
    assert.equal(fromVariant(toVariant(v)), v);
});

test.run();
