// Passkeys and their ceremonies, over any database.
import * as assert from 'uvu/assert';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Passkey } from '../../../root/records/records.ts';
import {
  enrol,
  issue,
  LATER,
  login,
  nobody,
  passkey,
  preauth,
  refusal,
  register,
  signedIn,
  T,
  type Test,
  take,
} from './kit.ts';

export function passkeyTests(test: Test): void {
  test('a challenge is taken once, of its kind, in its time; the newest is the only one', async ({
    records,
  }) => {
    const { beginAssertion, takeChallenge } = records.passkeys;
    const begin = (challenge: string) => beginAssertion('login', { sid: 's', challenge, exp: T + 10 });
    await begin('old');
    await begin('new');
    assert.is(await takeChallenge('s', 'registration', T), undefined, 'of another kind');
    assert.is(await takeChallenge('other', 'login', T), undefined);
    assert.is(await takeChallenge('s', 'login', T + 10), undefined, 'too late');
    assert.is(await takeChallenge('s', 'login', T + 9), 'new');
    assert.is(await takeChallenge('s', 'login', T), undefined, 'a second time');
  });

  test('a registration begins on a session that took a code, and moves it on', async ({ records }) => {
    const hub = await enrol(records, 'h');
    const begin = (sid: string) =>
      refusal(records.passkeys.beginRegistration({ sid, challenge: `of ${sid}`, exp: LATER }, T));
    await preauth(records, 'code', hub);
    await records.sessions.begin({ sid: 'new', cookie: 'c', now: T });
    assert.is(await begin('code'), undefined);
    assert.is((await records.sessions.find('code', T))!.stage, 'WEBREG');
    assert.is(await records.passkeys.takeChallenge('code', 'registration', T), 'of code');
    assert.is(await begin('new'), 'conflict');
    assert.is(await begin('gone'), 'unauthenticated');
    for (const sid of ['new', 'gone'])
      assert.is(await records.passkeys.takeChallenge(sid, 'registration', T), undefined, sid);
    await signedIn(records, 'in', hub);
    assert.is(await begin('in'), undefined);
    assert.is((await records.sessions.find('in', T))!.stage, 'AUTH', 'who is signed in stays so');
  });

  test('passkeys are kept as they were registered, oldest first, and the approval is used up', async ({
    records,
  }) => {
    const { passkeys, sessions } = records;
    const hub = await enrol(records, 'h');
    await preauth(records, 's', hub, 'new_passkey');
    const first = passkey('b', hub, {
      backed_up: true,
      transports: ['usb', 'nfc'],
      browser_pubkey: new Uint8Array([9]),
    });
    assert.ok(await register(records, 's', first, T + 1));
    const s = (await sessions.find('s', T))!;
    assert.equal([s.scope, s.stage], ['', 'WEBREG']);
    for (const [id, at] of [
      ['c', T + 2],
      ['a', T + 2],
    ] as const)
      assert.ok(await register(records, 's', passkey(id, hub), at));
    const plain = (p: Passkey | undefined) => p && { ...p, browser_pubkey: [...p.browser_pubkey] };
    const all = await passkeys.ofOwner(hub.owner_id);
    assert.equal(
      all.map((p) => p.cred_id),
      ['b', 'a', 'c'],
    );
    const kept = {
      ...first,
      created: T + 1,
      last_used: T + 1,
      went_back: 0,
      name: '',
      browser_pubkey: [9],
      guest: false,
    };
    assert.equal(plain(all[0]), kept);
    assert.equal(plain(await passkeys.find('b')), kept);
    assert.is(all[1]!.backed_up, false);
    assert.equal([await passkeys.find('x'), await passkeys.ofOwner('x')], [undefined, []]);
    assert.not(await register(records, 's', passkey('b', hub, { browser_key_id: 'other' })), 'there already');
  });

  test('by a guest’s code comes a guest’s passkey, and one that is marked stays so', async ({ records }) => {
    const { passkeys, sessions } = records;
    const hub = await enrol(records, 'h');
    await preauth(records, 's', hub, 'guest');
    assert.ok(await register(records, 's', passkey('g', hub)));
    assert.is((await sessions.find('s', T))!.scope, '', 'the approval is used up');
    await register(records, 's', passkey('o', hub));
    const marks = async () => (await passkeys.ofOwner(hub.owner_id)).map((p) => [p.cred_id, p.guest]);
    assert.equal(await marks(), [
      ['g', true],
      ['o', false],
    ]);
    assert.is((await passkeys.find('g'))!.guest, true);
    await passkeys.markGuest('o');
    await passkeys.markGuest('gone');
    assert.equal((await marks())[1], ['o', true]);
  });

  test('the check sees the session and the passkeys as they are; of two at once only one is the first', async ({
    records,
  }) => {
    const { passkeys } = records;
    const hub = await enrol(records, 'h');
    await preauth(records, 's', hub, 'new_passkey');
    await passkeys.beginRegistration({ sid: 's', challenge: 'c', exp: LATER }, T);
    const only = (id: string) =>
      refusal(
        passkeys.register({ sid: 's', passkey: passkey(id, hub), now: T }, (session, known) => {
          assert.is(session?.sid, 's');
          if (known.length > 0) throw new IngleError('forbidden', 'One is enough.');
        }),
      );
    assert.equal((await Promise.all([only('a'), only('b')])).sort(), ['forbidden', undefined]);
    assert.is((await passkeys.ofOwner(hub.owner_id)).length, 1);
    const gone = passkeys.register({ sid: 'gone', passkey: passkey('c', hub), now: T }, (session) =>
      assert.is(session, undefined),
    );
    assert.is(await refusal(gone), 'unauthenticated');
    await records.sessions.begin({ sid: 'new', cookie: 'c', now: T });
    const early = passkeys.register({ sid: 'new', passkey: passkey('d', hub), now: T }, () => {});
    assert.is(await refusal(early), 'conflict');
    assert.is((await passkeys.ofOwner(hub.owner_id)).length, 1);
  });

  test('a login makes the session the passkey’s, and notes the counter', async ({ records }) => {
    const { passkeys, sessions } = records;
    const hub = await enrol(records, 'h');
    await preauth(records, 's', hub, 'new_passkey');
    await register(records, 's', passkey('p', hub, { sign_count: 5 }));
    await sessions.begin({ sid: 'n', cookie: 'c', now: T });
    const more = { owner_before: null, now: T + 4, jti: 'j' };
    assert.equal(await login(records, 'n', hub, 'p', more), { went_back: false });
    assert.equal(
      { ...(await sessions.find('n', T)) },
      {
        ...{ sid: 'n', cookie: 'c', stage: 'AUTH', scope: '', tries: 0, tries_until: 0 },
        ...{ owner_id: hub.owner_id, subnet_id: hub.subnet_id, hub_id: hub.hub_id },
        ...{
          browser_key_id: 'key of p',
          jti: 'j',
          last_seen: T + 4,
          exp: LATER,
          place: 'here',
          name: '',
          command: '',
        },
      },
    );
    const used = (await passkeys.find('p'))!;
    assert.equal([used.sign_count, used.last_used, used.went_back, used.created], [8, T + 4, 0, T]);
    // Again, and the approval of the code goes with a login as well.
    assert.equal(await login(records, 's', hub, 'p', { sign_count: 9 }), { went_back: false });
    assert.is((await sessions.find('s', T))!.scope, '');
  });

  test('a counter that does not move on is noted, unless the authenticator has none', async ({ records }) => {
    const hub = await enrol(records, 'h');
    await preauth(records, 's', hub);
    const cases: [before: number, after: number, back: boolean][] = [
      [0, 0, false],
      [0, 1, false],
      [1, 1, true],
      [1, 0, true],
      [5, 4, true],
      [5, 6, false],
    ];
    for (const [i, [before, after, back]] of cases.entries()) {
      const id = `p${i}`;
      await register(records, 's', passkey(id, hub, { sign_count: before }));
      await records.sessions.begin({ sid: id, cookie: 'c', now: T });
      const at = { owner_before: null, now: T + 6, sign_count: after };
      assert.equal(await login(records, id, hub, id, at), { went_back: back }, `${before} ${after}`);
      const p = (await records.passkeys.find(id))!;
      assert.equal([p.sign_count, p.went_back], [after, back ? T + 6 : 0]);
      // What was noted once stays noted.
      await login(records, id, hub, id, { sign_count: after + 1, now: T + 7 });
      assert.is((await records.passkeys.find(id))!.went_back, back ? T + 6 : 0);
    }
  });

  test('a login on a session or by a passkey that changed meanwhile comes to nothing', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    await preauth(records, 's', hub);
    await register(records, 's', passkey('p', hub));
    for (const [sid, credId, owner_before] of [
      ['gone', 'p', hub.owner_id],
      ['s', 'p', null],
      ['s', 'p', 'another'],
      ['s', 'revoked', hub.owner_id],
    ] as const)
      assert.is(await login(records, sid, hub, credId, { owner_before }), undefined, `${sid} ${credId}`);
    assert.is((await records.sessions.find('s', T))!.stage, 'WEBREG');
    assert.is((await records.passkeys.find('p'))!.sign_count, 7);
  });

  test('a passkey goes with its sessions, and the last one with all of its owner’s and the open code', async ({
    records,
  }) => {
    const { passkeys, sessions } = records;
    const hub = await enrol(records, 'h');
    const { owner_id } = hub;
    const stranger = await enrol(records, 'other');
    await signedIn(records, 'a', hub);
    await signedIn(records, 'b', hub);
    await preauth(records, 'code', hub);
    await signedIn(records, 'x', stranger);
    await issue(records, hub, 'open');
    const remove = (cred_id: string, owner = owner_id) =>
      passkeys.remove({ cred_id, owner_id: owner, by: nobody, now: T });
    assert.is(await remove('cred of x'), undefined, 'another owner’s');
    assert.is(await remove('none'), undefined);
    assert.equal(await remove('cred of a'), ['a']);
    assert.is(await remove('cred of a'), undefined, 'a second time');
    await sessions.begin({ sid: 'y', cookie: 'c', now: T });
    assert.ok(await take(records, 'y', 'open'), 'with another passkey left the code stays open');
    await issue(records, hub, 'open2');
    await issue(records, stranger, 'theirs');
    assert.equal((await remove('cred of b'))!.sort(), ['b', 'code', 'y']);
    await sessions.begin({ sid: 'z', cookie: 'c', now: T });
    assert.is(await take(records, 'z', 'open2'), undefined);
    assert.ok(await take(records, 'z', 'theirs'));
    assert.is((await sessions.find('x', T))!.stage, 'AUTH');
    assert.ok(await sessions.isOver('code'));
  });
}
