// What is wrong with a prototype, or with what a person changed: each at its place, all at once.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import { checkImplementation } from '../../firmware/scenario/check-implementation.ts';
import { nextTime } from '../../firmware/scenario/cron.ts';
import { isCronForm, isZone } from '../../firmware/scenario/cron-form.ts';
import { saidIn } from '../../firmware/scenario/fault.ts';
import { migrate } from '../../firmware/scenario/migrate.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { scenarioTexts } from '../../firmware/text/scenario.ts';

const test = suite('the check of scenarios');
type Json = Record<string, unknown>;

const good = {
  id: 'home/evening',
  version: '1.0.0',
  dslVersion: '1',
  name: { en: 'Evening', ru: 'Вечер' },
  slots: { weather: { cap: 'weather' }, lamp: { cap: 'light.dim', optional: true } },
  params: { loud: 20, place: 'Oslo', on: true, days: [1], look: { a: 1, b: 'x' }, who: '${ctx.user.name}' },
  io: { output: ['voice', 'console'], settings: { 'output.active': 'voice', rate: 1 } },
  vars: { n: 0 },
  steps: [
    { id: 'look', do: 'call', slot: 'weather', method: 'state', alias: 'now', onError: 'go' },
    { id: 'tell', if: 'now.temp_c != null', do: 'say', text: { en: '${now.temp_c}', ru: '${now.temp_c}' } },
    {
      id: 'each',
      do: 'for',
      each: 'params.days',
      as: 'day',
      steps: [
        { id: 'one', do: 'say', text: '${day} ${item}' },
        { id: 'two', call: 'notify', args: { title: '${default(steps.one.result, 0)}' } },
      ],
    },
    { id: 'last', set: { n: '${vars.n + 1}' } },
  ],
  anchors: { news: { accept: ['skill:*'], after: 'tell' } },
} as const satisfies Json;
const prototype = good as unknown as Prototype;

/** The good one with another value at a pointer. */
function changed(pointer: string, value: unknown): Json {
  const copy = JSON.parse(JSON.stringify(good)) as Json;
  const path = pointer.split('/').slice(1);
  const parent = path.slice(0, -1).reduce<unknown>((v, k) => (v as Json)[k], copy) as Json;
  if (value === undefined) delete parent[path.at(-1)!];
  else parent[path.at(-1)!] = value;
  return copy;
}
const codes = (faults: readonly { pointer: string; code: string }[]) =>
  faults.map((f) => `${f.pointer} ${f.code}`);

test('a prototype that is right has no fault', () => {
  assert.equal(checkPrototype(good), []);
});

const cases: [pointer: string, value: unknown, ...faults: string[]][] = [
  ['/steps/1/if', 'steps.nowhere.result', '/steps/1/if unknown_step'],
  ['/steps/1/text', '${steps.nowhere.result}', '/steps/1/text unknown_step'],
  ['/steps/1/text', { en: 'a', ru: '${1 +}' }, '/steps/1/text/ru expression'],
  ['/steps/1/text', '${params.lout}', '/steps/1/text unknown_param'],
  ['/steps/1/text', "${hasSlot('lamb')}", '/steps/1/text unknown_slot'],
  ['/steps/1/text', '${nwo.temp_c}', '/steps/1/text unknown_name'],
  ['/steps/1/text', '${item}', '/steps/1/text unknown_name'],
  ['/steps/1/text', '${$.payload}', '/steps/1/text unknown_name'],
  ['/steps/1/if', 'now.temp_c >', '/steps/1/if expression'],
  ['/steps/1/id', 'look', '/steps/1/id twice'],
  ['/steps/2/steps/1/id', 'look', '/steps/2/steps/1/id twice'],
  ['/steps/0/alias', 'true', '/steps/0/alias reserved', '/steps/1/if unknown_name'],
  ['/steps/2/as', 'item', '/steps/2/steps/0/text unknown_name'],
  ['/steps/2/as', 'steps', '/steps/2/as reserved'],
  ['/steps/3/compensate', { slot: 'lamp' }, '/steps/3/compensate/method missing'],
  ['/steps/3/compensate', { call: 'notify', method: 'x' }, '/steps/3/compensate/method stray'],
  ['/steps/3/compensate', { call: 'notify' }],
  ['/include', ['parts.yaml#all']],
  [
    '/steps/3',
    { id: 'a', call: 'skills.run', args: { skill: 5, action: 'x' } },
    '/steps/3/args/skill must_be_plain',
  ],
  ['/steps/3', { id: 'a', call: 'skills.run', args: { skill: 'lamp', action: 'x' } }],
  ['/steps/1/was', 'say'],
  ['/steps/1/was', 'last', '/steps/1/was was_taken'],
  ['/steps/1/was', 'tell', '/steps/1/was was_taken'],
  [
    '/steps/3',
    { id: 'l', do: 'wait_for', topic: 'a.b', where: '$.x', args: 1, set: { n: '${$.x}' } },
    '/steps/3/args form',
  ],
  [
    '/steps/3',
    { id: 'l', do: 'wait_for', topic: 'a.b', where: '$.x', set: { n: '${$.x}' } },
    '/steps/3/set/n unknown_name',
  ],
  ['/steps/1/id', undefined, '/steps/1 no_id', '/anchors/news/after unknown_step'],
  ['/steps/1/name', 'other', '/steps/1/name two_ids'],
  ['/steps/1/when', 'true', '/steps/1/when two_conditions'],
  ['/steps/1/call', 'notify', '/steps/1 two_kinds'],
  ['/steps/3', { id: 'last' }, '/steps/3 no_kind'],
  ['/steps/2/each', undefined, '/steps/2/each missing'],
  ['/steps/2/steps', undefined, '/steps/2/steps missing'],
  ['/steps/0/slot', 'radio', '/steps/0/slot unknown_slot'],
  ['/steps/0/slot', undefined, '/steps/0/slot missing'],
  ['/steps/0/method', undefined, '/steps/0/method missing'],
  ['/steps/0/method', '../x', '/steps/0/method unknown_action'],
  ['/steps/0/alias', 'vars', '/steps/0/alias reserved', '/steps/1/if unknown_name'],
  ['/steps/1/topic', 'a.b', '/steps/1/topic stray'],
  ['/steps/3', { id: 'last', do: 'delay' }, '/steps/3 for_or_until'],
  ['/steps/3', { id: 'last', do: 'delay', for: '1s', until: 'ctx.at' }, '/steps/3 for_or_until'],
  ['/steps/3', { id: 'last', do: 'delay', until: '2026-11-25T20:00:00Z' }],
  ['/steps/3', { id: 'last', do: 'wait_for', topic: 'a.b', where: '$.payload.x > vars.n' }],
  ['/steps/3', { id: 'last', do: 'held_for', topic: 'a.b', for: '5m' }, '/steps/3/where missing'],
  ['/steps/3', { id: 'last', call: 'no spaces' }, '/steps/3/call unknown_action'],
  ['/steps/3/compensate', {}, '/steps/3/compensate/call missing'],
  ['/steps/3/compensate', { slot: 'lamp', method: 'off' }],
  ['/steps/3/compensate', { slot: 'lamb', method: 'off' }, '/steps/3/compensate/slot unknown_slot'],
  ['/steps/3/compensate', { call: 'notify', slot: 'lamp' }, '/steps/3/compensate two_kinds'],
  [
    '/steps/3/compensate',
    { call: 'notify', args: { a: '${no.x}' } },
    '/steps/3/compensate/args/a unknown_name',
  ],
  ['/timeout', '366d'],
  ['/timeout', '367d', '/timeout bad_length'],
  ['/timeout', '${params.place}', '/timeout bad_length'],
  ['/triggers', [{ type: 'time', cron: '@daily', grace: '999999999d' }], '/triggers/0/grace bad_length'],
  ['/steps/0/timeout', '8785h', '/steps/0/timeout bad_length'],
  ['/steps/0/timeout', "${vars.n + 'd'}"],
  ['/steps/3', { id: 'last', do: 'delay', for: '400d' }, '/steps/3/for bad_length'],
  ['/steps/3/retries', { max: 3, backoff: 'exp:2s..500ms' }, '/steps/3/retries/backoff bad_backoff'],
  ['/steps/3/retries', { max: 3, backoff: 'exp:500ms..2s' }],
  ['/steps/3', { include: 'parts.yaml#bye', if: 'true' }, '/steps/3 include_bare'],
  ['/steps/3', { include: 'parts.yaml#bye' }],
  ['/steps/3', { include: 'parts#bye' }, '/steps/3/include form'],
  [
    '/steps/3',
    { id: 'a', call: 'skills.run', args: { skill: '${params.place}', action: 'x' } },
    '/steps/3/args/skill must_be_plain',
  ],
  ['/steps/3', { id: 'a', call: 'skills.handle', args: { skill: 'x' } }, '/steps/3/args/topic missing'],
  ['/anchors/news/after', 'nowhere', '/anchors/news/after unknown_step'],
  ['/triggers', [{ type: 'time', cron: '61 * * * *' }], '/triggers/0/cron bad_cron'],
  ['/triggers', [{ type: 'time', cron: '@daily', zone: 'Mars/One' }], '/triggers/0/zone bad_zone'],
  ['/triggers', [{ type: 'time', cron: '@daily', zone: 'Europe/Berlin' }]],
  ['/triggers', [{ type: 'event', topic: 'a.b', when: 'vars.x' }], '/triggers/0/when unknown_name'],
  ['/triggers', [{ type: 'event', topic: 'a.b', when: '$.payload.t > 1', ctx: { t: '${$.payload.t}' } }]],
  ['/paramDocs', { loudness: 'x' }, '/paramDocs/loudness no_such_param'],
  ['/params/place', '${vars.n}', '/params/place unknown_name'],
  ['/vars/n', '${', '/vars/n expression'],
  ['/version', '1', '/version form'],
  ['/name', { EN: 1 }, '/name/EN form'],
];
for (const [pointer, value, ...faults] of cases)
  test(`${pointer} = ${JSON.stringify(value)?.slice(0, 70)} gives ${faults.join(', ') || 'no fault'}`, () => {
    const found = codes(checkPrototype(changed(pointer, value)));
    for (const f of faults) assert.ok(found.includes(f), `${f} of ${found}`);
    if (faults.length === 0) assert.equal(found, []);
  });

test('every fault is told at once, and each in both languages with nothing left to fill in', () => {
  const bad = changed('/steps/1/text', '${steps.no.x} ${params.no} ${1 +}');
  (bad['steps'] as Json[])[0]!['slot'] = 'no';
  (bad['anchors'] as Json)['x'] = { accept: ['skill:*'], after: 'no' };
  const faults = checkPrototype(bad);
  assert.equal(codes(faults), [
    '/steps/0/slot unknown_slot',
    '/steps/1/text expression',
    '/anchors/x/after unknown_step',
  ]);
  for (const f of faults) {
    assert.is(saidIn(f, 'en'), f.says);
    assert.match(saidIn(f, 'ru'), /[а-я]/);
    assert.not.match(saidIn(f, 'ru') + f.says, /\{\w+\}/);
  }
  assert.equal(Object.keys(scenarioTexts.en), Object.keys(scenarioTexts.ru));
});

test('time tables, zones and actions are asked of who knows them', () => {
  const asked: unknown[] = [];
  const triggers = [{ type: 'time', cron: 'x', zone: 'Europe/Berlin' }];
  const isCron = (...of: unknown[]) => asked.push(of) > 0;
  assert.equal(checkPrototype({ ...good, triggers }, { isCron }), []);
  assert.equal(asked, [['x', 'Europe/Berlin']]);
  const found = checkPrototype(good, { isAction: () => false });
  assert.equal(codes(found), ['/steps/2/steps/1/call unknown_action']);
});

test('what a part of another file may give is not missed before it is put in', () => {
  const open = changed('/include', ['parts.yaml#all']);
  (open['steps'] as Json[])[1]!['text'] = '${steps.elsewhere.result} ${other.x}';
  assert.equal(checkPrototype(open), []);
});

test('a scenario nests and grows so far and no farther', () => {
  const deep = (n: number): unknown => (n === 0 ? [] : [{ id: `s${n}`, do: deep(n - 1) }]);
  assert.equal(checkPrototype({ ...good, anchors: {}, steps: deep(7) }), []);
  assert.is(checkPrototype({ ...good, anchors: {}, steps: deep(8) })[0]!.code, 'too_deep');
  const loops = (n: number): unknown =>
    n === 0 ? [] : [{ id: `s${n}`, do: 'for', each: '[1]', steps: loops(n - 1) }];
  assert.equal(checkPrototype({ ...good, anchors: {}, steps: loops(7) }), []);
  assert.is(checkPrototype({ ...good, anchors: {}, steps: loops(8) })[0]!.code, 'too_deep');
  const many = Array.from({ length: 6 }, (_, i) => ({
    id: `l${i}`,
    do: Array.from({ length: 90 }, (__, k) => ({ id: `s${i}_${k}`, set: {} })),
  }));
  assert.is(checkPrototype({ ...good, anchors: {}, steps: many })[0]!.code, 'too_many');
});

test('a time table has five fields in their bounds, or is a name', () => {
  for (const yes of [
    '* * * * *',
    '*/5 0-6 1,15 jan-MAR mon-fri',
    '0 9,21 * * 7',
    '@daily',
    '5-59/15 * * * *',
  ])
    assert.ok(isCronForm(yes), yes);
  for (const no of [
    '',
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '*/0 * * * *',
    '*/90 * * * *',
    '* * * * */8',
    '5/15 * * * *',
    '9-5 * * * *',
    '@never',
    '1- * * * *',
    'x * * * *',
  ])
    assert.not(isCronForm(no), no);
  assert.ok(isZone('Asia/Yerevan'));
  assert.not(isZone('Nowhere'));
});

test('whatever passes as a time table can be reckoned with', () => {
  const value = fc.integer({ min: 0, max: 99 }).map(String);
  const range = fc.oneof(
    fc.constant('*'),
    value,
    fc.tuple(value, value).map(([a, b]) => `${a}-${b}`),
  );
  const field = fc
    .array(
      fc.oneof(
        range,
        fc.tuple(range, value).map(([r, s]) => `${r}/${s}`),
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map((parts) => parts.join());
  let yes = 0;
  for (let at = 0; at < 5; at++)
    fc.assert(
      fc.property(field, (text) => {
        const cron = ['*', '*', '*', '*', '*'].with(at, text).join(' ');
        if (!isCronForm(cron)) return;
        yes++;
        nextTime(cron, 'UTC', 0);
      }),
      { numRuns: 300 },
    );
  assert.ok(yes > 100);
});

const rewrites: [rewrite: Json, ...faults: string[]][] = [
  [{ match: { id: 'each' }, action: 'drop' }],
  [{ match: { id: 'one' }, action: 'drop' }],
  [{ match: { id: 'look' }, action: 'drop' }, '/rewrite/0 needed_by_step'],
  [{ match: { id: 'tell' }, action: 'drop' }, '/rewrite/0 needed_by_anchor'],
  [{ match: { id: 'nope' }, action: 'drop' }, '/rewrite/0/match/id no_step'],
  [{ match: { id: 'each' }, action: 'drop', ref: 'look' }, '/rewrite/0/ref no_use'],
  [{ match: { id: 'last' }, action: 'move_before', ref: 'look' }],
  [{ match: { id: 'two' }, action: 'move_before', ref: 'one' }],
  [{ match: { id: 'tell' }, action: 'move_before', ref: 'look' }, '/rewrite/0 needed_before'],
  [{ match: { id: 'look' }, action: 'move_after', ref: 'last' }, '/rewrite/0 needed_before'],
  [{ match: { id: 'one' }, action: 'move_after', ref: 'last' }, '/rewrite/0/ref other_list'],
  [{ match: { id: 'one' }, action: 'move_after', ref: 'one' }, '/rewrite/0/ref self_ref'],
  [{ match: { id: 'one' }, action: 'move_after' }, '/rewrite/0/ref no_ref'],
  [{ match: { id: 'loud' }, action: 'param.set', set: 5 }],
  [{ match: { id: 'loud' }, action: 'param.set', set: '5' }, '/rewrite/0/set wrong_type'],
  [{ match: { id: 'loud' }, action: 'param.set' }, '/rewrite/0/set no_set'],
  [{ match: { id: 'lout' }, action: 'param.set', set: 5 }, '/rewrite/0/match/id no_param'],
  [{ match: { id: 'place' }, action: 'param.set', set: '${ctx.user}' }, '/rewrite/0/set no_expressions'],
  [{ match: { id: 'look' }, action: 'param.set', set: { a: 2 } }],
  [{ match: { id: 'look' }, action: 'param.set', set: { c: 2 } }, '/rewrite/0/set/c no_field'],
  [{ match: { id: 'who' }, action: 'param.set', set: 'Ann' }],
  [{ match: { id: 'rate' }, action: 'io.set', set: 2 }],
  [{ match: { id: 'output.active' }, action: 'io.set', set: 'console' }],
  [{ match: { id: 'output.active' }, action: 'io.set', set: 'phone' }, '/rewrite/0/set no_output'],
  [{ match: { id: 'speed' }, action: 'io.set', set: 2 }, '/rewrite/0/match/id no_setting'],
  [{ match: { id: 'weather' }, action: 'cap.narrow', set: 'weather.today' }],
  [{ match: { id: 'weather' }, action: 'cap.narrow', set: 'weatherman' }, '/rewrite/0/set not_narrower'],
  [{ match: { id: 'lamp' }, action: 'cap.narrow', set: 'light' }, '/rewrite/0/set not_narrower'],
  [{ match: { id: 'radio' }, action: 'cap.narrow', set: 'radio' }, '/rewrite/0/match/id no_slot'],
  [{ match: { id: 'x' }, action: 'add_step', set: {} }, '/rewrite/0/action no_add_step'],
  [{ match: { id: 'x' }, action: 'add_slot', set: {} }, '/rewrite/0/action no_add_slot'],
  [{ match: { id: 'x' }, action: 'add_anchor', set: {} }, '/rewrite/0/action no_add_anchor'],
  [{ match: { id: 'x' }, action: 'replace' }, '/rewrite/0/action no_action'],
  [{ match: { id: 'x' }, action: 'constructor' }, '/rewrite/0/action no_action'],
];
for (const [rewrite, ...faults] of rewrites)
  test(`${JSON.stringify(rewrite)} gives ${faults.join(', ') || 'no fault'}`, () => {
    assert.equal(codes(checkImplementation({ rewriteVersion: 1, rewrite: [rewrite] }, prototype)), faults);
  });

test('a step may be dropped with all that need it, in any order', () => {
  const drop = (id: string) => ({ match: { id }, action: 'drop' });
  const free = { ...prototype, anchors: {} };
  const faults = (...ids: string[]) =>
    codes(checkImplementation({ rewriteVersion: 1, rewrite: ids.map(drop) }, free));
  assert.equal(faults('look', 'tell'), []);
  assert.equal(faults('tell', 'look'), []);
  assert.equal(faults('each', 'look'), ['/rewrite/1 needed_by_step']);
  assert.equal(faults('each', 'one'), ['/rewrite/1/match/id gone']);
});

test('a way of output that the scenario does not name cannot be set, also where it lists none', () => {
  const { output: _, ...io } = good.io;
  const bare = { ...prototype, io } as unknown as Prototype;
  const set = (value: string) =>
    codes(checkImplementation({ rewriteVersion: 1, io: { settings: { 'output.active': value } } }, bare));
  assert.equal(set('voice'), []);
  assert.equal(set('phone'), ['/io/settings/output.active no_output']);
});

test('the largest scenario with the most changes is judged and brought to a new version in seconds', () => {
  const ids = Array.from({ length: 499 }, (_, i) => `s${i}`);
  const text = (i: number) =>
    `\${${
      ids
        .slice(Math.max(0, i - 60), i)
        .map((id) => `steps.${id}.result`)
        .join(' or ') || '1'
    }}`;
  const large = {
    ...prototype,
    anchors: {},
    steps: ids.map((id, i) => ({ id, do: 'say' as const, text: text(i) })),
  };
  const rewrite = ids.slice(0, 200).map((id) => ({ match: { id }, action: 'drop' }));
  const began = performance.now();
  const faults = checkImplementation({ rewriteVersion: 1, rewrite }, large);
  const judged = performance.now();
  assert.ok(faults.length > 200);
  const { implementation, broken } = migrate({ rewriteVersion: 1, rewrite }, large, large);
  const done = performance.now();
  assert.ok(broken.length > 0);
  assert.equal(checkImplementation(implementation, large), []);
  console.log(`FIGURE scenario.check.largest_ms ${Math.round(judged - began)}`);
  console.log(`FIGURE scenario.migrate.largest_ms ${Math.round(done - judged)}`);
  assert.ok(done - began < 8000);
});

test('no expression comes in, however deep it lies, and no way among several that the scenario lacks', () => {
  const faults = (i: Json) => codes(checkImplementation({ rewriteVersion: 1, ...i }, prototype));
  const set = (id: string, value: unknown) => faults({ params: { [id]: value } });
  assert.equal(set('days', [1, ['${vars.n}']]), ['/params/days/1/0 no_expressions']);
  assert.equal(set('who', { a: [null, { b: 'x ${vars.n}' }] }), ['/params/who/a/1/b no_expressions']);
  assert.equal(set('who', { a: [null, 1] }), []);
  assert.equal(set('days', [null]), []);
  assert.equal(set('look', null), ['/params/look wrong_type']);
  assert.equal(set('look', []), ['/params/look wrong_type']);
  assert.equal(set('days', {}), ['/params/days wrong_type']);
  const io = { ...good.io, settings: { 'output.active': ['voice'], 'input.active': null } };
  const ways = (name: string, value: unknown) =>
    codes(
      checkImplementation({ rewriteVersion: 1, io: { settings: { [name]: value } } }, {
        ...prototype,
        io,
      } as unknown as Prototype),
    );
  assert.equal(ways('output.active', ['console', 'voice']), []);
  assert.equal(ways('output.active', ['voice', 'phone']), ['/io/settings/output.active no_output']);
  assert.equal(ways('input.active', null), ['/io/settings/input.active no_output']);
});

test('of several steps that fill one alias any may go but the last, and one stays before who reads it', () => {
  const fill = (id: string) => ({ id, call: 'notify', alias: 'got' });
  const p = {
    ...prototype,
    anchors: {},
    steps: [fill('a'), fill('b'), { id: 'r', do: 'say', text: '${got.x}' }, fill('c'), { id: 'z', set: {} }],
  } as unknown as Prototype;
  const faults = (...rewrite: Json[]) => codes(checkImplementation({ rewriteVersion: 1, rewrite }, p));
  const drop = (id: string) => ({ match: { id }, action: 'drop' });
  const after = (id: string, ref: string) => ({ match: { id }, action: 'move_after', ref });
  assert.equal(faults(drop('a')), []);
  assert.equal(faults(drop('c'), { match: { id: 'loud' }, action: 'param.set', set: 1 }), []);
  assert.equal(faults(drop('a'), drop('b')), ['/rewrite/1 needed_before']);
  assert.equal(faults(drop('a'), drop('b'), drop('c')), ['/rewrite/2 needed_by_step']);
  assert.equal(faults(after('a', 'z')), []);
  assert.equal(faults(after('a', 'z'), after('b', 'z')), ['/rewrite/1 needed_before']);
  assert.equal(
    faults(after('z', 'c'), drop('c'), { match: { id: 'loud' }, action: 'param.set', set: 1 }),
    [],
  );
  const told = faults(
    drop('a'),
    { match: { id: 'loud' }, action: 'param.set', set: 1 },
    drop('b'),
    drop('z'),
  );
  assert.equal(told, ['/rewrite/2 needed_before']);
});

test('each forbidden change says why and what to do, in both languages', () => {
  const said = new Set<string>();
  for (const action of ['add_step', 'add_slot', 'add_anchor', 'replace', 'param.add']) {
    const rewrite = [{ match: { id: 'x' }, action }];
    const [fault] = checkImplementation({ rewriteVersion: 1, rewrite }, prototype);
    assert.ok(fault!.says.length > 40, fault!.says);
    assert.match(saidIn(fault!, 'ru'), /[а-я]{5}/);
    said.add(fault!.says);
  }
  assert.is(said.size, 4);
});

test('parameters, settings and slots that the prototype does not have are refused by name', () => {
  const faults = checkImplementation(
    {
      rewriteVersion: 1,
      params: { loud: 'x', more: 1 },
      io: { settings: { rate: true, 'output.active': 'phone', more: 1 } },
      bindings: { slots: { weather: { skill: 'weather' }, radio: { skill: 'x' } } },
    },
    prototype,
  );
  assert.equal(codes(faults), [
    '/params/loud wrong_type',
    '/params/more no_param',
    '/io/settings/rate wrong_type',
    '/io/settings/output.active no_output',
    '/io/settings/more no_setting',
    '/bindings/slots/radio no_slot',
  ]);
});

test('whatever a document is, the checks tell its faults and never fail themselves', () => {
  const any = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.record({
      ...Object.fromEntries(
        Object.keys(good).map((k) => [k, fc.oneof(fc.constant((good as Json)[k]), fc.jsonValue())]),
      ),
    }),
  );
  fc.assert(
    fc.property(any, fc.jsonValue(), (a, b) => {
      for (const f of [...checkPrototype(a), ...checkImplementation(b, prototype)])
        assert.ok(f.says && (f.pointer === '' || f.pointer.startsWith('/')));
    }),
    { numRuns: 500 },
  );
});

test.run();
