// What root's records must do for subnets.
import * as assert from 'uvu/assert';
import type { Hub, Records } from '../../../root/records/records.ts';
import { enrol, ids, issue, LATER, passkey, preauth, T, type Test, take } from './kit.ts';

const AGAIN = 'a note';

export function memberTests(test: Test): void {
  const join = (records: Records, hub: Hub, code: string, more: object = {}) =>
    records.codes.join({
      ...{ hub_id: hub.hub_id, code, ticket: '', network: '', now: T, exp: LATER },
      ...more,
    });
  const admit = (records: Records, hub: Hub, via: Hub, more: object = {}) =>
    records.members.admit({
      ...{ hub_id: hub.hub_id, sign_pub: hub.sign_pub, via: via.hub_id },
      ...{ most: 2, now: T, ...more },
    });
  /** A hub that leads, and hubs that took a code of it. */
  async function asked(records: Records, ...names: string[]) {
    const via = await enrol(records, 'via');
    const hubs = [];
    for (const name of names) {
      const hub = await enrol(records, name);
      await issue(records, via, `code ${name}`, { scope: 'member' });
      assert.equal(await join(records, hub, `code ${name}`), via);
      hubs.push(hub);
    }
    return { via, hubs };
  }
  const placeOf = async (records: Records, hub: Hub) => {
    const { owner_id, subnet_id } = (await records.hubs.find(hub.hub_id))!;
    return { owner_id, subnet_id };
  };
  const alone = (name: string) => ({ owner_id: ids(name).owner_id, subnet_id: ids(name).subnet_id });

  test('a code for a hub is for no browser, and one for a browser for no hub', async ({ records }) => {
    const [via, hub] = [await enrol(records, 'via'), await enrol(records, 'b')];
    await records.sessions.begin({ sid: 's', cookie: 'c', now: T });
    await issue(records, via, '1', { scope: 'member' });
    assert.is(await take(records, 's', '1'), undefined);
    assert.ok(await join(records, hub, '1'));
    for (const scope of ['', 'new_passkey']) {
      await issue(records, via, '2', { scope });
      assert.is(await join(records, hub, '2'), undefined);
    }
  });

  test('a code for a hub is taken once, in time, by its ticket and network, and never by its own hub', async ({
    records,
  }) => {
    const [via, hub] = [await enrol(records, 'via'), await enrol(records, 'b')];
    const given = { scope: 'member', ticket: 't', network: 'n', exp: T + 10 };
    await issue(records, via, '1', given);
    for (const wrong of [{ ticket: 'x' }, { network: 'x' }, { now: T + 10 }, { code: '2' }])
      assert.is(await join(records, hub, '1', wrong), undefined, JSON.stringify(wrong));
    assert.is(await join(records, via, '1'), undefined, 'its own');
    assert.ok(await join(records, hub, '1', { ticket: 't', network: 'n', now: T + 9 }));
    assert.is(await join(records, await enrol(records, 'c'), '1'), undefined, 'twice');
    const taken = await records.codes.issue(
      { hub_id: via.hub_id, owner_id: via.owner_id, ...given, now: T + 20, exp: LATER },
      () => '3',
    );
    assert.is(taken.taken_at, T + 9, 'its hub is told');
  });

  test('a hub that took a code has nothing until the hub of the code lets it in', async ({ records }) => {
    const { via, hubs } = await asked(records, 'b');
    const [hub] = hubs as [Hub];
    await preauth(records, 'old', hub);
    assert.equal(await placeOf(records, hub), alone('b'));
    assert.equal(await records.members.find(hub.hub_id, T), { via, admitted: false });
    assert.is(await records.members.find(hub.hub_id, LATER), undefined, 'not for ever');
    assert.is(await admit(records, hub, hub), undefined, 'by itself');
    assert.is(await admit(records, hub, via, { sign_pub: 'another key' }), undefined);
    assert.is(await admit(records, hub, via, { now: LATER }), undefined, 'too late');
    assert.equal(await admit(records, hub, via), ['old'], 'what was begun alone is over');
    assert.equal(await placeOf(records, hub), alone('via'));
    assert.equal(await records.members.find(hub.hub_id, LATER), { via, admitted: true });
    assert.equal(await admit(records, hub, via), [], 'told twice');
    await records.sweep({ now: LATER, idle_since: 0, connected: [], online: [] });
    assert.ok(await records.members.find(hub.hub_id, LATER));
  });

  test('a member leads nobody, and whoever leads is no member', async ({ records }) => {
    const { via, hubs } = await asked(records, 'b', 'c');
    const [b, c] = hubs as [Hub, Hub];
    await issue(records, b, 'of b', { scope: 'member' });
    const refused = (e: { code?: string }) => e.code;
    assert.is(await join(records, via, 'of b').catch(refused), 'conflict', 'others lead to it');
    await admit(records, b, via);
    assert.is(await join(records, b, 'of b').catch(refused), 'conflict', 'it is a member');
    // C took a code of B, which has become a member meanwhile.
    await records.members.part({ hub_id: c.hub_id, via: null, note: '', now: T });
    await issue(records, b, 'of b', { scope: 'member' });
    await join(records, c, 'of b');
    assert.is(await admit(records, c, b), undefined);
  });

  test('a subnet is full at its bound', async ({ records }) => {
    const { via, hubs } = await asked(records, 'b', 'c', 'd');
    const [b, c, d] = hubs as [Hub, Hub, Hub];
    assert.ok(await admit(records, b, via));
    assert.ok(await admit(records, c, via));
    assert.is(await admit(records, d, via), undefined);
    assert.equal(await admit(records, c, via), [], 'who is in stays in');
  });

  test('a member that leaves, or is let go, is alone as it was', async ({ records }) => {
    const { via, hubs } = await asked(records, 'b', 'c');
    const [b, c] = hubs as [Hub, Hub];
    await admit(records, b, via);
    await admit(records, c, via);
    await preauth(records, 's', b);
    assert.is(
      await records.members.part({ hub_id: b.hub_id, via: c.hub_id, note: AGAIN, now: T }),
      undefined,
    );
    assert.equal(await records.members.part({ hub_id: b.hub_id, via: via.hub_id, note: AGAIN, now: T }), [
      's',
    ]);
    assert.equal(await placeOf(records, b), alone('b'));
    assert.is(await records.members.note(b.hub_id), AGAIN);
    assert.is(await records.members.find(b.hub_id, T), undefined);
    assert.is(await records.members.part({ hub_id: b.hub_id, via: via.hub_id, note: '', now: T }), undefined);
    assert.equal(await records.members.part({ hub_id: c.hub_id, via: null, note: AGAIN, now: T }), []);
    assert.equal(await placeOf(records, c), alone('c'));
    assert.is(await records.members.note(c.hub_id), undefined, 'it knows');
    await issue(records, via, 'anew', { scope: 'member' });
    await join(records, b, 'anew');
    assert.is(await records.members.note(b.hub_id), AGAIN, 'asking is not being in');
    await admit(records, b, via);
    assert.is(await records.members.note(b.hub_id), undefined);
  });

  test('a hub that only asked loses nothing when it is let go, and is told nothing', async ({ records }) => {
    const { via, hubs } = await asked(records, 'b', 'c');
    const [b, c] = hubs as [Hub, Hub];
    await preauth(records, 's', b);
    assert.equal(await records.members.part({ hub_id: b.hub_id, via: via.hub_id, note: AGAIN, now: T }), []);
    assert.equal(await records.members.part({ hub_id: c.hub_id, via: null, note: AGAIN, now: T }), []);
    assert.ok(await records.sessions.find('s', T));
    assert.is(await records.members.note(b.hub_id), undefined);
    assert.is(await admit(records, b, via), undefined, 'it asks no more');
  });

  test('a passkey goes to the hub that leads, and knows by whose code it came', async ({ records }) => {
    const { via, hubs } = await asked(records, 'b');
    const [b] = hubs as [Hub];
    await admit(records, b, via);
    assert.is((await records.hubs.ofOwner(via.owner_id, null))!.hub_id, via.hub_id);
    assert.is((await records.hubs.ofOwner(via.owner_id, b.hub_id))!.hub_id, b.hub_id);
    await preauth(records, 's', b);
    const given = passkey('p', (await records.hubs.find(b.hub_id))!);
    await records.passkeys.beginRegistration({ sid: 's', challenge: 'c', exp: LATER }, T);
    await records.passkeys.register({ sid: 's', passkey: given, now: T }, () => {});
    assert.is((await records.passkeys.find('p'))!.hub_id, b.hub_id);
  });
}
