// What an owner does with hubs, sessions and names, and the trail of it, over any database.
import * as assert from 'uvu/assert';
import type { By, Hub, Records } from '../../../root/records/records.ts';
import { AUDIT, SEEN_EVERY, UNUSED } from '../../../root/records/rules.ts';
import {
  enrol,
  handOver,
  ids,
  issue,
  LATER,
  login,
  passkey,
  preauth,
  refusal,
  register,
  signedIn,
  T,
  type Test,
  take,
} from './kit.ts';

const by: By = { browser_key_id: 'key', by_hub: null, by_command: '', place: '192.0.2.0/24' };

const trail = (records: Records, owner_id: string, most = AUDIT.entries) =>
  records.audit.read({ owner_id, before: Number.MAX_SAFE_INTEGER, most });
const deeds = async (records: Records, owner_id: string) =>
  (await trail(records, owner_id)).map((e) => e.what).reverse();
const remove = (records: Records, hub: Hub) =>
  records.estate.remove({ hub_id: hub.hub_id, owner_id: hub.owner_id, by, now: T });

/** Makes a hub the member of another one's subnet. */
async function nest(records: Records, hub: Hub, via: Hub): Promise<void> {
  await issue(records, via, 'for hubs', { scope: 'member' });
  const { hub_id, sign_pub } = hub;
  await records.codes.join({ hub_id, code: 'for hubs', ticket: '', network: '', now: T, exp: LATER });
  await records.members.admit({ hub_id, sign_pub, via: via.hub_id, most: 15, now: T });
}

export function estateTests(test: Test): void {
  trailTests(test);
  hubsTests(test);
  handoverTests(test);
}

function trailTests(test: Test): void {
  test('what was done is in the owner’s trail, by whom and from where, and in nobody else’s', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    const { hub_id, owner_id } = hub;
    const other = await enrol(records, 'other');
    await signedIn(records, 's', hub);
    await login(records, 's', hub, 'cred of s', { sign_count: 8, now: T + 1 });
    await records.passkeys.rename({ cred_id: 'cred of s', owner_id, name: 'Phone', by, now: T + 2 });
    await records.estate.rename({ hub_id, owner_id, name: 'Attic', by, now: T + 3 });
    await records.hubs.rotate({ hub_id, from: hub.sign_pub, to: 'fresh', e2e_pub: 'e', now: T + 4 });
    await records.sessions.end('s', T + 5);
    const self = { browser_key_id: 'key of cred of s', by_hub: null, by_command: '', place: 'here' };
    const stranger = { ...self, browser_key_id: null };
    const hubItself = { browser_key_id: null, by_hub: hub_id, by_command: '', place: '' };
    const none = { about: '', name: '' };
    assert.equal(
      (await trail(records, owner_id)).reverse().map((e) => ({ ...e })),
      [
        { n: 1, at: T, what: 'code_taken', ...stranger, about: hub_id, name: '' },
        { n: 2, at: T, what: 'passkey_added', ...stranger, about: 'key of cred of s', name: '' },
        { n: 3, at: T, what: 'signed_in', ...self, ...none },
        { n: 4, at: T + 1, what: 'counter_went_back', ...self, ...none },
        { n: 5, at: T + 2, what: 'passkey_renamed', ...by, about: 'key of cred of s', name: 'Phone' },
        { n: 6, at: T + 3, what: 'hub_renamed', ...by, about: hub_id, name: 'Attic' },
        { n: 7, at: T + 4, what: 'hub_keys_changed', ...hubItself, about: hub_id, name: 'Attic' },
        { n: 8, at: T + 5, what: 'signed_out', ...self, ...none },
      ],
    );
    assert.equal(await trail(records, other.owner_id), []);
  });

  test('what came to nothing leaves no trail', async ({ records }) => {
    const hub = await enrol(records, 'h');
    const other = await enrol(records, 'other');
    await signedIn(records, 's', hub);
    await preauth(records, 'code', hub);
    const before = await deeds(records, hub.owner_id);
    const wrong = { owner_id: other.owner_id, name: 'x', by, now: T };
    assert.not(await records.passkeys.rename({ cred_id: 'cred of s', ...wrong }), 'another owner’s');
    assert.not(await records.estate.rename({ hub_id: hub.hub_id, ...wrong }));
    assert.is(await records.estate.remove({ hub_id: hub.hub_id, ...wrong }), undefined);
    assert.not(await records.estate.offer({ hub_id: hub.hub_id, exp: LATER, ...wrong }));
    const away = { hub_id: hub.hub_id, owner_id: hub.owner_id, exp: null, by, now: T };
    assert.ok(await records.estate.offer(away), 'no offer was there to be taken back');
    await records.sessions.begin({ sid: 'n', cookie: 'c', now: T });
    await take(records, 'n', 'wrong');
    for (const sid of ['n', 'code']) await records.sessions.end(sid, T);
    await records.sessions.end('gone', T, by);
    assert.not(await register(records, 's', passkey('cred of s', hub)), 'there already');
    assert.equal(await deeds(records, hub.owner_id), before);
    assert.equal(await deeds(records, other.owner_id), []);
  });

  test('a trail is bounded in number and age, and is read page by page', async ({ records }) => {
    const { hub_id, owner_id } = await enrol(records, 'h');
    const rename = (name: string, now: number) => records.estate.rename({ hub_id, owner_id, name, by, now });
    const few = 25;
    for (let i = 1; i <= few; i++) await rename(`${i}`, T + i);
    const first = await trail(records, owner_id, 10);
    assert.equal(
      first.map((e) => e.name),
      Array.from({ length: 10 }, (_, i) => `${few - i}`),
    );
    const older = await records.audit.read({ owner_id, before: first.at(-1)!.n, most: 100 });
    assert.equal(
      older.map((e) => e.n),
      Array.from({ length: few - 10 }, (_, i) => few - 10 - i),
    );
    const now = T + 5 + AUDIT.age;
    await records.sweep({ now, idle_since: 0, connected: [], online: [hub_id] });
    assert.is((await trail(records, owner_id)).at(-1)!.name, '6');
    for (let i = 1; i <= AUDIT.entries; i++) await rename(`more ${i}`, now);
    const all = await trail(records, owner_id, AUDIT.entries + 1);
    assert.equal([all.length, all.at(-1)!.name], [AUDIT.entries, 'more 1']);
  });

  test('an owner sees who is signed in, and ends one of them', async ({ records }) => {
    const { sessions } = records;
    const hub = await enrol(records, 'h');
    await signedIn(records, 'a', hub);
    await signedIn(records, 'b', hub);
    await signedIn(records, 'x', await enrol(records, 'other'));
    await preauth(records, 'code', hub);
    await sessions.seen('b', T + 60);
    const there = async (now = T) =>
      (await sessions.ofOwner(hub.owner_id, now)).map((s) => [s.sid, s.place, s.last_seen]);
    assert.equal(await there(), [
      ['b', 'here', T + 60],
      ['a', 'here', T],
    ]);
    await sessions.end('a', T + 1, by);
    assert.equal(await there(), [['b', 'here', T + 60]]);
    assert.equal(await there(LATER), [], 'over');
    const [last] = await trail(records, hub.owner_id);
    assert.equal(
      [last!.what, last!.about, last!.browser_key_id],
      ['session_ended', 'key of cred of a', 'key'],
    );
  });
}

function hubsTests(test: Test): void {
  test('a hub’s owner sees when it was there, when its certificate ends and who leads it', async ({
    records,
  }) => {
    const [lead, led] = [await enrol(records, 'lead'), await enrol(records, 'led', T + 1)];
    await nest(records, led, lead);
    await records.hubs.certified(led.hub_id, LATER);
    await records.hubs.seen(led.hub_id, T);
    await records.hubs.seen(led.hub_id, T + SEEN_EVERY - 1);
    const seen = async () =>
      (await records.estate.hubs(lead.owner_id, T)).map((h) => [h.hub_id, h.seen, h.cert_exp, h.via]);
    assert.equal(await seen(), [
      ['hub_lead', 0, 0, null],
      ['hub_led', T, LATER, 'hub_lead'],
    ]);
    const online = ['hub_lead', ...Array.from({ length: 1200 }, (_, i) => `gone ${i}`), 'hub_led'];
    await records.sweep({ now: T + SEEN_EVERY, idle_since: 0, connected: [], online });
    assert.equal(
      (await seen()).map((h) => h[1]),
      [T + SEEN_EVERY, T + SEEN_EVERY],
    );
    assert.equal(await records.estate.hubs('own_led', T), []);
    assert.equal(await deeds(records, lead.owner_id), ['member_joined']);
    await records.members.part({ hub_id: led.hub_id, via: null, note: '', now: T });
    assert.equal(await deeds(records, lead.owner_id), ['member_joined', 'member_left']);
    assert.equal(await deeds(records, 'own_led'), []);
  });

  test('the last hub that is removed takes its owner’s account along, and comes back empty', async ({
    records,
  }) => {
    const { hubs, passkeys, sessions, audit } = records;
    const hub = await enrol(records, 'h');
    await signedIn(records, 'a', hub);
    await preauth(records, 'code', hub);
    await issue(records, hub, 'open');
    const other = await enrol(records, 'other');
    await signedIn(records, 'x', other);
    assert.equal((await remove(records, hub))!.sort(), ['a', 'code']);
    assert.is(await remove(records, hub), undefined, 'a second time');
    assert.equal([await hubs.find(hub.hub_id), await passkeys.ofOwner(hub.owner_id)], [undefined, []]);
    assert.equal(await audit.read({ owner_id: hub.owner_id, before: LATER, most: 9 }), []);
    assert.equal([await sessions.isOver('a'), await sessions.isOver('x')], [true, false]);
    await sessions.begin({ sid: 'n', cookie: 'c', now: T });
    assert.is(await take(records, 'n', 'open'), undefined, 'its code went with it');
    assert.equal({ ...(await enrol(records, 'h')) }, { ...hub }, 'with nobody let in');
    assert.is((await hubs.ofOwner(other.owner_id, null))!.hub_id, other.hub_id);
  });

  test('a hub that is removed from an owner with another one has no way back into the account', async ({
    records,
  }) => {
    const [one, two] = [await enrol(records, '1'), await enrol(records, '2')];
    await signedIn(records, 'a', one);
    await handOver(records, two, one);
    assert.equal(await remove(records, one), ['a']);
    assert.is((await records.passkeys.ofOwner(one.owner_id)).length, 1, 'the account stays');
    assert.equal((await deeds(records, one.owner_id)).slice(-2), ['hub_received', 'hub_removed']);
    const back = await enrol(records, '1');
    assert.equal({ ...back }, { ...one, ...ids('random_1') });
  });

  test('a hub of a subnet is neither removed nor offered, and an offer ends with a subnet', async ({
    records,
  }) => {
    const [lead, led] = [await enrol(records, 'lead'), await enrol(records, 'led')];
    const offer = (hub: Hub, owner_id: string) =>
      records.estate.offer({ hub_id: hub.hub_id, owner_id, exp: LATER, by, now: T });
    const offered = async () =>
      (await records.estate.hubs(lead.owner_id, T)).find((h) => h.hub_id === lead.hub_id)!.offered_until;
    await offer(lead, lead.owner_id);
    assert.is(await offered(), LATER);
    await nest(records, led, lead);
    assert.is(await offered(), null);
    for (const hub of [lead, { ...led, owner_id: lead.owner_id }]) {
      assert.is(await refusal(remove(records, hub)), 'conflict');
      assert.is(await refusal(offer(hub, lead.owner_id)), 'conflict');
    }
    await records.members.part({ hub_id: led.hub_id, via: null, note: '', now: T });
    assert.equal(await remove(records, lead), []);
    assert.is((await records.hubs.find(led.hub_id))!.owner_id, led.owner_id);
  });

  test('a hub whose code was taken and came to nothing is forgotten half a year after its certificate', async ({
    records,
  }) => {
    const names = ['used', 'taken', 'online', 'lead', 'led', 'unknown'];
    const made: Record<string, Hub> = {};
    for (const name of names) {
      made[name] = await enrol(records, name);
      if (name !== 'unknown') await records.hubs.certified(`hub_${name}`, T + 50);
    }
    await signedIn(records, 'a', made['used']!);
    for (const name of ['taken', 'unknown', 'online']) await preauth(records, name, made[name]!);
    await nest(records, made['led']!, made['lead']!);
    const left = async (now: number) => {
      await records.sweep({ now, idle_since: 0, connected: [], online: ['hub_online'] });
      const found = [];
      for (const name of names) if (await records.hubs.find(`hub_${name}`)) found.push(name);
      return found.join();
    };
    assert.is(await left(T + 50 + UNUSED.expired - 1), names.join());
    assert.is(await left(T + 50 + UNUSED.expired), 'used,online,lead,led,unknown');
    assert.equal(await trail(records, 'own_taken'), []);
  });
}

function handoverTests(test: Test): void {
  test('a hub changes hands when its owner offers it and the other has a code of it', async ({ records }) => {
    const { estate, sessions } = records;
    const [mine, theirs] = [await enrol(records, 'mine'), await enrol(records, 'theirs')];
    await signedIn(records, 'me', mine);
    await signedIn(records, 'them', theirs);
    const { hub_id, owner_id } = mine;
    const offer = (exp: number | null) => estate.offer({ hub_id, owner_id, exp, by, now: T });
    const accept = (code: string, more: object = {}) =>
      estate.take({
        ...{ code, ticket: '', network: '', owner_id: theirs.owner_id, home: theirs.hub_id },
        ...{ subnet_id: 'net_new', by, now: T, ...more },
      });
    await issue(records, mine, 'c', { ticket: 'T', network: 'N' });
    assert.is(await accept('c'), undefined, 'nobody offered it');
    await offer(T + 50);
    for (const [why, more] of [
      ['a wrong code', { code: 'x' }],
      ['too late for the code', { now: LATER }],
      ['too late for the offer', { now: T + 50 }],
      ['a wrong ticket', { ticket: 'U' }],
      ['another network', { network: 'M' }],
      ['its own owner', { owner_id }],
      ['an owner who is gone', { owner_id: 'own_gone' }],
    ] as const)
      assert.is(await accept('c', more), undefined, why);
    await offer(null);
    assert.is(await accept('c'), undefined, 'taken back');
    await offer(T + 50);
    for (const scope of ['guest', 'member']) {
      await issue(records, mine, `for ${scope}`, { scope });
      assert.is(await accept(`for ${scope}`), undefined, scope);
    }
    await issue(records, mine, 'd', { ticket: 'T', network: 'N' });
    const both = await Promise.all([
      accept('d', { ticket: 'T' }),
      accept('d', { network: 'N', subnet_id: 'net_2' }),
    ]);
    assert.equal(both.filter(Boolean), [{ hub_id, ended: ['me'] }]);
    const hub = (await records.hubs.find(hub_id))!;
    assert.equal([hub.owner_id, hub.sign_pub], [theirs.owner_id, mine.sign_pub]);
    assert.not([mine.subnet_id, theirs.subnet_id].includes(hub.subnet_id), 'alone in a subnet of its own');
    assert.equal(await records.passkeys.ofOwner(owner_id), [], 'the last hub of its owner');
    assert.ok(await sessions.isOver('me'));
    assert.is((await sessions.find('them', T))!.hub_id, theirs.hub_id);
    assert.is((await deeds(records, theirs.owner_id)).at(-1), 'hub_received');
    assert.equal(
      (await estate.hubs(theirs.owner_id, T)).map((h) => [h.hub_id, h.offered_until]),
      [
        [hub_id, null],
        [theirs.hub_id, null],
      ],
    );
    assert.is((await issue(records, hub, 'next')).taken_at, T, 'the hub learns that its code was taken');
  });

  test('who gave a hub away reads it in the trail, and not which browser has it now', async ({ records }) => {
    const [one, two, heir] = [
      await enrol(records, '1'),
      await enrol(records, '2'),
      await enrol(records, '3'),
    ];
    await signedIn(records, 'a', one);
    await handOver(records, two, one);
    await handOver(records, { ...two, owner_id: one.owner_id }, heir, by);
    const [last] = await trail(records, one.owner_id);
    assert.equal([last!.what, last!.browser_key_id, last!.place], ['hub_given', null, by.place]);
  });

  test('a passkey of no known code stays its own hub’s business when another hub comes', async ({
    records,
  }) => {
    const [one, two] = [await enrol(records, '1'), await enrol(records, '2')];
    await preauth(records, 's', one);
    await register(records, 's', passkey('old', one, { hub_id: '' }));
    await handOver(records, two, one);
    assert.is((await records.passkeys.find('old'))!.hub_id, one.hub_id);
  });
}
