// timeout: 120 s, urgent
// The registry of nodes and homes on a real Redis: what one script at a time keeps true.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Member, openRegistry, type Registry } from '../../root/cluster/registry.ts';
import { times } from '../../root/cluster/tenure.ts';
import { type Redis, startRedis } from '../lab/redis.ts';
import { tried, until } from '../lab/wait.ts';

interface World {
  redis: Redis;
  registry: Registry;
}
const test = suite<World>('registry');
test.before(async (c) => {
  c.redis = await startRedis();
  c.registry = openRegistry(c.redis.url);
});
test.before.each(async ({ redis, registry }) => {
  await redis.say('FLUSHALL');
  await until(
    tried(async () => (await registry.homeOf('h')) === null),
    'the registry',
  );
});
test.after(async (c) => {
  c.registry?.close();
  await c.redis?.stop();
});

const [a, b]: Member[] = ['a', 'b'].map((id) => ({ id, peer: `${id}:1`, name: `node-${id}` })) as [
  Member,
  Member,
];
/** Both have renewed, long after the clock was last set. @returns the run */
async function calm({ registry, redis }: World): Promise<string> {
  for (const node of [a!, b!]) await registry.renew(node, times.grant, []);
  await redis.say('HSET', 'ingle:clock', 'set', '0');
  return (await registry.renew(a!, times.grant, [])).run;
}
/** What a node's grant looks like once it is over. */
const over = (c: World, node: Member) => c.redis.say('ZADD', 'ingle:nodes', '1', node.id);

test('a hub has the home that took it first, until that gives it up or its grant is over', async (c) => {
  const { registry } = c;
  const run = await calm(c);
  assert.is(await registry.homeOf('h'), null);
  const both = await Promise.all([registry.take('h', a!, run), registry.take('h', b!, run)]);
  assert.is(both[0], both[1]);
  const [mine, other] = both[0] === 'a' ? [a!, b!] : [b!, a!];
  await registry.release('h', other);
  assert.is(await registry.homeOf('h'), mine.id, 'only its home gives it up');
  await over(c, mine);
  assert.is(await registry.homeOf('h'), null);
  assert.is(await registry.take('h', mine, run), null, 'who has no time takes nothing');
  assert.is(await registry.take('h', other, run), other.id);
  const again = await registry.renew(mine, times.grant, ['h', 'g']);
  assert.equal([again.lost, again.lapsed], [['h'], true], 'it hears that its grant was over');
  assert.not((await registry.renew(mine, times.grant, [])).lapsed);
  assert.is(await registry.homeOf('g'), mine.id, 'what nobody has is said again');
  await registry.leave(other);
  assert.is(await registry.take('h', mine, run), mine.id, 'who leaves leaves all');
});

test('nodes know each other by what each said last', async (c) => {
  await calm(c);
  const { registry } = c;
  const known = async () =>
    (await registry.renew(a!, times.grant, [])).nodes.sort((x, y) => x.id.localeCompare(y.id));
  assert.equal(await known(), [a, b]);
  await registry.renew({ ...b!, name: '' }, times.grant, []);
  assert.equal(await known(), [a, { ...b!, name: '' }]);
  await registry.leave(b!);
  assert.equal(await known(), [a]);
});

test('another run of Redis than the node knows gives no home', async (c) => {
  const run = await calm(c);
  assert.is(await c.registry.take('h', a!, 'another'), null);
  assert.is(await c.registry.take('h', a!, run), 'a');
});

test('what Redis was made to forget is another run: no node takes a hub before it has said its own', async (c) => {
  const { registry, redis } = c;
  const run = await calm(c);
  assert.is(await registry.take('h', a!, run), 'a');
  await redis.say('FLUSHALL');
  assert.is(await registry.take('h', b!, run), null, 'before anybody renewed');
  const now = (await registry.renew(b!, times.grant, [])).run;
  assert.is.not(now, run);
  assert.is(await registry.take('h', b!, run), null, 'b has not said its own yet');
  assert.equal((await registry.renew(a!, times.grant, ['h'])).lost, []);
  assert.is(await registry.take('h', b!, now), 'a');
});

test('where the clock of Redis is set, nobody loses a hub for it', async (c) => {
  const { registry, redis } = c;
  const run = await calm(c);
  assert.is(await registry.take('h', a!, run), 'a');
  // An hour forward: every grant looks over, and the last renewal long ago.
  const hourAgo = Number(await redis.say('HGET', 'ingle:clock', 'seen')) - 3600_000;
  await over(c, a!);
  await redis.say('HSET', 'ingle:clock', 'seen', String(hourAgo));
  assert.is(await registry.take('h', b!, run), null, 'before anybody renewed');
  await registry.renew(b!, times.grant, []);
  assert.is(await registry.take('h', b!, run), null, 'as long as a may not have renewed');
  await registry.renew(a!, times.grant, []);
  assert.is(await registry.take('h', b!, run), 'a');
  // Back: what was seen last lies ahead.
  await redis.say('HSET', 'ingle:clock', 'seen', String(hourAgo + 7200_000));
  await over(c, a!);
  assert.is(await registry.take('h', b!, run), null);
  await registry.renew(b!, times.grant, []);
  assert.is(await registry.take('h', b!, run), null);
  // Nobody had the other one, so nobody can lose it.
  assert.is(await registry.take('g', b!, run), 'b');
});

test('a Redis that stands still is told as away, soon', async (c) => {
  c.redis.signal('SIGSTOP');
  const error = await c.registry.homeOf('h').catch((e) => e.code);
  const isRefused = await c.registry.isRefused();
  c.redis.signal('SIGCONT');
  assert.is(error, 'unavailable');
  assert.not(isRefused);
});

test('a connection whose other end is gone without a word is replaced', async ({ redis }) => {
  const sockets: Socket[] = [];
  const { hostname, port } = new URL(redis.url);
  const between = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const s of [near, far]) sockets.push(s.on('error', () => {}));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  const url = new URL(redis.url);
  url.host = `127.0.0.1:${(between.address() as AddressInfo).port}`;
  const registry = openRegistry(url.href);
  try {
    await until(
      tried(async () => (await registry.renew(a!, times.grant, [])).nodes.length > 0),
      'the first renewal',
    );
    // As where a firewall forgets the connection: nothing comes through any more, and nobody is told.
    for (const s of sockets) s.unpipe().resume();
    assert.is(await registry.renew(a!, times.grant, []).catch((e) => e.code), 'unavailable');
    await until(
      tried(async () => (await registry.renew(a!, times.grant, [])).nodes.length > 0),
      'a renewal on another connection',
      10,
    );
  } finally {
    registry.close();
    for (const s of sockets) s.destroy();
    between.close();
  }
});

test.run();
