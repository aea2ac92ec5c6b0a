// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
// What the engine decides by: locks, places, retries, quotas, states, programs.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { openBag, sizeOf } from '../../firmware/scenario/bag.ts';
import { openLocks } from '../../firmware/scenario/locks.ts';
import { AGEING_MS, nextOf, type Priority } from '../../firmware/scenario/places.ts';
import { backoffOf, planOf, retriesOf } from '../../firmware/scenario/plan.ts';
import { periodOf, quotasFrom } from '../../firmware/scenario/quotas.ts';
import { checkOrder, instanceOf, instanceTable, runTable } from '../../firmware/scenario/states.ts';
import { fill, templateOf } from '../../firmware/scenario/template.ts';
import { scenario } from './lab.ts';

test('locks are given all at once, in the order they were asked for, and nobody overtakes', () => {
  const l = openLocks();
  assert.ok(l.ask('a', ['mic']));
  assert.not(l.ask('b', ['tts', 'mic']));
  assert.not(l.ask('c', ['tts']), 'tts is free, and b was there first');
  assert.ok(l.ask('d', ['other']));
  assert.ok(l.ask('a', ['mic']), 'who has them has them');
  assert.equal(l.before('b'), { mic: 'a' });
  assert.equal(l.before('c'), { tts: 'b' });
  assert.equal(l.free('a'), ['b']);
  assert.equal(l.free('d'), []);
  assert.equal(l.free('b'), ['c']);
  assert.not(l.ask('e', ['tts']));
  assert.equal(l.free('e'), []);
  assert.equal(l.free('c'), []);
  assert.ok(l.ask('f', ['tts', 'mic', 'tts']));
});

test('locks of the steps in a step with locks are taken with its own', () => {
  const inner = [
    { id: 'x', call: 'a', locks: ['mic'] },
    { id: 'g', do: [{ id: 'y', call: 'a', locks: ['lamp'] }], locks: ['door'] },
  ];
  const [group] = planOf(scenario([{ id: 'all', do: inner, locks: ['tts'] }])).steps;
  assert.equal(group?.kind === 'group' && group.locks, ['door', 'lamp', 'mic', 'tts']);
  assert.equal(JSON.stringify(group).match(/"locks":\[[^\]]+\]/g)?.length, 1);
  const [free] = planOf(scenario([{ id: 'all', do: inner }])).steps;
  assert.equal(free?.kind === 'group' && free.locks, []);
  assert.equal(JSON.stringify(free).match(/"locks":\[[^\]]+\]/g)?.length, 2);
});

test('the next run is that of the highest priority, of equals the one that waits longest, within every limit', () => {
  const w = (run_id: string, priority: Priority, since: number, scenario_id = run_id) => ({
    run_id,
    scenario_id,
    priority,
    since,
  });
  const limits = { max_concurrent_total: 3, max_concurrent_per_scenario: 1, max_concurrent_per_node: 2 };
  const all = [w('low', 'LOW', 0), w('one', 'NORM', 5), w('two', 'NORM', 4), w('high', 'HIGH', 9)];
  assert.is(nextOf(all, [], limits, 10), 'high');
  assert.is(nextOf(all.slice(0, 3), [], limits, 10), 'two');
  assert.is(nextOf(all, ['high'], limits, 10), 'two', 'one of a scenario at a time');
  assert.is(nextOf(all, ['x', 'y'], limits, 10), undefined, 'two on a node');
  assert.is(nextOf([w('low', 'LOW', 0), w('new', 'HIGH', 2 * AGEING_MS)], [], limits, 2 * AGEING_MS), 'low');
  assert.is(nextOf([], [], limits, 10), undefined);
});

test('a backoff doubles up to its most, with half of it left to chance', () => {
  const r = retriesOf({ max: 5, backoff: 'exp:200ms..2s' });
  assert.equal(
    [1, 2, 3, 4, 5, 60].map((n) => backoffOf(r, n, 1)),
    [200, 400, 800, 1600, 2000, 2000],
  );
  assert.equal(
    [1, 4].map((n) => backoffOf(r, n, 0)),
    [100, 800],
  );
  assert.is(backoffOf(retriesOf({ max: 1, backoff: '5s' }), 3, 0), 5000);
  for (const backoff of ['exp:2s..1s', 'soon', 'exp:0s..1s'])
    assert.throws(
      () => retriesOf({ max: 1, backoff }),
      (e: IngleError) => e.code === 'invalid_request',
      backoff,
    );
});

test('quotas of a configuration are checked by name, so that none bounds nothing', () => {
  const given = { tts: { user: { day: 600 } }, http: { node: { week: 5000 } } };
  assert.equal(quotasFrom(given), given);
  assert.equal(quotasFrom({}), {});
  for (const [wrong, name] of [
    [{ speech: {} }, /"speech"/],
    [{ tts: { users: { day: 1 } } }, /"tts\/users"/],
    [{ tts: { user: { month: 1 } } }, /"tts\/user\/month"/],
    [{ tts: { user: { day: -1 } } }, /"tts\/user\/day"/],
    [{ tts: { user: { day: '600' } } }, /"tts\/user\/day"/],
    [[], /scenario\.quotas/],
  ] as const)
    assert.throws(
      () => quotasFrom(wrong),
      (e: Error) => name.test(e.message) || console.log(e.message),
    );
});

test('quotas count by the day and by the week of ISO 8601', () => {
  const at = (day: string) => Date.parse(`${day}T12:00:00Z`);
  assert.is(periodOf('day', at('2026-11-25')), '2026-11-25');
  for (const [day, week] of [
    ['2026-11-25', '2026-W48'],
    ['2026-01-01', '2026-W01'],
    ['2027-01-01', '2026-W53'],
    ['2024-12-30', '2025-W01'],
    ['2023-01-01', '2022-W52'],
  ] as const)
    assert.is(periodOf('week', at(day)), week, day);
});

test('states take the orders that lead somewhere, and say why not', () => {
  for (const [state, takes] of Object.entries({
    running: ['pause', 'stop', 'kill'],
    paused: ['resume', 'stop', 'kill'],
    stopping: ['kill'],
    stopped: [],
    failed: [],
  }))
    for (const order of ['pause', 'resume', 'stop', 'kill'] as const) {
      const ask = () => checkOrder(state as never, order);
      if ((takes as string[]).includes(order)) ask();
      else
        assert.throws(
          ask,
          (e: IngleError) => e.code === 'conflict' && e.message.length > 20,
          `${state} ${order}`,
        );
    }
  assert.equal(Object.keys(runTable), ['PENDING', 'RUNNING', 'DONE', 'FAILED', 'CANCELED', 'TIMEOUT']);
  assert.equal(instanceTable.stopping, { kill: 'stopped', end: 'stopped', error: 'failed' });
  const of = (state: 'RUNNING' | 'DONE' | 'TIMEOUT', paused = false, ending = false) =>
    instanceOf({ state, paused, ending });
  assert.equal(
    [of('RUNNING'), of('RUNNING', true), of('RUNNING', true, true), of('DONE'), of('TIMEOUT')],
    ['running', 'paused', 'stopping', 'stopped', 'failed'],
  );
});

test('a bag is bounded by each value and by all, and what is too large changes nothing', () => {
  const bag = openBag();
  const big = 'x'.repeat(60_000);
  for (const name of ['a', 'b', 'c', 'd']) bag.put('vars', name, big);
  assert.throws(
    () => bag.put('vars', 'e', big),
    (e: IngleError) => e.code === 'too_large',
  );
  assert.is(bag.vars['e'], undefined);
  bag.put('vars', 'a', null);
  bag.put('vars', 'e', big);
  assert.throws(
    () => bag.put('steps', 's', 'x'.repeat(70_000)),
    (e: IngleError) => e.code === 'too_large',
  );
  const shared: unknown[] = [];
  for (let i = 0, v: unknown = 'x'; i < 60; i++, v = [v, v]) shared[0] = v;
  assert.ok(sizeOf(shared[0] as never, 1000) > 1000, 'a bomb is measured without being unfolded');
});

test('a value with very many expressions is refused before it takes long', () => {
  const many = templateOf(Array.from({ length: 150 }, () => `\${${'1+'.repeat(180)}1}`));
  assert.throws(
    () => fill(many, {}),
    (e: IngleError) => e.code === 'too_large',
  );
});

test('what no program can be is refused with its place', () => {
  const at = (steps: unknown[], more: object = {}) => {
    try {
      planOf(scenario(steps, more));
      return 'fine';
    } catch (e) {
      return (e as IngleError).details?.['pointer'];
    }
  };
  assert.is(at([{ id: 'a' }]), '/steps/0');
  assert.is(
    at([
      { id: 'a', call: 'x' },
      { id: 'a', call: 'x' },
    ]),
    '/steps/1',
  );
  assert.is(at([{ id: 'a', call: 'x', alias: 'vars' }]), '/steps/0/alias');
  assert.is(at([{ do: 'for', steps: [] }]), '/steps/0/each');
  assert.is(at([{ do: 'call', slot: 'none', method: 'x' }]), '/steps/0/slot');
  assert.is(at([{ do: 'delay' }]), '/steps/0');
  assert.is(at([{ do: 'wait_for' }]), '/steps/0/topic');
  assert.is(at([{ do: [{ call: 'x', if: '1 +' }] }]), '/steps/0/do/0/if');
  assert.is(at([{ call: 'x', args: { a: ['${'] } }]), '/steps/0/args/a/0');
  let deep: unknown = { call: 'x' };
  for (let i = 0; i < 12; i++) deep = { do: [deep] };
  assert.match(String(at([deep])), '/steps/0/do/0');
});

test.run();
