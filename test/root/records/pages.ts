// Skills' pages that come through root.
import * as assert from 'uvu/assert';
import { enrol, LATER, preauth, T, type Test } from './kit.ts';

const at = (sid: string, id = 'page') => ({
  id,
  sid,
  ...{ owner_id: 'own_a', hub_id: 'hub_a', skill_id: 'dial' },
});

export function pageTests(test: Test): void {
  test('a ticket is spent once, and its page is found from then until its time is over', async ({
    records,
  }) => {
    await preauth(records, 'sid', await enrol(records, 'a'));
    const { pages } = records;
    await pages.begin({ ...at('sid'), exp: T + 300 });
    assert.is(await pages.find('page', T), undefined, 'not yet');
    assert.is(await pages.spend({ id: 'other', now: T, exp: T + 600 }), undefined);
    assert.is(await pages.spend({ id: 'page', now: T + 300, exp: T + 900 }), undefined, 'too late');
    const all = await Promise.all(
      Array.from({ length: 20 }, () => pages.spend({ id: 'page', now: T, exp: T + 600 })),
    );
    assert.equal(
      all.filter((s) => s !== 'spent'),
      [{ ...at('sid'), exp: T + 600 }],
    );
    assert.equal(await pages.find('page', T + 599), { ...at('sid'), exp: T + 600 });
    assert.is(await pages.find('page', T + 600), undefined);
  });

  test('a page ends with its session, and what is over is swept', async ({ records }) => {
    const { pages } = records;
    await preauth(records, 'sid', await enrol(records, 'a'));
    await pages.begin({ ...at('sid'), exp: LATER });
    await pages.begin({ ...at('sid', 'second'), exp: LATER + 5 });
    await pages.spend({ id: 'page', now: T, exp: LATER + 5 });
    assert.is(await pages.find('page', LATER), undefined, 'the session is over');
    assert.is(await pages.spend({ id: 'second', now: LATER, exp: LATER + 9 }), undefined);
    await records.sessions.end('sid', T);
    await preauth(records, 'sid2', await enrol(records, 'b'));
    assert.is(await pages.find('page', T), undefined);
    await pages.begin({ ...at('sid2'), exp: T + 1 });
    await pages.spend({ id: 'page', now: T, exp: T + 2 });
    await records.sweep({ now: T + 2, idle_since: 0, connected: [], online: [] });
    // Its name is free: nothing of it is left.
    await pages.begin({ ...at('sid2'), exp: LATER });
    assert.is(await pages.find('page', T), undefined);
  });
}
