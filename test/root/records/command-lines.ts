// Command lines that ask to be let in, over any database.
import * as assert from 'uvu/assert';
import type { Hub, Records } from '../../../root/records/records.ts';
import { enrol, LATER, nobody, passkey, preauth, register, signedIn, T, type Test } from './kit.ts';

const END = T + 600;
const FAR = T + 3600;

const ask = (
  records: Records,
  id: string,
  code: string,
  more: { most?: number; asked?: number; network?: string } = {},
) => {
  const { most = 100, asked = T, network = 'net' } = more;
  return records.commandLines.ask(
    { id, name: `shell ${id}`, network, place: 'there', asked, exp: asked + 600, most },
    () => code,
  );
};
const find = (
  records: Records,
  code: string,
  owner_id: string,
  more: { network?: string; now?: number } = {},
) => records.commandLines.find({ code, owner_id, network: '', now: T, ...more });
const allow = (records: Records, id: string, { owner_id }: Hub, cred_id = 'cred of s', now = T) =>
  records.commandLines.allow({ id, owner_id, cred_id, sign_count: 9, by: nobody, now });
const deny = (records: Records, id: string, { owner_id }: Hub) =>
  records.commandLines.deny({ id, owner_id, by: nobody, now: T });
const poll = (records: Records, id: string, now = T, sid = `session of ${id}`) =>
  records.commandLines.poll({ id, sid, interval: 3, place: 'there', now, exp: FAR });
const deeds = async (records: Records, { owner_id }: Hub) =>
  (await records.audit.read({ owner_id, before: 1e9, most: 100 })).map((e) => e.what).slice(0, -3);

export function commandLineTests(test: Test): void {
  test('a command line that its owner let in is a session of its own, once', async ({ records }) => {
    const hub = await enrol(records, 'h');
    const { owner_id } = hub;
    await signedIn(records, 's', hub);
    assert.is(await ask(records, 'a', '1'), true);
    assert.is(await poll(records, 'a'), 'asking');
    assert.is(await poll(records, 'a', T + 2), 'early');
    assert.equal(await find(records, '1', owner_id).then((f) => ({ ...f })), {
      ...{ id: 'a', name: 'shell a', place: 'there', asked: T, exp: END },
    });
    assert.is(await allow(records, 'a', hub), true);
    assert.is(await allow(records, 'a', hub), false, 'a second time');
    assert.is(await deny(records, 'a', hub), false, 'what was allowed is not denied any more');
    assert.is(await find(records, '1', owner_id), undefined, 'nor found');
    assert.equal(await poll(records, 'a', T + 3), { owner_id });
    assert.is(await poll(records, 'a', T + 6, 'another'), 'spent');
    assert.is(await records.sessions.find('another', T + 6), undefined);
    const { browser_key_id, command, hub_id, stage, exp, place } = (await records.sessions.find(
      'session of a',
      T + 3,
    ))!;
    assert.equal(
      { browser_key_id, command, hub_id, stage, exp, place },
      {
        browser_key_id: 'key of cred of s',
        command: 'shell a',
        hub_id: null,
        stage: 'AUTH',
        exp: FAR,
        place: 'there',
      },
    );
    assert.is((await records.passkeys.find('cred of s'))?.sign_count, 9);
    const [signed, allowed] = await records.audit.read({ owner_id, before: 1e9, most: 2 });
    assert.equal([allowed!.what, allowed!.name], ['command_allowed', 'shell a']);
    assert.equal([signed!.what, signed!.by_command, signed!.place], ['signed_in', 'shell a', 'there']);
  });

  test('its name is its owner’s to change, and in the trail of what it does from then on', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    const { owner_id } = hub;
    await signedIn(records, 's', hub);
    await ask(records, 'a', '1');
    await find(records, '1', owner_id);
    await allow(records, 'a', hub);
    await poll(records, 'a');
    const rename = (owner: string, sid = 'session of a') =>
      records.sessions.rename({ sid, owner_id: owner, name: 'Desk', by: nobody, now: T });
    assert.is(await rename('own_other'), false);
    assert.is(await rename(owner_id, 'none'), false);
    assert.is(await rename(owner_id), true);
    await records.sessions.end('session of a', T);
    const [out, renamed] = await records.audit.read({ owner_id, before: 1e9, most: 2 });
    assert.equal([renamed!.what, renamed!.name], ['session_renamed', 'Desk']);
    assert.equal([out!.what, out!.by_command], ['signed_out', 'Desk']);
  });

  test('a code is of the owner who typed it first, and of nobody when its time is over', async ({
    records,
  }) => {
    const [hub, other] = [await enrol(records, 'h'), await enrol(records, 'other')];
    await signedIn(records, 's', hub);
    await signedIn(records, 'o', other);
    await ask(records, 'a', '1');
    assert.is(await allow(records, 'a', hub), false, 'before its code was typed');
    assert.is(await find(records, '1', hub.owner_id, { network: 'elsewhere' }), undefined);
    assert.is(await find(records, '1', hub.owner_id, { now: END }), undefined);
    assert.ok(await find(records, '1', hub.owner_id, { network: 'net' }));
    assert.ok(await find(records, '1', hub.owner_id), 'once more');
    assert.is(await find(records, '1', other.owner_id), undefined);
    assert.is(await allow(records, 'a', other, 'cred of o'), false);
    assert.is(await deny(records, 'a', other), false);
    assert.is(await allow(records, 'a', hub, 'cred of o'), false, 'by another owner’s passkey');
    assert.is(await allow(records, 'a', hub, 'cred of s', END), false, 'too late');
    assert.is(await poll(records, 'a', END), 'over');
    assert.is(await poll(records, 'none'), 'over');
    assert.equal(await deeds(records, hub), []);
  });

  test('who is denied gets nothing, nor does who was let in by a passkey that is gone or a guest’s', async ({
    records,
  }) => {
    const hub = await enrol(records, 'h');
    await signedIn(records, 's', hub);
    await preauth(records, 's2', hub, 'guest');
    await register(records, 's2', passkey('guest', hub));
    await preauth(records, 's3', hub, 'new_passkey');
    await register(records, 's3', passkey('second', hub));
    for (const [id, code] of ['a', 'b', 'c'].map((id, i) => [id, String(i)] as const)) {
      await ask(records, id, code);
      await find(records, code, hub.owner_id);
    }
    assert.is(await deny(records, 'a', hub), true);
    assert.is(await deny(records, 'a', hub), false);
    assert.is(await allow(records, 'a', hub), false);
    assert.is(await poll(records, 'a'), 'denied');
    assert.is(await allow(records, 'b', hub, 'guest'), false);
    assert.is(await allow(records, 'c', hub, 'second'), true);
    await records.passkeys.remove({ cred_id: 'second', owner_id: hub.owner_id, by: nobody, now: T });
    assert.is(await poll(records, 'c'), 'denied');
    assert.is(await records.sessions.find('session of c', T), undefined);
  });

  test('what lets a command line in ends it when it goes', async ({ records }) => {
    const hub = await enrol(records, 'h');
    await signedIn(records, 's', hub);
    await ask(records, 'a', '1');
    await find(records, '1', hub.owner_id);
    await allow(records, 'a', hub);
    await poll(records, 'a');
    const ended = await records.passkeys.remove({
      cred_id: 'cred of s',
      owner_id: hub.owner_id,
      by: nobody,
      now: T,
    });
    assert.ok(ended?.includes('session of a'));
    assert.is(await records.sessions.find('session of a', T), undefined);
  });

  test('a code that is open is drawn again, and only so many ask at once', async ({ records }) => {
    await ask(records, 'a', '1');
    const drawn = ['1', '1', '2'];
    const given = { name: 'x', network: '', place: '', asked: T, exp: END };
    assert.is(await records.commandLines.ask({ ...given, id: 'b', most: 2 }, () => drawn.shift()!), true);
    assert.equal(drawn, []);
    assert.is(await ask(records, 'c', '3', { most: 2 }), false);
    assert.is(await ask(records, 'c', '1', { most: 2, asked: END }), true, 'when those are over');
    await records.sweep({ now: LATER, idle_since: 0, connected: [], online: [] });
    assert.is(await poll(records, 'c', END), 'over');
  });

  test('of a hundred who answer and a hundred who ask at once, one gets in, once', async ({ records }) => {
    const hub = await enrol(records, 'h');
    await signedIn(records, 's', hub);
    await ask(records, 'a', '1');
    await find(records, '1', hub.owner_id);
    const many = <R>(work: (i: number) => Promise<R>) =>
      Promise.all(Array.from({ length: 100 }, (_, i) => work(i)));
    const [allowed, polled] = await Promise.all([
      many(() => allow(records, 'a', hub)),
      many((i) => poll(records, 'a', T + 3 * i, `sid ${i}`)),
    ]);
    assert.is(allowed.filter(Boolean).length, 1);
    polled.push(await poll(records, 'a', T + 303, 'late'));
    assert.is(polled.filter((r) => typeof r === 'object').length, 1);
    const sessions = await records.sessions.ofOwner(hub.owner_id, T);
    assert.is(sessions.filter((s) => s.command !== '').length, 1);
  });
}
