// gate: out, thousands of drawn cases
// What a person changed can only narrow a scenario, whatever it is.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import { checkImplementation } from '../../firmware/scenario/check-implementation.ts';
import { effective } from '../../firmware/scenario/merge.ts';
import type { Implementation, Prototype, Rewrite } from '../../firmware/scenario/schema.ts';
import { isPartOf } from '../../firmware/scenario/value-type.ts';
import { idOf, walk } from '../../firmware/scenario/walk.ts';
import { implementations, prototypes } from './drawn.ts';

const test = suite('the effective scenario');

/** What of an implementation passes the check, part by part. */
function passing(p: Prototype, i: Implementation): Implementation {
  const isGood = (part: Partial<Implementation>) =>
    checkImplementation({ rewriteVersion: 1, ...part }, p).length === 0;
  const some = <V>(
    of: Record<string, V> | undefined,
    part: (one: Record<string, V>) => Partial<Implementation>,
  ) => Object.fromEntries(Object.entries(of ?? {}).filter(([k, v]) => isGood(part({ [k]: v }))));
  const rewrite: Rewrite[] = [];
  for (const r of i.rewrite ?? []) if (isGood({ rewrite: [...rewrite, r] })) rewrite.push(r);
  return {
    ...i,
    params: some(i.params, (params) => ({ params })),
    io: { settings: some(i.io?.settings, (settings) => ({ io: { settings } })) },
    bindings: { ...i.bindings, slots: some(i.bindings?.slots, (s) => ({ bindings: { slots: s } })) },
    rewrite,
  };
}

/** All that a scenario may do. */
function powers(p: Prototype): string[] {
  return walk(p.steps).flatMap(({ step, listPointer }) => [
    `step ${idOf(step)}`,
    ...(step.call ? [`call ${step.call}`] : []),
    ...(step.compensate?.call ? [`undo ${step.compensate.call}`] : []),
    ...(step.slot ? [`slot ${step.slot} ${step.method}`] : []),
    ...(step.topic ? [`topic ${step.topic}`] : []),
    ...(step.locks ?? []).map((l) => `lock ${l}`),
    `kind ${idOf(step)} ${Array.isArray(step.do) ? 'list' : step.do} ${listPointer.length > 6}`,
  ]);
}
const rest = ({ steps: _, params: __, io, slots: ___, ...more }: Prototype) => ({
  ...more,
  io: { ...io, settings: 0 },
});

test('no implementation that passes gives a scenario what its prototype lacks', () => {
  let changed = 0;
  let dropped = 0;
  fc.assert(
    fc.property(prototypes, implementations, (p, any) => {
      assert.equal(checkPrototype(p), []);
      const i = passing(p, any);
      assert.equal(checkImplementation(i, p), []);
      const e = effective(p, i);
      const s = e.scenario;
      const may = new Set(powers(p));
      for (const power of powers(s)) assert.ok(may.has(power), power);
      // Anchors, constraints, triggers, roles and all else are the prototype's, whole.
      assert.equal(rest(s), rest(p));
      assert.equal(Object.keys(s.slots!), Object.keys(p.slots!));
      for (const [id, { cap, ...slot }] of Object.entries(s.slots!)) {
        assert.ok(isPartOf(cap, p.slots![id]!.cap));
        assert.equal({ ...slot, cap: 0 }, { ...p.slots![id], cap: 0 });
      }
      assert.equal(Object.keys(s.params!), Object.keys(p.params!));
      assert.equal(Object.keys(s.io!.settings!), Object.keys(p.io!.settings!));
      if (p.io!.settings!['output.active'])
        assert.ok(p.io!.output!.includes(s.io!.settings!['output.active'] as 'voice'));
      assert.not.match(JSON.stringify(i.params) + JSON.stringify(i.rewrite), /\$\{/);
      // Nothing is lost but what is told, and anchors still have their step.
      const ids = (q: Prototype) => walk(q.steps).flatMap(({ step }) => idOf(step) ?? []);
      assert.equal([...ids(s), ...e.dropped].sort(), ids(p).sort());
      for (const { after } of Object.values(s.anchors ?? {})) assert.ok(ids(s).includes(after));
      assert.is(JSON.stringify(s).includes('device_id'), false);
      changed += JSON.stringify(s) === JSON.stringify(p) ? 0 : 1;
      dropped += e.dropped.length > 0 ? 1 : 0;
    }),
    { numRuns: 2000 },
  );
  console.log(`FIGURE scenario.narrowed ${changed} changed, ${dropped} with dropped steps, of 2000`);
  assert.ok(changed > 500 && dropped > 100, `${changed} changed, ${dropped} dropped`);
});

test('what does not pass is refused whole, with the reasons', () => {
  fc.assert(
    fc.property(prototypes, implementations, (p, i) => {
      const faults = checkImplementation(i, p);
      if (faults.length === 0) return;
      try {
        effective(p, i);
      } catch (e) {
        assert.is((e as IngleError).code, 'invalid_request');
        assert.ok((e as IngleError).message.includes(faults[0]!.says));
        return;
      }
      assert.unreachable('it was taken');
    }),
    { numRuns: 1000 },
  );
});

const p: Prototype = {
  id: 'home/x',
  version: '1.0.0',
  dslVersion: '1',
  name: 'X',
  slots: { weather: { cap: 'weather' } },
  params: { look: { a: 1, deep: { b: 2, c: 3 } }, days: [1, 2], n: 1 },
  io: { output: ['voice', 'console'], settings: { 'output.active': 'voice' } },
  steps: [
    { id: 'a', do: 'say', text: 'a' },
    {
      id: 'b',
      do: [
        { id: 'b1', do: 'say', text: '1' },
        { id: 'b2', do: 'say', text: '2' },
      ],
    },
    { id: 'c', do: 'say', text: 'c' },
  ],
};
const order = (s: Prototype) =>
  walk(s.steps)
    .map(({ step }) => step.id)
    .join(' ');

test('objects are merged deeply, lists and plain values take the place', () => {
  const { scenario } = effective(p, {
    rewriteVersion: 1,
    params: { look: { deep: { b: 9 } }, days: [] },
    rewrite: [{ match: { id: 'n' }, action: 'param.set', set: 7 }],
  });
  assert.equal(scenario.params, { look: { a: 1, deep: { b: 9, c: 3 } }, days: [], n: 7 });
});

test('settings take what is set, by the map and by a change', () => {
  const io = {
    output: ['voice', 'console'] as ('voice' | 'console')[],
    settings: { 'output.active': 'voice', rate: 1, tone: 'low' },
  };
  const e = effective(
    { ...p, io },
    {
      rewriteVersion: 1,
      io: { settings: { rate: 2 } },
      rewrite: [
        { match: { id: 'output.active' }, action: 'io.set', set: 'console' },
        { match: { id: 'weather' }, action: 'cap.narrow', set: 'weather.today' },
      ],
    },
  );
  assert.equal(e.scenario.io, { ...io, settings: { 'output.active': 'console', rate: 2, tone: 'low' } });
  assert.equal(e.scenario.slots, { weather: { cap: 'weather.today' } });
  assert.is(e.isEnabled, true);
  assert.equal(e.notes, []);
});

test('changes are made one after the other, each upon what the one before has left', () => {
  const { scenario, dropped } = effective(p, {
    rewriteVersion: 1,
    rewrite: [
      { match: { id: 'c' }, action: 'move_before', ref: 'a' },
      { match: { id: 'b2' }, action: 'move_before', ref: 'b1' },
      { match: { id: 'b' }, action: 'move_after', ref: 'c' },
      { match: { id: 'b1' }, action: 'drop' },
    ],
  });
  assert.is(order(scenario), 'c b b2 a');
  assert.equal(dropped, ['b1']);
  assert.is(order(p), 'a b b1 b2 c', 'the prototype stays as it was');
});

test('what is bound stands beside the scenario and not in it', () => {
  const bindings = { slots: { weather: { skill: 'weather' } }, devices: { lamp: { device_id: 'secret-7' } } };
  const e = effective(p, { rewriteVersion: 1, bindings, enabled: false });
  assert.equal(e.bindings, bindings);
  assert.is(e.isEnabled, false);
  assert.not.match(JSON.stringify(e.scenario), /secret-7|skill/);
});

test.run();
