// Hubs and their codes, over any database.
import * as assert from 'uvu/assert';
import { CODE_TRIES_PER_SID, DEVICE_CODE_TTL } from '../../../firmware/protocol/limits.ts';
import { UNUSED } from '../../../root/records/rules.ts';
import { enrol, ids, issue, LATER, preauth, refusal, signedIn, T, type Test, take } from './kit.ts';

export function hubTests(test: Test): void {
  test('a key is one hub, whenever it enrols; a name that another has is not given again', async ({
    records,
  }) => {
    const { hubs } = records;
    const hub = await enrol(records, 'a');
    assert.equal({ ...hub }, { ...ids('a'), sign_pub: 'sign_a', e2e_pub: 'e2e_a' });
    const again = { sign_pub: 'sign_a', e2e_pub: 'new', derived: ids('x'), random: ids('y'), now: T + 1 };
    const known = { ...hub, e2e_pub: 'new' };
    assert.equal({ ...(await hubs.enrol(again)) }, known);
    assert.equal({ ...(await hubs.find('hub_a')) }, known);
    assert.equal({ ...(await hubs.findByKey('sign_a')) }, known);
    assert.equal([await hubs.find('hub_x'), await hubs.findByKey('x')], [undefined, undefined]);
    const other = { sign_pub: 'sign_b', e2e_pub: 'e', derived: ids('a'), random: ids('r'), now: T };
    assert.equal({ ...(await hubs.enrol(other)) }, { ...ids('r'), sign_pub: 'sign_b', e2e_pub: 'e' });
  });

  test('of an owner’s hubs the preferred one is given, or the newest', async ({ records }) => {
    const { hubs } = records;
    const own = (name: string, now: number) =>
      hubs.enrol({
        sign_pub: name,
        e2e_pub: 'e',
        derived: { ...ids(name), owner_id: name === 'c' ? 'other' : `o-${name}` },
        random: ids('r'),
        now,
      });
    await own('a', T);
    await own('c', T);
    assert.is((await hubs.ofOwner('o-a', null))!.hub_id, 'hub_a');
    assert.is((await hubs.ofOwner('o-a', 'hub_a'))!.hub_id, 'hub_a');
    assert.is((await hubs.ofOwner('o-a', 'hub_c'))!.hub_id, 'hub_a', 'another owner’s is none');
    assert.is(await hubs.ofOwner('nobody', null), undefined);
  });

  test('keys rotate from the present one only, to one that no hub has', async ({ records }) => {
    const { hubs } = records;
    const { hub_id } = await enrol(records, 'a');
    await enrol(records, 'b');
    const rotate = (from: string, to: string) =>
      hubs.rotate({ hub_id, from, to, e2e_pub: `e of ${to}`, now: T });
    assert.not(await rotate('sign_b', 'fresh'), 'not the present key');
    assert.not(await rotate('sign_a', 'sign_b'), 'another hub’s key');
    assert.equal({ ...(await hubs.find(hub_id)) }, { ...ids('a'), sign_pub: 'sign_a', e2e_pub: 'e2e_a' });
    assert.ok(await rotate('sign_a', 'sign_a'), 'a new e2e key only');
    assert.is((await hubs.find(hub_id))!.e2e_pub, 'e of sign_a');
    assert.ok(await rotate('sign_a', 'fresh'));
    assert.not(await rotate('sign_a', 'fresh2'));
    assert.equal(
      [(await hubs.findByKey('fresh'))?.hub_id, await hubs.findByKey('sign_a')],
      [hub_id, undefined],
    );
    assert.is((await hubs.find('hub_b'))!.e2e_pub, 'e2e_b');
  });

  test('a proof is spent once, also when two come at once', async ({ records }) => {
    const both = await Promise.all([1, 2].map(() => records.hubs.spendProof('p', LATER)));
    assert.equal(both.sort(), [false, true]);
    assert.ok(await records.hubs.spendProof('q', LATER));
  });

  test('a hub nobody used is forgotten after a day, or a month after it was last there, and comes back', async ({
    records,
  }) => {
    const { hubs } = records;
    const { never, offline } = UNUSED;
    assert.equal([never, offline], [86_400, 30 * 86_400]);
    const seenAt = T + 1000;
    const names = ['never', 'seen', 'online', 'taken', 'rotated', 'again', 'rekeyed'];
    for (const name of names) await enrol(records, name);
    await hubs.seen('hub_seen', seenAt);
    await records.sessions.begin({ sid: 's', cookie: 'c', now: T });
    await issue(records, (await hubs.find('hub_taken'))!, '1');
    await take(records, 's', '1');
    await hubs.rotate({ hub_id: 'hub_rotated', from: 'sign_rotated', to: 'k', e2e_pub: 'e', now: T });
    await hubs.rotate({ hub_id: 'hub_again', from: 'sign_again', to: 'sign_again', e2e_pub: 'e', now: T });
    // A key that got a random name would get another one the next time.
    await hubs.enrol({ sign_pub: 'z', e2e_pub: 'e', derived: ids('never'), random: ids('random'), now: T });
    await issue(records, (await hubs.find('hub_never'))!, 'open', { exp: T + 10 * never });
    const left = async (now: number) => {
      await records.sweep({ now, idle_since: 0, connected: [], online: ['hub_online'] });
      const found = [];
      for (const name of [...names, 'random']) if (await hubs.find(`hub_${name}`)) found.push(name);
      return found.join();
    };
    assert.is(await left(T + never - 1), [...names, 'random'].join());
    assert.is(await left(T + never), 'seen,online,taken,rotated,random');
    assert.is(await left(seenAt + offline - 1), 'seen,online,taken,rotated,random');
    assert.is(await left(seenAt + offline), 'online,taken,rotated,random');
    await hubs.seen('hub_taken', T);
    assert.equal(await enrol(records, 'never', LATER), {
      ...ids('never'),
      sign_pub: 'sign_never',
      e2e_pub: 'e2e_never',
    });
    await records.sessions.begin({ sid: 't', cookie: 'c', now: LATER });
    assert.is(await take(records, 't', 'open', { now: LATER }), undefined, 'its code went with it');
  });

  test('a hub has one open code, and the next draw is taken where a code is not free', async ({
    records,
  }) => {
    const [one, two] = [await enrol(records, '1'), await enrol(records, '2')];
    for (const sid of ['a', 'b', 'c']) await records.sessions.begin({ sid, cookie: 'c', now: T });
    await issue(records, one, 'x');
    const draws = ['x', 'x', 'y', 'z'];
    const code = {
      hub_id: two.hub_id,
      owner_id: two.owner_id,
      scope: '',
      network: '',
      ticket: '',
      exp: LATER,
      now: T,
    };
    await records.codes.issue(code, () => draws.shift()!);
    assert.equal(draws, ['z']);
    assert.is((await take(records, 'a', 'y'))!.hub.hub_id, two.hub_id);
    await issue(records, one, 'w');
    assert.is(await take(records, 'b', 'x'), undefined, 'void');
    assert.is((await take(records, 'b', 'w'))!.hub.hub_id, one.hub_id);
    // A code that is over is free again.
    await issue(records, one, 'v', { exp: T + 5 });
    await issue(records, two, 'v', { now: T + 5 });
    assert.is((await take(records, 'c', 'v', { now: T + 5 }))!.hub.hub_id, two.hub_id);
  });

  test('that a code was taken is told once; when no code is free nothing has changed', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    assert.equal(await issue(records, hub, '1'), { taken_at: null });
    await records.sessions.begin({ sid: 'a', cookie: 'c', now: T });
    await take(records, 'a', '1', { now: T + 9 });
    await issue(records, await enrol(records, 'other'), '2');
    const { hub_id, owner_id } = hub;
    const code = { hub_id, owner_id, scope: '', network: '', ticket: '', exp: LATER, now: T };
    const gaveUp = await refusal(
      records.codes.issue(code, () => {
        throw new Error('none is free');
      }),
    );
    assert.is(gaveUp, 'none is free');
    assert.equal(await issue(records, hub, '3'), { taken_at: T + 9 });
    await refusal(
      records.codes.issue(code, () => {
        throw new Error('none is free');
      }),
    );
    await records.sessions.begin({ sid: 'b', cookie: 'c', now: T });
    assert.ok(await take(records, 'b', '3'), 'the code before is open still');
    assert.equal(await issue(records, hub, '4'), { taken_at: T });
    assert.equal(await issue(records, hub, '5'), { taken_at: null });
  });

  test('a code makes a session its hub’s, once, also when two take it at once', async ({ records }) => {
    const hub = await enrol(records, 'h');
    for (const sid of ['a', 'b']) await records.sessions.begin({ sid, cookie: 'c', now: T });
    await issue(records, hub, '1', { scope: 'new_passkey' });
    const both = await Promise.all(['a', 'b'].map((sid) => take(records, sid, '1', { now: T + 3 })));
    const [winner, loser] = both[0] ? ['a', 'b'] : ['b', 'a'];
    assert.equal(
      both.filter(Boolean).map((t) => [{ ...t!.hub }, t!.scope]),
      [[{ ...hub }, 'new_passkey']],
    );
    const s = (await records.sessions.find(winner!, T))!;
    assert.equal(
      { ...s },
      {
        ...{ sid: winner, cookie: 'c', stage: 'PREAUTH', browser_key_id: null, scope: 'new_passkey' },
        ...{ owner_id: hub.owner_id, subnet_id: hub.subnet_id, hub_id: hub.hub_id, jti: null },
        ...{
          tries: 0,
          tries_until: s.tries_until,
          last_seen: T + 3,
          exp: LATER,
          place: 'here',
          name: '',
          command: '',
        },
      },
    );
    const other = (await records.sessions.find(loser!, T))!;
    assert.equal([other.stage, other.owner_id, other.tries], ['NEW', null, 1]);
  });

  test('only an open code of the ticket or network asked for is taken, and a wrong ticket is no try', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    const exp = T + 100;
    const cases: [more: Record<string, unknown>, taken: boolean, tries: number][] = [
      [{ code: 'x' }, false, 1],
      [{ now: exp }, false, 1],
      [{ ticket: 'U' }, false, 0],
      [{ ticket: 'T', code: 'x' }, false, 0],
      [{ network: 'M' }, false, 1],
      [{ ticket: 'T', network: 'M' }, false, 0],
      [{}, true, 0],
      [{ now: exp - 1 }, true, 0],
      [{ ticket: 'T' }, true, 0],
      [{ network: 'N' }, true, 0],
    ];
    for (const [i, [more, taken, tries]] of cases.entries()) {
      const sid = `s${i}`;
      await records.sessions.begin({ sid, cookie: 'c', now: T });
      await issue(records, hub, `code ${i}`, { ticket: 'T', network: 'N', exp });
      const answer = await take(records, sid, `code ${i}`, more);
      const s = (await records.sessions.find(sid, T))!;
      assert.equal([answer !== undefined, s.tries], [taken, tries], JSON.stringify(more));
    }
  });

  test('five wrong codes shut a session out until ten minutes after the first; a right one clears the count', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    const first = T + 10;
    const until = first + DEVICE_CODE_TTL;
    const tries = async (sid: string) => {
      const s = (await records.sessions.find(sid, T))!;
      return [s.tries, s.tries_until];
    };
    for (const sid of ['a', 'b']) await records.sessions.begin({ sid, cookie: 'c', now: T });
    for (let n = 1; n <= CODE_TRIES_PER_SID; n++) {
      assert.is(await take(records, 'a', 'wrong', { now: first + n - 1 }), undefined);
      assert.equal(await tries('a'), [n, until]);
    }
    await issue(records, hub, '1');
    const shut = await records.codes
      .take({ sid: 'a', code: '1', ticket: '', network: '', place: '', now: until - 1, exp: LATER })
      .then(
        () => undefined,
        (e) => e,
      );
    assert.equal([shut.code, shut.details.retry_after], ['rate_limited', 1]);
    assert.equal(await tries('a'), [CODE_TRIES_PER_SID, until], 'a refused one does not count');
    await take(records, 'a', 'wrong', { now: until });
    assert.equal(await tries('a'), [1, until + DEVICE_CODE_TTL], 'and it begins anew');
    for (let n = 1; n < CODE_TRIES_PER_SID; n++) await take(records, 'b', 'wrong');
    assert.ok(await take(records, 'b', '1'));
    assert.is((await tries('b'))[0], 0);
  });

  test('a session that is over or signed in takes no code, and the code stays open', async ({ records }) => {
    const hub = await enrol(records, 'h');
    await signedIn(records, 'in', hub);
    await preauth(records, 'code', hub);
    await issue(records, hub, '1');
    assert.is(await refusal(take(records, 'in', '1')), 'conflict');
    assert.is(await refusal(take(records, 'gone', '1')), 'unauthenticated');
    assert.is(
      await refusal(take(records, 'code', '1', { now: LATER - 1 })),
      undefined,
      'a second code is fine',
    );
  });
}
