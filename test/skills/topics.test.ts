// ui.action, ui.query and what a skill tells people, as its author writes and tests them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SkillDefinition } from '../../firmware/skills/sdk/skill.ts';
import { startSkill } from '../../firmware/skills/sdk/test.ts';

const test = suite('topics of screens');
const manifest = {
  id: 'shop',
  version: '1.0.0',
  capabilities: { visual: true, ui: { title: 'Shop', modes: ['modal'], schema: 'ui/v0' } },
};
const rows = Array.from({ length: 120 }, (_, n) => ({ n }));
const shop: SkillDefinition = {
  start: (ctx) => ({
    endpoints: [],
    action: ({ owner_id, action_id, payload }) => {
      if (action_id === 'tell') ctx.tell(owner_id, 'ui.toast', payload as never);
      return { body: { action_id }, state: (s) => ({ count: Number(s['count'] ?? 0) + 1 }) };
    },
    query: ({ page, pageSize, params }) => ({
      rows: params['bad'] ? ('none' as never) : rows.slice(page * pageSize, (page + 1) * pageSize),
      total: rows.length,
    }),
  }),
};
const started = async () => {
  const s = await startSkill(shop, { manifest });
  await s.attach('o1');
  return s;
};
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'fine',
    (e: { code?: string }) => e.code ?? String(e),
  );

test('an action is done once for its id, and what it changes is in the state', async () => {
  const s = await started();
  for (const id of ['a', 'a', 'b'])
    assert.equal((await s.action('press', {}, { id })).body, { action_id: 'press' });
  assert.is(s.state()['count'], 2);
  assert.is(await codeOf(s.action('not an id!')), 'invalid_request');
});

test('a query answers a page and the total, changes nothing, and is asked as often as one likes', async () => {
  const s = await started();
  const before = JSON.stringify(s.state());
  assert.equal(await s.query('rows', { page: 2 }), { rows: rows.slice(100, 120), total: 120 });
  assert.equal((await s.query('rows', { page: 1, pageSize: 2 })).rows, [{ n: 2 }, { n: 3 }]);
  assert.is(JSON.stringify(s.state()), before);
  assert.is(await codeOf(s.query('rows', { pageSize: 501 })), 'invalid_request');
  assert.is(await codeOf(s.query('rows', { params: { bad: true } })), 'invalid_request');
});

test('what a skill tells is of the contract, and goes to a person it serves', async () => {
  const s = await started();
  await s.action('tell', { text: { en: 'Milk', ru: 'Молоко' }, kind: 'info' });
  assert.equal(s.told, [
    { owner_id: 'o1', topic: 'ui.toast', payload: { text: { en: 'Milk', ru: 'Молоко' }, kind: 'info' } },
  ]);
  assert.not.ok((await codeOf(s.action('tell', { loud: true }))) === 'fine');
  assert.is(s.told.length, 1);
});

test('a skill without such functions has no such paths', async () => {
  const s = await startSkill({ start: () => ({ endpoints: [] }) }, { manifest });
  await s.attach('o1');
  assert.is(await codeOf(s.request('POST', '/v1/ui/action', { body: { action_id: 'x' } })), 'not_found');
  assert.is(await codeOf(s.request('POST', '/v1/ui/query', { body: { query: 'x' } })), 'not_found');
});

test.run();
