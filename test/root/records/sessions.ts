// Sessions, secrets, routes and the sweep, over any database.
import * as assert from 'uvu/assert';
import { NEW_TTL } from '../../../root/records/rules.ts';
import {
  enrol,
  handOver,
  issue,
  LATER,
  login,
  preauth,
  refusal,
  signedIn,
  T,
  type Test,
  take,
} from './kit.ts';

export function sessionTests(test: Test): void {
  test('a secret is made once, and each name has its own', async ({ records }) => {
    assert.is(await records.secret('a', 'first'), 'first');
    assert.is(await records.secret('a', 'second'), 'first');
    assert.is(await records.secret('b', 'third'), 'third');
    await records.ready();
  });

  test('secrets of a name follow one another, or stand alone', async ({ records }) => {
    assert.equal(await records.secrets('key'), []);
    await records.secret('key', 'first');
    await records.secret('key_of_pages', 'another');
    await records.secret('keyx', 'another');
    await records.renewSecret('key', 'second', T, false);
    // The clock went back, or two came in one second.
    await records.renewSecret('key', 'third', T, false);
    await records.renewSecret('key', 'fourth', T - 100, false);
    assert.equal(await records.secrets('key'), [
      { value: 'first', since: 0 },
      { value: 'second', since: T },
      { value: 'third', since: T + 1 },
      { value: 'fourth', since: T + 2 },
    ]);
    assert.is(await records.secret('key', 'fifth'), 'first');
    await records.renewSecret('key', 'sixth', T, true);
    assert.equal(await records.secrets('key'), [{ value: 'sixth', since: 0 }]);
    assert.equal(await records.secrets('key_of_pages'), [{ value: 'another', since: 0 }]);
    assert.is(await records.secret('keyx', ''), 'another');
  });

  test('a new sid is a record once, with nobody behind it, for NEW_TTL', async ({ records }) => {
    const { sessions } = records;
    assert.is(await sessions.find('a', T), undefined);
    const begun = await sessions.begin({ sid: 'a', cookie: 'mine', now: T });
    assert.equal(
      { ...begun },
      {
        ...{ sid: 'a', cookie: 'mine', stage: 'NEW', owner_id: null, subnet_id: null, hub_id: null },
        ...{ browser_key_id: null, scope: '', jti: null, tries: 0, tries_until: 0 },
        ...{ last_seen: T, exp: T + NEW_TTL, place: '', name: '', command: '' },
      },
    );
    assert.is((await sessions.begin({ sid: 'a', cookie: 'thine', now: T + 5 }))?.cookie, 'mine');
    assert.is((await sessions.find('a', T + NEW_TTL - 1))?.exp, T + NEW_TTL);
    assert.is(await sessions.find('a', T + NEW_TTL), undefined);
    assert.is(
      await sessions.begin({ sid: 'a', cookie: 'mine', now: T + NEW_TTL }),
      undefined,
      'over is over',
    );
  });

  test('a session goes with all that hangs on it, its sid begins no other, and no other session goes', async ({
    records,
  }) => {
    const { sessions, passkeys, routes } = records;
    const hub = await enrol(records, 'h');
    for (const sid of ['a', 'b']) {
      await signedIn(records, sid, hub);
      await passkeys.beginAssertion('login', { sid, challenge: `of ${sid}`, exp: LATER });
      await routes.offer({ sid, hub_id: hub.hub_id, pubkey: `pub of ${sid}`, now: T, exp: LATER });
      await routes.bind(sid, 4, T);
    }
    await sessions.end('a', T);
    assert.is(await sessions.find('a', T), undefined);
    assert.equal([await sessions.isOver('a'), await sessions.isOver('b')], [true, false]);
    assert.is(await sessions.begin({ sid: 'a', cookie: 'c', now: T }), undefined);
    assert.is(await passkeys.takeChallenge('a', 'login', T), undefined);
    assert.is(await passkeys.takeChallenge('b', 'login', T), 'of b');
    assert.equal(
      (await routes.restore(T)).map((r) => [r.sid, r.pubkey]),
      [['b', 'pub of b']],
    );
    // Once the sid is forgotten, too, one of the same name finds nothing of the old.
    const now = T + NEW_TTL;
    const sweep = { now, idle_since: 0, connected: [], online: [] };
    await records.sweep({ ...sweep, now: now - 1 });
    assert.ok(await sessions.isOver('a'));
    await records.sweep(sweep);
    assert.not(await sessions.isOver('a'));
    await sessions.begin({ sid: 'a', cookie: 'c', now });
    await login(records, 'a', hub, 'cred of a', { owner_before: null });
    assert.ok(await routes.offer({ sid: 'a', hub_id: hub.hub_id, pubkey: undefined, now, exp: LATER }));
    const again = (await routes.restore(now)).find((r) => r.sid === 'a')!;
    assert.equal([again.pubkey, again.generation], [null, 0]);
    await sessions.end('nobody', now);
    assert.not(await sessions.isOver('nobody'));
  });

  test('a hub ends the sessions of its codes that no passkey signed in on, and those only', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    await signedIn(records, 'in', hub);
    await preauth(records, 'code', hub);
    await preauth(records, 'elsewhere', await enrol(records, 'other'));
    await records.sessions.begin({ sid: 'new', cookie: 'c', now: T });
    assert.equal(await records.sessions.endUnpaired(hub.hub_id, T), ['code']);
    assert.equal(await records.sessions.endUnpaired(hub.hub_id, T), []);
    for (const sid of ['in', 'elsewhere', 'new']) assert.ok(await records.sessions.find(sid, T), sid);
    assert.ok(await records.sessions.isOver('code'));
  });

  test('live stages are kept of sessions that are signed in, and of no other', async ({ records }) => {
    const hub = await enrol(records, 'h');
    await signedIn(records, 'in', hub);
    await preauth(records, 'code', hub);
    const { keepStages, find } = records.sessions;
    const stages = async () => [(await find('in', T))!.stage, (await find('code', T))!.stage];
    for (const stage of ['PAIRED', 'ONLINE', 'AUTH'] as const) {
      await keepStages(['in', 'code', 'gone'].map((sid) => ({ sid, stage })));
      assert.equal(await stages(), [stage, 'PREAUTH']);
    }
  });

  test('a route leads to one hub, counts its generations upwards and is there after a start', async ({
    records,
  }) => {
    const { routes, sessions } = records;
    const [one, two] = [await enrol(records, '1'), await enrol(records, '2')];
    await signedIn(records, 'a', one);
    await handOver(records, two, one);
    const offer = (hub_id: string, pubkey?: string) =>
      routes.offer({ sid: 'a', hub_id, pubkey, now: T, exp: LATER });
    const found = async () => {
      const [r, ...more] = await routes.restore(T);
      assert.equal(more, []);
      return [r?.hub_id, r?.generation, r?.pubkey];
    };
    assert.ok(await offer(one.hub_id));
    assert.equal(await found(), [one.hub_id, 0, null]);
    await routes.bind('a', 3, T);
    await routes.bind('a', 2, T);
    assert.ok(await offer(one.hub_id, 'pub'));
    assert.equal(await found(), [one.hub_id, 3, 'pub']);
    assert.ok(await offer(two.hub_id));
    assert.equal(await found(), [two.hub_id, 4, 'pub'], 'a key that is not given again stays');
    assert.not(await offer((await enrol(records, 'other')).hub_id), 'another owner’s hub');
    assert.is((await sessions.find('a', T))!.hub_id, two.hub_id, 'the session leads there too');
    assert.not(await routes.offer({ sid: 'gone', hub_id: 'h', pubkey: 'p', now: T, exp: LATER }));
    await routes.bind('gone', 1, T);
    await sessions.keepStages([{ sid: 'a', stage: 'ONLINE' }]);
    assert.equal(await routes.restore(T, 'hub_elsewhere'), [], 'another hub has nothing of it');
    assert.is((await sessions.find('a', T))!.stage, 'ONLINE');
    assert.is((await routes.restore(T, two.hub_id)).length, 1);
    assert.equal(
      (await routes.restore(T)).map(({ sid, stage, owner_id, subnet_id }) => [
        sid,
        stage,
        owner_id,
        subnet_id,
      ]),
      [['a', 'AUTH', one.owner_id, `net of ${two.hub_id}, ${one.hub_id}`]],
      'no socket outlives root',
    );
    assert.is((await sessions.find('a', T))!.stage, 'AUTH');
    assert.equal(await routes.restore(LATER), [], 'a session that is over has no route');
  });

  test('what is over is swept at its second, and nothing before', async ({ records }) => {
    const { passkeys, routes, hubs } = records;
    const hub = await enrol(records, 'h');
    await signedIn(records, 'a', hub);
    for (const sid of ['b', 'c']) await records.sessions.begin({ sid, cookie: 'c', now: T + 100 });
    const exp = T + 50;
    const { hub_id } = hub;
    await issue(records, hub, 'open', { exp });
    await passkeys.beginAssertion('login', { sid: 'a', challenge: 'x', exp });
    await routes.offer({ sid: 'a', hub_id, pubkey: 'pub', now: T, exp });
    assert.ok(await hubs.spendProof('p', exp));
    const sweep = (now: number) => records.sweep({ now, idle_since: 0, connected: [], online: [] });
    assert.equal(await sweep(exp - 1), []);
    assert.not(await hubs.spendProof('p', exp));
    assert.is((await routes.restore(T))[0]!.pubkey, 'pub');
    assert.ok(await take(records, 'b', 'open'));
    assert.is(await passkeys.takeChallenge('a', 'login', T), 'x');

    await issue(records, hub, 'other', { exp });
    await passkeys.beginAssertion('login', { sid: 'a', challenge: 'y', exp });
    assert.equal(await sweep(exp), [], 'its session stays');
    assert.ok(await hubs.spendProof('p', exp));
    assert.is((await routes.restore(T))[0]!.pubkey, null);
    assert.is(await take(records, 'c', 'other'), undefined, 'as one that never was');
    assert.is(await passkeys.takeChallenge('a', 'login', T), undefined);
    assert.equal((await sweep(LATER)).sort(), ['a', 'b', 'c']);
    assert.equal(await sweep(LATER), []);
  });

  test('a session that nobody saw for long ends, an open tab does not, and a tab without session goes', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    for (const sid of ['open', 'idle', 'back']) await signedIn(records, sid, hub);
    await preauth(records, 'code', hub);
    await records.sessions.seen('back', T + 1);
    // More than one part of a long list.
    const strangers = Array.from({ length: 1200 }, (_, i) => `stranger ${i}`);
    const now = T + 3000;
    const sweep = (connected: string[]) => records.sweep({ now, idle_since: T, connected, online: [] });
    const gone = await sweep([...strangers.slice(0, 700), 'open', ...strangers.slice(700)]);
    assert.equal(gone.sort(), ['idle', ...strangers].sort());
    assert.is((await records.sessions.find('open', now))!.last_seen, now);
    for (const sid of ['back', 'code']) assert.ok(await records.sessions.find(sid, now), sid);
    assert.is(await refusal(take(records, 'idle', 'x', { now })), 'unauthenticated');
  });
}
