// Run by: npm test
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSkill } from '@ingle/skill-sdk/test';
import manifest from './manifest.json' with { type: 'json' };
import { skill } from './skill.ts';

test('a press is counted for who pressed, and stays after a restart', async () => {
  const s = await startSkill(skill, { manifest });
  await s.attach('ann');
  await s.attach('bob');
  assert.equal(s.view('ann').schema, 'ui/v0');
  await s.request('POST', '/v1/press', { owner_id: 'ann' });
  const { body } = await s.request('POST', '/v1/press', { owner_id: 'ann' });
  assert.deepEqual(body, { today: 2, ever: 2 });
  await s.restart({ killed: true });
  assert.deepEqual(s.state('ann')['today'], { i18n: { en: '2 times', ru: '2 раза' } });
  assert.deepEqual(s.state('bob')['ever'], { i18n: { en: '0 times', ru: '0 раз' } });
});

test('each day begins anew, also when the hub was off at midnight', async () => {
  const s = await startSkill(skill, { manifest });
  await s.attach('ann');
  await s.request('POST', '/v1/press');
  await s.advance(24 * 60 * 60 * 1000);
  assert.equal(s.storage.of('ann').get('today'), 0);
  await s.request('POST', '/v1/press');
  await s.restart({ after: 3 * 24 * 60 * 60 * 1000 });
  await s.advance(0);
  assert.equal(s.storage.of('ann').get('today'), 0);
  assert.equal(s.storage.of('ann').get('ever'), 2);
  assert.deepEqual(s.errors, []);
});
