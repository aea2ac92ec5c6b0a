// The shopping list: changes of several people come together, in whatever order they arrive and however often.
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startSkill } from '../../firmware/skills/sdk/test.ts';
import { hoursOf, lastDay, sum } from '../../services/skills/energy/simulate.ts';
import {
  briefOf,
  type Change,
  changed,
  changeOf,
  type Items,
  MAX_ITEMS,
} from '../../services/skills/shopping/list.ts';
import { skill } from '../../services/skills/shopping/skill.ts';

const manifest = {
  id: 'shopping',
  version: '1.0.0',
  capabilities: {
    visual: true,
    ui: { title: 'List', modes: ['modal' as const], app: 'scenario.yaml' as const },
  },
};
const after = (...all: [string, object][]): Items =>
  all.reduce<Items>((items, [action, payload]) => changed(items, changeOf(action, { ...payload })!)!, {});
const open = (items: Items) => Object.values(items).flatMap((i) => (i.open ? [i.name] : []));

test('a thing that two write down is on the list once, as it was first written', () => {
  assert.equal(open(after(['put', { name: ' Milk  3% ' }], ['put', { name: 'milk 3%' }])), ['Milk 3%']);
});

test('who has put something in the basket is right whoever wrote it again before, and it can be put back', () => {
  const got = after(['put', { name: 'Milk' }], ['got', { key: 'milk' }]);
  assert.equal(open(got), []);
  assert.equal(open(changed(got, { is: 'back', key: 'MILK' })!), ['Milk']);
  assert.equal(open(changed(got, { is: 'put', name: 'milk' })!), ['Milk']);
});

test('a tile tells how much is to buy and the first of it, and of nothing nothing', () => {
  const puts = (...names: string[]) => after(...names.map((name): [string, object] => ['put', { name }]));
  assert.equal(briefOf({}), { count: 0, brief: null });
  assert.equal(briefOf(after(['put', { name: 'Milk' }], ['got', { key: 'Milk' }])), {
    count: 0,
    brief: null,
  });
  assert.equal(briefOf(puts('Milk', 'Eggs')), { count: 2, brief: 'Milk, Eggs' });
  assert.equal(briefOf(puts('A', 'B', 'C', 'D', 'E', 'F')), { count: 6, brief: 'A, B, C, D, +2' });
});

test('an emptied basket keeps what somebody has put back, and what is gone does not come again by a late tick', () => {
  const both = after(['put', { name: 'A' }], ['put', { name: 'B' }], ['got', { key: 'A' }]);
  const cleared = changed(both, { is: 'clear', keys: ['A', 'B'] })!;
  assert.equal(Object.keys(cleared), ['B']);
  assert.is(changed(cleared, { is: 'got', key: 'A' }), cleared);
});

test('what is no change is none, and a full list takes no more', () => {
  const odd: [string, object][] = [
    ...([
      ['put', {}],
      ['put', { name: ' ' }],
      ['put', { name: 7 }],
      ['got', { key: '' }],
    ] as [string, object][]),
    ...([
      ['clear', { keys: 'A' }],
      ['drop', { key: 'A' }],
      ['constructor', {}],
    ] as [string, object][]),
  ];
  for (const [action, payload] of odd) assert.is(changeOf(action, { ...payload }), null);
  let items: Items = {};
  for (let i = 0; i < MAX_ITEMS; i++) items = changed(items, { is: 'put', name: `n${i}` })!;
  assert.is(changed(items, { is: 'put', name: 'one more' }), null);
  assert.is(changed(items, { is: 'put', name: 'N7' }), items);
  const odder = changed({}, { is: 'put', name: '__proto__' })!;
  assert.equal(open(odder), ['__proto__']);
});

test('a change that arrives twice changes nothing the second time', () => {
  const name = fc.constantFrom('Milk', 'milk', 'Eggs', 'Salt');
  const change = fc.oneof(
    name.map((n): Change => ({ is: 'put', name: n })),
    name.map((key): Change => ({ is: 'got', key })),
    name.map((key): Change => ({ is: 'back', key })),
    fc.array(name).map((keys): Change => ({ is: 'clear', keys })),
  );
  fc.assert(
    fc.property(fc.array(change), change, (before, last) => {
      const items = before.reduce<Items>((all, c) => changed(all, c)!, {});
      const once = changed(items, last)!;
      assert.equal(changed(once, last), once);
    }),
  );
});

test('everybody at home has the same list, over a restart too', async () => {
  const s = await startSkill(skill, { manifest });
  await s.attach('ann');
  await s.action('put', { name: 'Milk' }, { owner_id: 'ann' });
  await s.attach('ben');
  await s.action('got', { key: 'Milk' }, { owner_id: 'ben' });
  const wanted = {
    items: { Milk: { key: 'Milk', name: 'Milk', got: true } },
    count: 0,
    brief: { i18n: { en: 'Nothing to buy', ru: 'Покупать нечего' } },
  };
  assert.equal([s.state('ann'), s.state('ben')], [wanted, wanted]);
  await s.restart({ killed: true });
  assert.equal(s.state('ann'), wanted);
});

test('made-up energy is the same for all who ask, and plausible', () => {
  assert.equal(hoursOf('2026-11-24'), hoursOf('2026-11-24'));
  assert.not.equal(hoursOf('2026-11-24'), hoursOf('2026-11-25'));
  for (let d = 1; d < 29; d++) {
    const day = sum(hoursOf(`2026-02-${d}`));
    assert.ok(day > 5 && day < 16, String(day));
  }
  const now = lastDay(new Date(2026, 10, 24, 7, 30));
  assert.equal([now.length, now[0]!.hour, now[23]!.hour], [24, '08:00', '07:00']);
});

test.run();
