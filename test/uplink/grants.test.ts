// Whom a code lets in: whatever is asked and asserted, in whatever order, a browser gets what its person is and no more.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../firmware/system/store.ts';
import { type Grant, memberGrant, ownerGrant, readGrant, writeGrant } from '../../firmware/uplink/grant.ts';
import { newWindow } from '../../firmware/uplink/pairing-window.ts';
import { openPeople } from '../../firmware/uplink/people.ts';
import { openPins } from '../../firmware/uplink/pins.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import { hub, passkey, place } from './admitting.ts';

type Hub = Awaited<ReturnType<typeof hub>>;
const test = suite('grants');
const guest = { name: 'Ann', role: 'guest', until: 0 } as const;
const to = (person_id: string): Grant => ({ kind: 'person', person_id });
const code = (said: unknown) => (said as { error?: string }).error;

/** The owner's browser with its passkey, and a guest who is invited. */
async function household() {
  const h = await hub();
  const [owner, ownerKey] = [h.browser(), passkey()];
  await h.pins.prove(owner.id, false);
  owner.shake();
  await owner.assert(ownerKey, { key: ownerKey.publicKey });
  const ann = await h.people.add(guest, owner.id);
  return Object.assign(h, { owner, ownerKey, ann });
}
/** A browser that knew the secret of a code for `grant`. */
async function proven(h: Pick<Hub, 'browser' | 'pins'>, grant: Grant, fresh = true) {
  const b = h.browser();
  await h.pins.prove(b.id, fresh, grant);
  b.shake('link');
  return b;
}

test('an invitation makes a browser of that person, with documents of their own and nothing elevated', async () => {
  const h = await household();
  const [b, p] = [await proven(h, to(h.ann.id)), passkey()];
  assert.is((await b.assert(p, { key: p.publicKey })).t, 'admitted');
  const expected = {
    owner_id: h.ann.id,
    browser: b.id,
    role: 'guest',
    elevated_until: 0,
    household: 'own_1',
  };
  assert.equal(b.a.principal(), expected);
  const w = b.shake();
  assert.equal([w.admitted, w.need, w.elevated_until], [true, null, 0]);
  await b.assert(p);
  assert.equal(b.a.principal(), expected, 'a passkey that is checked anew opens nothing more');
  assert.equal((await h.store.browsers()).find((x) => x.id === b.id)?.person, h.ann.id);
  const again = await openPins(h.store, h.now);
  assert.equal([again.browser(b.id)?.person, again.passkey(p.id)?.person], [h.ann.id, h.ann.id]);
});

test('the passkey of the owner does not make a guest of its browser, nor that of a guest an owner', async () => {
  const h = await household();
  const onInvitation = await proven(h, to(h.ann.id));
  const no = await onInvitation.assert(h.ownerKey);
  assert.is(no.error, 'assertion_failed');
  assert.match((no as unknown as { message: string }).message, /is of the owner/);
  const p = passkey();
  assert.is((await onInvitation.assert(p, { key: p.publicKey })).t, 'admitted', 'their own one does');
  for (const fresh of [false, true]) {
    const onOwners = await proven(h, ownerGrant, fresh);
    const answer = await onOwners.assert(p, { key: p.publicKey });
    assert.is(answer.error, 'assertion_failed');
    assert.match((answer as unknown as { message: string }).message, /somebody who was invited/);
    assert.not(onOwners.a.admitted());
  }
  const ben = await h.people.add({ ...guest, name: 'Ben' }, '');
  assert.is(code(await (await proven(h, to(ben.id))).assert(p)), 'assertion_failed', 'nor another guest');
});

test('a paired browser stays whose it is: a code for somebody else gives it nothing, and says so', async () => {
  const h = await household();
  const [b, p] = [await proven(h, to(h.ann.id)), passkey()];
  await b.assert(p, { key: p.publicKey });
  for (const [paired, theirs, grant] of [
    [h.owner, h.ownerKey, to(h.ann.id)],
    [b, p, ownerGrant],
  ] as const) {
    const before = paired.a.principal();
    await h.pins.prove(paired.id, true, grant);
    const w = paired.shake('link');
    assert.equal([w.admitted, w.need, w.first], [true, null, false]);
    assert.is(code(paired.said[1]), 'conflict');
    const stranger = passkey();
    assert.is(code(await paired.assert(stranger, { key: stranger.publicKey })), 'assertion_failed');
    await paired.assert(theirs);
    assert.equal(paired.a.principal(), before);
  }
  assert.is(h.pins.passkeys().length, 2);
});

test('a guest with a passkey is no owner with one: the owner’s first passkey is still taken', async () => {
  const h = await hub();
  const ann = await h.people.add(guest, '');
  const [b, p] = [await proven(h, to(ann.id)), passkey()];
  await b.assert(p, { key: p.publicKey });
  assert.not(h.pins.hasPasskey);
  const [owner, theirs] = [h.browser(), passkey()];
  await h.pins.prove(owner.id, false);
  assert.is(owner.shake('link').first, true);
  assert.is((await owner.assert(theirs, { key: theirs.publicKey })).t, 'admitted');
  // And an invitation without a new passkey takes none, though the guest has none.
  const ben = await h.people.add({ ...guest, name: 'Ben' }, '');
  const strict = await proven(h, to(ben.id), false);
  const other = passkey();
  assert.is(code(await strict.assert(other, { key: other.publicKey })), 'assertion_failed');
});

test('two at the same moment with passkeys of one name: the second does not take the first one’s place', async () => {
  const h = await household();
  const [mine, theirs] = [passkey(), passkey()];
  const forged = { ...theirs, id: mine.id };
  const [asOwner, asGuest] = [await proven(h, ownerGrant), await proven(h, to(h.ann.id))];
  const signed = theirs.assert({ challenge: await asGuest.challenge() });
  const credential = { ...signed, id: forged.id, rawId: forged.id };
  const [first] = await Promise.all([
    asOwner.assert(mine, { key: mine.publicKey }),
    asGuest.a.control({ t: 'assertion', credential, public_key: theirs.publicKey }),
  ]);
  const both = [first.t, asGuest.said.at(-1)!.t].sort();
  assert.equal(both, ['admitted', 'refused']);
  const kept = h.pins.passkey(mine.id)!;
  const stored = (await h.store.passkeys()).filter((p) => p.cred_id === mine.id);
  assert.equal([stored.length, stored[0]!.person], [1, kept.person]);
});

test('the end of a person ends their browsers, before they have paired as well, and no clock brings them back', async () => {
  const h = await household();
  const ben = await h.people.add({ name: 'Ben', role: 'adult', until: h.now() + 100 }, '');
  const [b, p] = [await proven(h, to(ben.id)), passkey()];
  await b.assert(p, { key: p.publicKey });
  const late = await proven(h, to(ben.id));
  assert.is(b.a.principal().role, 'adult');
  h.tick(100);
  assert.not(b.a.admitted());
  assert.throws(
    () => b.a.principal(),
    (e: { code: string }) => e.code === 'assertion_required',
  );
  assert.is(code(await late.assert(p)), 'pairing_failed');
  assert.equal(
    (await h.people.lapse()).map((x) => x.id),
    [ben.id],
  );
  h.tick(-1000);
  assert.not(b.a.admitted(), 'a clock that is set back does not');
  assert.is(b.shake().admitted, false);
  assert.match((b.said[1] as { message: string }).message, /time on this hub is over/);
  const after = await openPeople(h.store, () => place, h.now);
  assert.is(after.welcome(ben.id), undefined, 'nor a restart');
  await h.people.change(ben.id, { name: 'Ben', role: 'kid', until: h.now() + 50 });
  assert.is(b.shake().admitted, true, 'the owner does');
  assert.is(b.a.principal().role, 'kid');
});

test('who is removed while their assertion is looked at stays out, and nothing of theirs is kept', async () => {
  const h = await household();
  const b = await proven(h, to(h.ann.id));
  const p = passkey();
  const credential = p.assert({ challenge: await b.challenge() });
  const work = b.a.control({ t: 'assertion', credential, public_key: p.publicKey });
  await h.people.remove(h.ann.id, () => h.pins.forgetPerson(h.ann.id));
  await work;
  assert.is(b.said.at(-1)!.t, 'refused');
  assert.not(b.a.admitted());
  const { store } = h;
  assert.equal(
    [await store.people(), (await store.browsers()).length, (await store.passkeys()).length],
    [[], 1, 1],
  );
  assert.equal(await store.proven(), []);
});

test('a person who could not be removed is still there, and can be removed then', async () => {
  const h = await household();
  const [b, p] = [await proven(h, to(h.ann.id)), passkey()];
  await b.assert(p, { key: p.publicKey });
  const { dropPerson } = h.store;
  h.store.dropPerson = () => Promise.reject(new Error('the disk is full'));
  assert.is((await h.pins.forgetPerson(h.ann.id).catch((e) => e)).message, 'the disk is full');
  assert.ok(b.a.admitted());
  h.store.dropPerson = dropPerson;
  const theirs = await h.pins.forgetPerson(h.ann.id);
  assert.equal(
    theirs.map((x) => x.id),
    [b.id],
  );
  assert.not(b.a.admitted());
});

test('a program that knows nothing of people finds none of their browsers, and a new owner none of the people', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-grants-'));
  const file = join(dir, 'u.sqlite');
  const now = () => 1_000_000;
  let store = await openUplinkStore(file);
  await store.setIdentity(place);
  const people = await openPeople(store, () => place, now);
  const pins = await openPins(store, now);
  const ann = await people.add(guest, '');
  const key = { public_key: Uint8Array.of(1), counter: 0, label: 'x', pinned_at: 1, regressions: 0 };
  await pins.admit('theirs', 'Phone', { ...key, cred_id: 'a', person: ann.id });
  await pins.admit('mine', 'Phone', { ...key, cred_id: 'o' });
  await pins.prove('half', true, to(ann.id));
  await store.setWindow(newWindow('123-456', 600, true, now(), { grant: to(ann.id) }));
  assert.equal((await store.window())?.grant, to(ann.id));
  await store.close();

  const older = await openStore(file, ['', '']);
  for (const [table, rows] of [
    ['browser', 1],
    ['passkey', 1],
    ['proven', 0],
    ['pairing', 0],
  ] as const)
    assert.is((await older.all(`SELECT * FROM ${table}`)).length, rows, table);
  // It follows the hub to another owner, and forgets whom it knows.
  await older.run("UPDATE identity SET owner_id = 'own_2'");
  await older.close();

  store = await openUplinkStore(file);
  await store.sweepPeople(await store.identity());
  assert.equal([await store.people(), (await store.browsers()).map((b) => b.id)], [[], ['mine']]);
  assert.equal(
    (await store.passkeys()).map((p) => p.cred_id),
    ['o'],
  );
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

test('what is stored of a grant is read as it was, and what nobody knows is never the owner', async () => {
  for (const g of [ownerGrant, memberGrant, to('person_1')]) assert.equal(readGrant(writeGrant(g)), g);
  for (const text of [
    '',
    'null',
    '5',
    '{}',
    '{"kind":"Member"}',
    '{"kind":"person"}',
    '{"kind":"Owner"}',
    '["owner"]',
  ])
    assert.is(readGrant(text), undefined, text);
  const { store } = await hub();
  await store.setWindow(newWindow('123-456', 600, true, 1, { grant: { kind: 'later' } as never as Grant }));
  assert.is(await store.window(), undefined);
});

type Move =
  | { m: 'code'; browser: number; person: number; fresh: boolean }
  | { m: 'shake' | 'forget'; browser: number }
  | { m: 'assert'; browser: number; key: number }
  | { m: 'change'; person: number; role: 'admin' | 'kid' | 'guest'; ends: boolean }
  | { m: 'remove'; person: number }
  | { m: 'tick'; s: number }
  | { m: 'restart' };
const n = fc.nat(2);
const moves: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ m: fc.constant('code' as const), browser: n, person: n, fresh: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ m: fc.constantFrom('shake' as const, 'forget' as const), browser: n }),
  },
  { weight: 8, arbitrary: fc.record({ m: fc.constant('assert' as const), browser: n, key: n }) },
  {
    weight: 2,
    arbitrary: fc.record({
      m: fc.constant('change' as const),
      ...{
        person: n,
        role: fc.constantFrom('admin' as const, 'kid' as const, 'guest' as const),
        ends: fc.boolean(),
      },
    }),
  },
  { weight: 1, arbitrary: fc.record({ m: fc.constant('remove' as const), person: n }) },
  {
    weight: 1,
    arbitrary: fc.record({ m: fc.constant('tick' as const), s: fc.integer({ min: -300, max: 300 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ m: 'restart' as const }) },
);

test('no order of codes, assertions, changes and restarts gives a browser more than its person has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moves, { maxLength: 30 }), async (list) => {
      const h = await household();
      /** 0 is the owner, 1 and 2 are people. What each key and browser has ever proved is all it may be. */
      const people = [undefined, h.ann.id, (await h.people.add({ ...guest, name: 'Ben' }, '')).id];
      const keys = [h.ownerKey, passkey(), passkey()];
      const keyOf = new Map<string, string | undefined>([[h.ownerKey.id, undefined]]);
      const browsers = [h.browser(), h.browser(), h.browser()];
      /** Whom the newest code each browser knew was for. */
      const codeFor = new Map<string, Grant>();
      const grants = people.map((p) => (p === undefined ? ownerGrant : to(p)));
      for (const v of list) {
        const b = 'browser' in v ? browsers[v.browser]! : undefined;
        if (v.m === 'code') {
          const pinnedFor = h.pins.browser(b!.id);
          await h.pins.prove(b!.id, v.fresh, grants[v.person]!);
          if (!pinnedFor) codeFor.set(b!.id, grants[v.person]!);
          b!.shake('link');
        } else if (v.m === 'shake') b!.shake();
        else if (v.m === 'forget') await h.pins.forget(b!.id);
        else if (v.m === 'change' && v.person > 0)
          await h.people
            .change(people[v.person]!, { name: 'x', role: v.role, until: v.ends ? h.now() + 100 : 0 })
            .catch(() => {});
        else if (v.m === 'remove' && v.person > 0) {
          const id = people[v.person]!;
          await h.people.remove(id, () => h.pins.forgetPerson(id)).catch(() => {});
          for (const [id, whose] of keyOf) if (whose === people[v.person]) keyOf.delete(id);
        } else if (v.m === 'tick') {
          h.tick(v.s);
          await h.people.lapse();
        } else if (v.m === 'restart') await h.restart();
        else if (v.m === 'assert') {
          const key = keys[v.key]!;
          const said = await b!.assert(key, { key: key.publicKey });
          if (said.t === 'admitted') {
            const whose = h.pins.browser(b!.id)!.person;
            if (keyOf.has(key.id)) assert.is(keyOf.get(key.id), whose, 'a key proves one person only');
            keyOf.set(key.id, whose);
            assert.equal(codeFor.get(b!.id), grants[people.indexOf(whose)]);
          }
        }
        for (const x of browsers) {
          if (!x.a.admitted()) continue;
          const who = x.a.principal();
          const pin = h.pins.browser(x.id)!;
          const person = pin.person === undefined ? undefined : h.people.welcome(pin.person);
          assert.equal([who.owner_id, who.role], person ? [person.id, person.role] : ['own_1', 'owner']);
          if (pin.person !== undefined) assert.is(who.elevated_until, 0);
          assert.is(h.pins.passkey(pin.cred_id)!.person, pin.person);
        }
      }
    }),
    { numRuns: 150, ...(process.env['INGLE_SEED'] ? { seed: Number(process.env['INGLE_SEED']) } : {}) },
  );
});

test.run();
