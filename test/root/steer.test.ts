// Where the ends of a hub are to be, and the hints that say so.
import { createHmac } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { seconds } from '../../root/clock.ts';
import { openSeats, seatOf } from '../../root/cluster/seats.ts';
import { hintOf, isHint, steer } from '../../root/steer.ts';

const test = suite('steer');
const mac = (purpose: string, text: string) =>
  createHmac('sha256', 'key').update(`${purpose} ${text}`).digest('base64url');
const hubs = Array.from({ length: 300 }, (_, i) => `hub${i}`);
const names = ['node1', 'node2', 'node3'];

test('all nodes have their share, and one that comes or goes moves no other hubs', () => {
  const seats = hubs.map((h) => seatOf(h, names));
  for (const name of names) assert.ok(seats.filter((s) => s === name).length > 60, name);
  assert.equal(
    hubs.map((h) => seatOf(h, ['node3', 'node1', 'node2'])),
    seats,
    'in whatever order they are known',
  );
  const without = hubs.map((h) => seatOf(h, ['node1', 'node3']));
  for (const [i, seat] of seats.entries())
    if (seat !== 'node2') assert.is(without[i], seat);
    else assert.not.equal(without[i], seat);
  assert.is(seatOf('hub', []), undefined);
});

test('a hint counts for its hub, its node and its time', () => {
  const hint = hintOf(mac, 'hub', 'node1', 1000);
  assert.match(hint, /^node1\.1000\.[\w-]{22}$/);
  assert.ok(isHint(mac, 'hub', hint, 999));
  assert.not(isHint(mac, 'hub', hint, 1000), 'over');
  assert.not(isHint(mac, 'other', hint, 999), 'of another hub');
  for (const forged of [hint.replace('node1', 'node2'), hint.replace('1000', '2000'), `${hint}x`, '', 'x'])
    assert.not(isHint(mac, 'hub', forged, 999), forged);
  for (const odd of [undefined, null, ['x'], {}, 'a.b.c'.repeat(1000)])
    assert.not(isHint(mac, 'hub', odd, 0));
});

/** How root meets a client that brings `at`. @returns the name in the hint, or '' where it is let in */
async function met(at: unknown, elsewhere: string | null, ofLed: string | null = null) {
  const ways = { elsewhere: async (_: string, __: string, isLed: boolean) => (isLed ? ofLed : elsewhere) };
  const root = { tokens: { mac }, ways };
  const socket = { handshake: { query: at === undefined ? {} : { at } } };
  return steer(root as never, socket as never, 'hub', 'hub').then(
    () => '',
    (e) => {
      assert.is(e.code, 'unavailable');
      assert.ok(isHint(mac, 'hub', e.details.steer));
      return e.details.steer.split('.')[0];
    },
  );
}

test('whoever takes hints is refused once, and nobody else', async () => {
  assert.is(await met('', 'node2'), 'node2');
  assert.is(await met('', null), '', 'it is where it is to be');
  assert.is(await met(undefined, 'node2'), '', 'an older client');
  const until = seconds() + 60;
  assert.is(await met(hintOf(mac, 'hub', 'node2', until), 'node2'), '', 'a balancer without steering');
  assert.is(await met(hintOf(mac, 'hub', 'node1', until), 'node2'), '', 'never a second time');
  assert.is(await met(hintOf(mac, 'hub', 'node1', until - 61), 'node2'), 'node2', 'an old one is as none');
  assert.is(await met(hintOf(mac, 'other', 'node1', until), 'node2'), 'node2', 'and so is another one’s');
  assert.is(await met(['', ''], 'node2'), 'node2');
  assert.is(
    await met(hintOf(mac, 'hub', 'node1', until), 'node2', 'node2'),
    'node2',
    'led where none serves it',
  );
});

test('a browser is led to the home of its hub, and where that has none to where the hub comes', async () => {
  const node = (id: string, name: string) => ({ id, peer: '', name });
  const nodes = [node('a', 'node1'), node('b', 'node2'), node('c', 'node3'), node('d', '')];
  const homes = new Map([
    ['there', 'b'],
    ['here', 'a'],
    ['nameless', 'd'],
    ['unknown', 'e'],
  ]);
  const homeOf = async (hubId: string) => {
    if (hubId === 'away') throw new Error('Redis does not answer.');
    return homes.get(hubId) ?? null;
  };
  const reached = new Set(['b']);
  const { elsewhere } = openSeats(
    { homeOf },
    () => nodes,
    'node1',
    (id) => reached.has(id),
  );
  const to = (hubId: string) => elsewhere(hubId, 'browser', false);
  const led = (hubId: string) => elsewhere(hubId, 'browser', true);
  assert.equal([await to('there'), await to('here')], ['node2', null]);
  assert.equal([await to('nameless'), await to('unknown'), await to('away')], [null, null, null]);
  assert.equal(
    [await led('there'), await led('here'), await led(hubs[0]!), await led('away')],
    Array(4).fill(null),
  );
  reached.delete('b');
  assert.equal(
    [await led('there'), await led('here')],
    ['node2', null],
    'a stale hint, and nodes that are cut off',
  );
  for (const hub of hubs.slice(0, 20)) {
    const seat = seatOf(hub, names)!;
    assert.is(await to(hub), seat === 'node1' ? null : seat);
    // A hub takes its home along.
    homes.set(hub, 'b');
    assert.is(await elsewhere(hub, 'hub', false), seat === 'node1' ? null : seat);
    assert.is(await elsewhere(hub, 'hub', true), null);
  }
  assert.is(
    await openSeats(
      { homeOf },
      () => [],
      '',
      () => true,
    ).elsewhere('hub', 'hub', false),
    null,
  );
});

test.run();
