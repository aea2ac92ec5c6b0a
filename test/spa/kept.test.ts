// What is kept of screens is a signed-in browser's alone: nothing is written once its session is over.
import { test } from 'uvu';
import * as assert from 'uvu/assert';

let opened = 0;
Object.assign(globalThis, {
  indexedDB: {
    open() {
      opened++;
      throw new Error('no storage here');
    },
  },
});
const { keepScreen } = await import('../../spa/kept.ts');
const { dropSession, keepSession } = await import('../../spa/sid.ts');
const kept = { tree: { tree: 1, from: 'ui/v0', main: [], needs: [] }, state: {}, at: 1 } as never;

test('a screen is kept while somebody is signed in, and no more once they are not', async () => {
  await keepScreen('porch', kept);
  assert.is(opened, 0);
  keepSession({ sid: 's', hub_id: 'hub_a' });
  await keepScreen('porch', kept);
  assert.ok(opened > 0);
  const before = opened;
  dropSession();
  await keepScreen('porch', kept);
  assert.is(opened, before);
});

test.run();
