// gate: out, thousands of drawn cases
// A new version of a prototype leaves out nothing that a person changed without saying so.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import { checkImplementation } from '../../firmware/scenario/check-implementation.ts';
import { saidIn } from '../../firmware/scenario/fault.ts';
import { migrate } from '../../firmware/scenario/migrate.ts';
import {
  type Implementation,
  implementationSchema,
  MOST_NOTES,
  type Prototype,
  type Step,
} from '../../firmware/scenario/schema.ts';
import { busyFor } from '../lab/busy.ts';
import { implementations, prototypes } from './drawn.ts';

const test = suite('implementations under a new version');

/** Every member of an implementation by its pointer. */
function members(i: Implementation): [string, unknown][] {
  const of = (at: string, map: object | undefined): [string, unknown][] =>
    Object.entries(map ?? {}).map(([k, v]) => [`${at}/${k}`, v]);
  return [
    ...of('/params', i.params),
    ...of('/io/settings', i.io?.settings),
    ...of('/bindings/slots', i.bindings?.slots),
    ...of('/bindings/devices', i.bindings?.devices),
    ...of('/rewrite', i.rewrite),
    ...Object.entries(i)
      .filter(([k]) => !['params', 'io', 'bindings', 'rewrite', 'notes'].includes(k))
      .map(([k, v]): [string, unknown] => [`/${k}`, v]),
  ];
}
const under = (pointer: string, at: string) => pointer === at || pointer.startsWith(`${at}/`);
const text = (v: unknown) => JSON.stringify(v);

/** The same prototype with a step called otherwise. */
const renamed = (p: Prototype, id: string, now: string): Prototype =>
  JSON.parse(
    JSON.stringify(p)
      .replace(`"id":"${id}"`, `"id":"${now}","was":"${id}"`)
      .replaceAll(`"after":"${id}"`, `"after":"${now}"`)
      .replaceAll(`steps.${id}.`, `steps.${now}.`),
  );

test('each member of the old one is in the new one, or told and kept aside; and the new one fits', () => {
  let told = 0;
  fc.assert(
    fc.property(prototypes, prototypes, implementations, fc.boolean(), (before, drawn, old, isRenamed) => {
      const after = isRenamed ? renamed(drawn, 'a', 'now_a') : drawn;
      assert.equal(checkPrototype(after), []);
      const { implementation, repaired, broken } = migrate(old, before, after);
      assert.equal(checkImplementation(implementation, after), []);
      assert.equal(faultsOf(implementationSchema, implementation), []);
      const rewrites = (implementation.rewrite ?? []).map(text);
      const now = new Map(members(implementation).filter(([at]) => !at.startsWith('/rewrite/')));
      const all = [...repaired, ...broken];
      for (const [at, value] of members(old)) {
        const stays = at.startsWith('/rewrite/')
          ? rewrites.includes(text(value))
          : text(now.get(at)) === text(value);
        if (stays) continue;
        told++;
        const named = all.filter((f) => under(f.pointer, at));
        assert.ok(named.length > 0, `${at} is not told`);
        // A step that is called otherwise is all that changes in place; the rest is kept as it was.
        if (named.some((f) => f.code !== 'step_renamed'))
          assert.ok(
            implementation.notes!.some((n) => n.pointer === at && text(n.value) === text(value)),
            `${at} is not kept`,
          );
      }
      for (const f of all) {
        assert.ok(
          members(old).some(([at]) => under(f.pointer, at)),
          f.pointer,
        );
        assert.match(saidIn(f, 'ru'), /[а-я]/);
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(told > 500, String(told));
});

test('a version that changes nothing changes nothing of what fits', () => {
  fc.assert(
    fc.property(prototypes, implementations, (p, i) => {
      if (checkImplementation(i, p).length > 0) return;
      assert.equal(migrate(i, p, { ...p, version: '9.0.0' }), {
        implementation: i,
        repaired: [],
        broken: [],
      });
    }),
  );
});

const say = (id: string, more: Partial<Step> = {}): Step => ({ id, do: 'say', text: id, ...more });
const version = (more: Partial<Prototype>): Prototype => ({
  id: 'home/x',
  version: '1.0.0',
  dslVersion: '1',
  name: 'X',
  steps: [say('a'), say('b'), say('c'), say('d')],
  ...more,
});
const codes = (faults: readonly { pointer: string; code: string }[]) =>
  faults.map((f) => `${f.pointer} ${f.code}`);

test('a step that is called otherwise is followed by its "was"', () => {
  const { implementation, repaired, broken } = migrate(
    { rewriteVersion: 1, rewrite: [{ match: { id: 'a' }, action: 'move_after', ref: 'b' }] },
    version({}),
    version({ steps: [say('first', { was: 'a' }), say('second', { was: 'b' }), say('c')] }),
  );
  assert.equal(implementation.rewrite, [{ match: { id: 'first' }, action: 'move_after', ref: 'second' }]);
  assert.equal(codes(repaired), ['/rewrite/0/match/id step_renamed', '/rewrite/0/ref step_renamed']);
  assert.equal(broken, []);
});

test('a move to a step that is gone goes to what stood beside it', () => {
  const rewrite = [{ match: { id: 'a' }, action: 'move_after', ref: 'c' }];
  const to = (...steps: Step[]) => migrate({ rewriteVersion: 1, rewrite }, version({}), version({ steps }));
  assert.equal(to(say('a'), say('b'), say('d')).implementation.rewrite, [
    { match: { id: 'a' }, action: 'move_after', ref: 'b' },
  ]);
  const later = to(say('a'), say('d'));
  assert.equal(later.implementation.rewrite, [{ match: { id: 'a' }, action: 'move_before', ref: 'd' }]);
  assert.equal(codes(later.repaired), ['/rewrite/0/ref ref_replaced']);
  assert.equal(later.implementation.notes![0]!.value, rewrite[0]);
  const alone = to(say('a'));
  assert.equal([alone.implementation.rewrite, codes(alone.broken)], [[], ['/rewrite/0/ref ref_gone']]);
});

test('a drop is kept aside where the step is gone, and where another now needs it', () => {
  const rewrite = [{ match: { id: 'a' }, action: 'drop' }];
  const to = (steps: Step[]) => migrate({ rewriteVersion: 1, rewrite }, version({}), version({ steps }));
  assert.equal(codes(to([say('b')]).repaired), ['/rewrite/0 drop_moot']);
  const needed = to([say('a', { alias: 'x' }), say('b', { text: '${x.y}' })]);
  assert.equal(codes(needed.broken), ['/rewrite/0 does_not_fit']);
  assert.match(needed.broken[0]!.says, /the step "b" needs its result/);
  assert.equal(needed.implementation.notes![0]!.value, rewrite[0]);
});

test('parameters widen, go aside where they are gone, and are asked for where they do not fit', () => {
  const old: Implementation = {
    rewriteVersion: 1,
    params: { n: 5, one: 'x', gone: 1, t: 'text', o: { a: 1 } },
  };
  const { implementation, repaired, broken } = migrate(
    old,
    version({ params: { n: 1, one: '', gone: 0, t: '', o: { a: 0 } } }),
    version({ params: { n: '1', one: [], t: 4, o: { b: 0 } } }),
  );
  assert.equal(implementation.params, { n: '5', one: ['x'] });
  assert.equal(codes(repaired), [
    '/params/n param_widened',
    '/params/one param_widened',
    '/params/gone param_gone',
  ]);
  assert.equal(codes(broken), ['/params/t param_type', '/params/o param_type']);
  assert.equal(
    implementation.notes!.map((n) => [n.pointer, n.value]),
    [
      ['/params/n', 5],
      ['/params/one', 'x'],
      ['/params/gone', 1],
      ['/params/t', 'text'],
      ['/params/o', { a: 1 }],
    ],
  );
});

test('only what loses nothing is widened: numbers and truths to texts, one plain value to a list', () => {
  const to = (value: unknown, of: unknown) => {
    const { implementation, repaired, broken } = migrate(
      { rewriteVersion: 1, params: { x: value } },
      version({ params: { x: value as string } }),
      version({ params: { x: of as string } }),
    );
    return [implementation.params!['x'], ...codes([...repaired, ...broken])];
  };
  const [wide, wrong] = ['/params/x param_widened', '/params/x param_type'];
  assert.equal(to(true, ''), ['true', wide]);
  assert.equal(to(5, ''), ['5', wide]);
  assert.equal(to([1], ''), [undefined, wrong]);
  assert.equal(to({ a: 1 }, ''), [undefined, wrong]);
  assert.equal(to(5, []), [[5], wide]);
  assert.equal(to({ a: 1 }, []), [undefined, wrong]);
  assert.equal(to(null, []), [undefined, wrong]);
  assert.equal(to('5', 5), [undefined, wrong]);
  assert.equal(to(1, true), [undefined, wrong]);
  assert.equal(to('x', null), ['x']);
});

test('a skill stays bound only where it offers all that the slot now wants', () => {
  const to = (before: string, cap: string | undefined) =>
    migrate(
      { rewriteVersion: 1, bindings: { slots: { s: { skill: 'weather' } } } },
      version({ slots: { s: { cap: before } } }),
      version({ slots: cap ? { s: { cap } } : {} }),
    );
  assert.equal(to('weather', 'weather.today').broken, []);
  assert.equal(codes(to('weather.today', 'weather').broken), ['/bindings/slots/s slot_cap']);
  assert.equal(codes(to('weather', undefined).repaired), ['/bindings/slots/s slot_gone']);
  assert.equal(to('weather', undefined).implementation.bindings, { slots: {} });
});

test('two hundred drops of which each is only wrong without the next are judged in seconds', () => {
  const ids = Array.from({ length: 499 }, (_, i) => `s${i}`);
  const chain = version({
    steps: ids.map((id, i) => say(id, { text: i > 0 ? `\${steps.${ids[i - 1]}.result}` : 'x' })),
  });
  const rewrite = ids.slice(0, 200).map((id) => ({ match: { id }, action: 'drop' }));
  const { ms, gave } = busyFor(() => migrate({ rewriteVersion: 1, rewrite }, chain, chain));
  const { broken, implementation } = gave;
  console.log(`FIGURE scenario.migrate.chain_ms ${Math.round(ms)}`);
  assert.equal([broken.length, implementation.rewrite], [200, []]);
  assert.ok(ms < 8000, `${ms} ms`);
});

test('there is room for many things that are kept, and the oldest that go are told', () => {
  const notes = Array.from({ length: MOST_NOTES }, (_, i) => ({
    pointer: `/params/p${i}`,
    code: 'param_gone',
    value: i,
  }));
  const { implementation, broken } = migrate(
    { rewriteVersion: 1, params: { x: 1 }, notes },
    version({ params: { x: 0 } }),
    version({}),
  );
  assert.is(implementation.notes!.length, MOST_NOTES);
  assert.is(implementation.notes!.at(-1)!.value, 1);
  assert.equal(codes(broken), ['/params/p0 notes_full']);
});

test.run();
