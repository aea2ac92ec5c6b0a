// What this browser makes of the answer, or of none, when its hub goes to another home.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { wayOut } from '../../spa/leave.ts';
import { parting } from '../../spa/parting.ts';
import { dropSession, keepSession } from '../../spa/sid.ts';
import { app, show } from '../../spa/store.ts';

let forgotten: unknown[] = [];
wayOut(
  async (hub) => {
    forgotten.push(hub);
    dropSession();
  },
  () => Promise.reject(new Error('nobody goes to another hub here')),
);
const perhaps = { i18n: { en: 'perhaps', ru: 'возможно' } };
const says = { done: 'done', perhaps };
test.before.each(() => {
  forgotten = [];
  keepSession({ sid: 's', hub_id: 'attic' });
  show({ at: 'desktop' });
});

test('done, the hub is forgotten and no other', async () => {
  await parting(async () => {}, says);
  assert.equal(forgotten, ['attic']);
  assert.is(app().toast?.text, 'done');
});

test('done as the session ends, the same', async () => {
  await parting(async () => dropSession(), says);
  assert.equal(forgotten, ['attic']);
});

test('a no of the hub is told, and nothing is forgotten', async () => {
  const no = new IngleError('timeout', 'No answer.');
  const e = await parting(() => Promise.reject(no), says).catch((cause) => cause);
  assert.is(e, no);
  assert.equal(forgotten, []);
});

test('a session that ends before the answer forgets nothing, and the way in says what may have become of it', async () => {
  await parting(async () => {
    dropSession();
    throw new IngleError('unavailable', 'The hub is not reached.');
  }, says);
  // The page comes when root has heard of it.
  assert.equal(app().page, { at: 'desktop' });
  show({ at: 'login', out: true });
  assert.equal(app().page, { at: 'login', out: true, notice: { words: perhaps } });
  assert.equal(forgotten, []);
  // It is said once.
  show({ at: 'login' });
  assert.equal(app().page, { at: 'login' });
});

test('another session since is not the one that asked', async () => {
  await parting(async () => {
    dropSession();
    keepSession({ sid: 't', hub_id: 'hall' });
    show({ at: 'entry' });
    throw new IngleError('unavailable', 'The hub is not reached.');
  }, says);
  assert.equal(forgotten, []);
  assert.equal(app().page, { at: 'entry', notice: { words: perhaps } });
});

test.run();
