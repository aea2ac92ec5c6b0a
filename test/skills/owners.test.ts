// Places of owners: bounded, free again once somebody is forgotten, and a full disk leaves nobody half there.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { archiveSchema } from '../../firmware/documents/archive.ts';
import { personId } from '../../firmware/people/person.ts';
import { random } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openOwners } from '../../firmware/skills/owners.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';

const test = suite<{ dir: string; store: Store }>('owners');
test.before.each(async (c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-owners-'));
  c.store = await openStore(join(c.dir, 'a.sqlite'), archiveSchema);
});
test.after.each(async (c) => {
  await c.store.close();
  rmSync(c.dir, { recursive: true });
});

const nothing = async () => {};
const open = (store: Pick<Store, 'all' | 'run'>, makeRoom = nothing) =>
  openOwners({ store, makeRoom, seconds: () => 1 });
const code = (work: Promise<unknown>) =>
  work.then(
    () => '',
    (e) => (e as IngleError).code ?? 'failed',
  );
const rows = async (store: Store) =>
  (await store.all<{ owner_id: string }>('SELECT owner_id FROM owners')).map((r) => r.owner_id);
const person = () => personId(random(15));

test('200 people come and go, and the next still finds a place', async ({ store }) => {
  const owners = await open(store);
  await owners.add('own');
  for (let i = 0; i < 200; i++) {
    const id = person();
    assert.is(await owners.add(id), true);
    assert.is(await owners.add(id), false);
    await owners.remove(id, nothing);
    assert.is(await code(owners.add(id)), 'forbidden', 'a late request brings nobody back');
  }
  assert.equal([owners.served(), owners.leaving(), await rows(store)], [['own'], [], ['own']]);
});

test('200 owners one after another: where all places are taken, room is made, and else nobody comes in', async ({
  store,
}) => {
  let asked = 0;
  const owners = await open(store, async () => {
    asked++;
    await owners.remove(owners.served()[0]!, nothing);
  });
  for (let i = 0; i < 200; i++) await owners.add(`own${i}`);
  assert.equal([owners.served().length, asked], [64, 136]);
  assert.equal(await rows(store).then((r) => r.sort()), [...owners.served()].sort());
  assert.is(await owners.add('own0'), true, 'an owner who had to go may come back');
  const strict = await open(store);
  const many = await Promise.all(['x', 'y'].map((id) => code(strict.add(id))));
  assert.equal(many, ['rate_limited', 'rate_limited']);
  await strict.remove('own0', nothing);
  const two = await Promise.all(['x', 'y'].map((id) => code(strict.add(id))));
  assert.equal(two, ['', 'rate_limited'], 'two at once for one place');
});

test('a full disk adds nobody, and whom it does not let go is still to be removed, after a start as well', async ({
  store,
}) => {
  let full = false;
  const brittle = {
    all: store.all,
    run: ((...a: Parameters<Store['run']>) =>
      full ? Promise.reject(new Error('SQLITE_FULL')) : store.run(...a)) as Store['run'],
  };
  const owners = await open(brittle);
  const [ann, ben] = [person(), person()];
  await owners.add(ann);
  full = true;
  assert.is(await code(owners.add(ben)), 'failed');
  assert.equal(owners.served(), [ann]);
  assert.is(await code(owners.remove(ann, nothing)), 'failed');
  assert.equal([owners.served(), owners.leaving()], [[], [ann]]);
  assert.is(await code(owners.add(ann)), 'forbidden');
  assert.equal((await open(store)).served(), [ann], 'found at the next start');
  full = false;
  await owners.remove(ann, nothing);
  assert.equal([owners.leaving(), await rows(store)], [[], []]);
  assert.is(await owners.add(ben), true, 'the place of who was not added is free');
  const failing = () => Promise.reject(new IngleError('internal', 'x'));
  await owners.add('former');
  assert.is(await code(owners.remove('former', failing)), 'internal');
  assert.is(await code(owners.add('former')), 'unavailable');
  await owners.remove('former', nothing);
  assert.is(await owners.add('former'), true);
});

test.run();
