// Whether the hub takes new work: the table, move by move, and what is refused meanwhile.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type LifeState, lifecycle, lifeTable } from '../../firmware/supervisor/lifecycle.ts';
import { logger } from '../../firmware/system/log.ts';
import { thrown } from '../lab/thrown.ts';
import { until } from '../lab/wait.ts';

const test = suite('lifecycle');
const begun = () => lifecycle(logger('test'));
const change = { path: '/v1/icons/pin' };

const moves: [from: LifeState, event: 'drain' | 'resume' | 'stop', to: LifeState | undefined][] = [
  ['running', 'drain', 'draining'],
  ['running', 'resume', undefined],
  ['running', 'stop', 'stopping'],
  ['draining', 'drain', undefined],
  ['draining', 'resume', 'running'],
  ['draining', 'stop', 'stopping'],
  ['stopping', 'drain', undefined],
  ['stopping', 'resume', undefined],
  ['stopping', 'stop', undefined],
];
for (const [from, event, to] of moves)
  test(`${from}, ${event}: ${to ?? 'nothing'}`, () => {
    assert.is(lifeTable[from][event], to);
    const life = begun();
    if (from === 'draining') life.drain('owner');
    if (from === 'stopping') life.stop();
    if (event === 'drain') life.drain('owner');
    else if (event === 'resume') life.resume('owner');
    else life.stop();
    assert.is(life.view().state, to ?? from);
  });

test('while it drains, changes wait and reads and orders about it go on', () => {
  const life = begun();
  life.admit('POST', change);
  life.drain('owner', 30_000);
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const e = thrown(() => life.admit(method, change));
    assert.is(e.code, 'unavailable');
    const after = e.details?.['retry_after'] as number;
    assert.ok(after >= 1 && after <= 30, `${after}`);
    assert.match(e.message, 'POST /api/admin/drain');
  }
  life.admit('GET', change);
  life.admit('POST', { ...change, safe: true });
  life.admit('POST', { path: '/api/admin/drain' });
  assert.throws(() => life.admit('POST', { path: '/api/administer' }));
  life.resume('owner');
  life.admit('POST', change);
});

test('it takes work again only when nobody is against it, and says the weightiest reason', () => {
  const life = begun();
  life.drain('owner');
  life.drain('update');
  assert.is(life.view().why, 'update');
  life.drain('shutdown');
  assert.is(life.view().why, 'shutdown');
  life.resume('shutdown');
  life.resume('update');
  assert.equal([life.view().state, life.view().why], ['draining', 'owner']);
  life.resume('update');
  assert.is(life.view().state, 'draining');
  life.resume('owner');
  assert.equal([life.view().state, life.view().why, life.view().until], ['running', null, null]);
});

test('a drain ends by itself, and one that is asked for again begins anew', async () => {
  const life = begun();
  const beat = setInterval(() => {}, 1000);
  life.drain('owner', 60_000);
  life.drain('owner', 20);
  assert.ok(life.view().until! < Date.now() / 1000 + 30);
  await until(() => life.view().state === 'running', 'the drain to end');
  life.drain('owner', 20);
  life.drain('owner', 60_000);
  await new Promise((done) => setTimeout(done, 60));
  assert.is(life.view().state, 'draining', 'the first time counts no more');
  life.resume('owner');
  clearInterval(beat);
});

test('nothing leads out of stopping, not even a drain that ends', () => {
  const life = begun();
  life.drain('owner');
  life.stop();
  life.resume('owner');
  assert.is(life.view().state, 'stopping');
  assert.is(thrown(() => life.admit('POST', change)).code, 'unavailable');
});

test.run();
