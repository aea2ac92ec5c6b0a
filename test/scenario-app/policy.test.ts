// What an app's page may do, wish by wish.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { policyOf } from '../../firmware/scenario-app/policy.ts';
import type { Act, Path } from '../../firmware/ui/tree.ts';

const policy = policyOf('orders', new Map([['stock', ['stock.list', 'stock.move']]]));
const at = (...path: (string | number | null)[]): Path => ({ path: ['state', 'viewModel', ...path] });
const set = (place: Path): Act => ({ do: 'set', at: place, value: 1 });
const change = (...steps: (string | Path)[]): Act => ({
  do: 'action',
  id: 'orders.add',
  meanwhile: [{ op: 'add', at: steps }],
});

/** A wish, and where it leads or the code of why it does not. */
const wishes: [name: string, wish: Act, code: 'outside' | 'not_permitted' | '', target?: string][] = [
  ['another place', { do: 'go', page: 'one' }, ''],
  ['a value of its own', set(at('orders', 'kind')), ''],
  ['its whole part', set(at('orders')), 'outside'],
  ["another skill's value", set(at('stock', 'left')), 'outside'],
  ['a value in every item', set(at('orders', null, 'done')), 'outside'],
  ['a value beside the view model', set({ path: ['state', 'own', 'orders', 'kind'] }), 'outside'],
  ['a value of the row at hand', set({ path: ['row', 'viewModel', 'orders', 'kind'] }), 'outside'],
  ['a query it may ask', { do: 'query', query: 'stock.list' }, '', 'stock'],
  ['a query of its own skill', { do: 'query', query: 'orders.list' }, '', 'orders'],
  ['anything, of its own skill', { do: 'query', query: 'stock.list', target: 'orders' }, '', 'orders'],
  ['a query nobody granted', { do: 'query', query: 'stock.clear', target: 'stock' }, 'not_permitted'],
  ['a query of a stranger', { do: 'query', query: 'stock.list', target: 'door' }, 'not_permitted'],
  ['an action it may ask', { do: 'action', id: 'stock.move', target: 'stock' }, '', 'stock'],
  ['an action nobody granted', { do: 'action', id: 'stock.clear', target: 'stock' }, 'not_permitted'],
  ['an action that shows its change', change('orders', 'open'), '', 'orders'],
  ['an action that changes its whole part', change('orders'), 'outside'],
  ['an action that changes another part', change('stock', 'left'), 'outside'],
  ['an action whose place a row names', change(at('orders', 'kind'), 'left'), 'outside'],
  ['a request of its own making', { do: 'post', path: '/skills/orders/v1/add' }, 'not_permitted'],
  ['a message to others', { do: 'publish', topic: 'orders/added' }, 'not_permitted'],
];

for (const [name, wish, code, target] of wishes)
  test(`${name} is ${code ? `refused: ${code}` : 'let through'}`, () => {
    const said: string[] = [];
    const allowed = policy.act(wish, (one) => said.push(one));
    assert.equal(said, code ? [code] : []);
    assert.equal(allowed, code ? null : target ? { ...wish, target } : wish);
  });

test('rows come of whom may be asked for them', () => {
  const said: string[] = [];
  const rowsOf = (query: string, target?: string) =>
    policy.rows({ query, pageSize: 7, ...(target ? { target } : {}) }, (code) => said.push(code));
  assert.equal(rowsOf('stock.list'), { query: 'stock.list', pageSize: 7, target: 'stock' });
  assert.is(rowsOf('stock.list', 'door'), null);
  assert.equal(said, ['not_permitted']);
});

test.run();
