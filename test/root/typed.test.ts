// Typed codes and their budget on a root in memory: who may guess, what is told to whom, and what is counted.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { DEVICE_CODE_TTL } from '../../firmware/protocol/limits.ts';
import { passkeyName } from '../../firmware/protocol/pairing/ticket.ts';
import { seconds } from '../../root/clock.ts';
import { issueCode, verifyCode, wishOf } from '../../root/codes.ts';
import { openGuesses } from '../../root/guesses.ts';
import type { Records } from '../../root/records/records.ts';
import { address, BUDGET, rootInMemory, wrong } from './memory.ts';
import { passkey, register } from './records/kit.ts';

const test = suite('typed codes');
/** Root's clock, which runs this many ms ahead of the machine's. */
const clock = { ahead: 0 };
const machine = Date.now;
test.before(() => {
  Date.now = () => machine() + clock.ahead;
});
test.before.each(() => {
  clock.ahead = 0;
});
test.after(() => {
  Date.now = machine;
});

/** What a promise is refused with. */
const refusal = (work: Promise<unknown>): Promise<IngleError> =>
  work.then(
    () => assert.unreachable() as never,
    (e) => e,
  );

test('while wrong codes pour in, the link and the hub’s own network pass, and a right code from afar is as a wrong one', async () => {
  const { root, home, ticket, issue, type } = await rootInMemory();
  const code = await issue();
  const said: string[] = [];
  for (let i = 0; i < 200; i++) said.push(await type(wrong(code, i), address(i)));
  assert.ok(said.filter((x) => x === 'invalid_device_code').length <= 2 * BUDGET);
  assert.is(said.at(-1), 'near');
  assert.is(await type(code, '203.0.113.50'), 'near', 'right, and from afar');
  assert.is(await type(code, '198.51.100.8'), 'near', 'the address beside is not the hub’s');
  assert.is(await type(wrong(code, 999), home), 'near', 'wrong, and from the hub’s network: the same answer');
  assert.is(await type(code, '203.0.113.51', 'U'.repeat(22)), 'near', 'another ticket is none');
  assert.is(await type(code, home), 'taken');
  assert.is(await type(await issue(), '203.0.113.52', ticket), 'taken');
  assert.is(await type(await issue(), '203.0.113.53'), 'near', 'a right one costs nothing and frees nothing');
  await root.records.close();
});

test('somebody on the hub’s own network gets few guesses, and the link passes even then', async () => {
  const { root, home, ticket, issue, type } = await rootInMemory();
  const code = await issue();
  const said: string[] = [];
  for (let i = 0; i < 100; i++) said.push(await type(wrong(code, i), home));
  assert.ok(said.filter((x) => x !== 'rate_limited').length <= 2 * BUDGET);
  assert.is(await type(code, home), 'rate_limited');
  assert.is(await type(code, home, ticket), 'taken');
  await root.records.close();
});

test('a ticket is of one code, spent with it, and no wrong ticket counts against the sid', async () => {
  const { root, home, ticket, issue, type, newSid } = await rootInMemory();
  const code = await issue();
  assert.is(await type(wrong(code, 1), home, ticket), 'invalid_device_code', 'the ticket without its code');
  assert.is(await type(code, home, ticket), 'taken');
  assert.is(await type(code, home, ticket), 'invalid_device_code', 'spent');
  const old = await issue();
  clock.ahead = DEVICE_CODE_TTL * 1000;
  assert.is(await type(old, home, ticket), 'invalid_device_code', 'expired');
  const sid = await newSid();
  const next = await issue();
  const typed = { code: wrong(next, 5), ip: home, ticket: 'U'.repeat(22), pow: '' };
  await verifyCode(root, sid, typed).catch(() => {});
  const session = await root.records.sessions.find(sid, seconds());
  assert.is(session!.tries, 1, 'one try is one count');
  await root.records.close();
});

test('a budget is of everybody, half of it of one network, and half again of one address beyond it', () => {
  const TTL_MS = DEVICE_CODE_TTL * 1000;
  for (const [budget, half] of [
    [10, 5],
    [7, 4],
    [1, 1],
  ] as const) {
    let t = TTL_MS * 1000;
    const g = openGuesses(budget, () => t);
    const tally = (ip: (i: number) => string) => {
      const said = { far: 0, near: 0, no: 0 };
      for (let i = 0; i < 3 * budget; i++)
        try {
          said[g.begin(ip(i)).near ? 'near' : 'far']++;
        } catch (e) {
          assert.is((e as IngleError).code, 'rate_limited');
          said.no++;
        }
      return said;
    };
    const one = () => '192.0.2.1';
    assert.equal(tally(one), { far: half, near: half, no: 3 * budget - 2 * half }, 'one address');
    const rest = budget - half;
    const neighbour = tally(() => '192.0.2.2');
    assert.equal(
      neighbour,
      { far: 0, near: half, no: 3 * budget - half },
      'its neighbour has no part in the rest',
    );
    assert.equal(tally(address), { far: rest, near: 3 * budget - rest, no: 0 }, 'everybody');
    // The window before still counts for what of it is left, and then it is over.
    t += TTL_MS * 2;
    g.sweep();
    assert.equal(tally(address), { far: budget, near: 2 * budget, no: 0 });
  }
});

test('what is taken back is taken back of all that counted it', () => {
  const g = openGuesses(4, () => 6e8);
  const far = Array.from({ length: 2 }, () => g.begin('192.0.2.1'));
  assert.ok(g.begin('192.0.2.1').near, 'the network has had its half');
  for (let i = 0; i < 2; i++) assert.not(g.begin(address(i)).near);
  assert.ok(g.begin(address(2)).near, 'everybody has had the whole');
  const near = g.begin('192.0.2.1');
  assert.throws(() => g.begin('192.0.2.1'));
  near.refund();
  assert.ok(g.begin('192.0.2.1').near);
  for (const one of far) one.refund();
  for (let i = 0; i < 2; i++) assert.not(g.begin('192.0.2.1').near);
  assert.ok(g.begin(address(3)).near);
});

test('a network that has had its half takes nothing from everybody by trying on', () => {
  const g = openGuesses(4, () => 6e8);
  for (let i = 0; i < 4; i++) g.begin('192.0.2.1');
  for (let i = 0; i < 3; i++) assert.throws(() => g.begin('192.0.2.1'));
  assert.equal(
    [0, 1, 2].map((i) => g.begin(address(i)).near),
    [false, false, true],
  );
});

test('what is over is forgotten, and only that', () => {
  let t = 6e8;
  const before = Map.prototype.delete;
  const deleted: unknown[] = [];
  Map.prototype.delete = function (key) {
    deleted.push(key);
    return before.call(this, key);
  };
  try {
    const g = openGuesses(2, () => t);
    // Everybody's, its network's and its own count.
    g.begin('192.0.2.1');
    assert.ok(g.begin('192.0.2.1').near);
    g.sweep();
    assert.equal(deleted, []);
    t += 3 * DEVICE_CODE_TTL * 1000;
    g.sweep();
    assert.equal(deleted, ['', '192.0.2', '192.0.2.1']);
  } finally {
    Map.prototype.delete = before;
  }
});

test('a hub’s wish is what makes sense of its claims', () => {
  const ip = '192.0.2.1';
  const ticket = 'T'.repeat(22);
  const nothing = { ip, scope: '', ticket: '', passkeys: undefined, guests: new Set() };
  for (const [claims, wish] of [
    [{}, nothing],
    [{ scope: 'new_passkey' }, { ...nothing, scope: 'new_passkey' }],
    [{ scope: 'admin' }, nothing],
    [
      { scope: 'new_passkey', guest: true },
      { ...nothing, scope: 'guest' },
    ],
    [
      { scope: 'new_passkey', guest: 'yes' },
      { ...nothing, scope: 'new_passkey' },
    ],
    [{ scope: 'guest' }, nothing],
    [
      { scope: 'member', guest: true },
      { ...nothing, scope: 'member' },
    ],
    [{ guest: true }, nothing],
    [{ guests: ['a', 5, 'b'] }, { ...nothing, guests: new Set(['a', 'b']) }],
    [{ guests: 'a' }, nothing],
    [{ ticket }, { ...nothing, ticket }],
    [{ ticket: 'short' }, nothing],
    [{ ticket: 5 }, nothing],
    [{ passkeys: 'a' }, nothing],
    [{ passkeys: [] }, { ...nothing, passkeys: new Set() }],
    [{ passkeys: ['a', 5, null, 'b', 'a'] }, { ...nothing, passkeys: new Set(['a', 'b']) }],
  ] as [Record<string, unknown>, object][])
    assert.equal(wishOf(claims, ip), wish, JSON.stringify(claims));
});

test('a code comes with its page and its life, and says once how long ago the last was taken', async () => {
  const { root, hub, home, wish, newSid, heard } = await rootInMemory();
  const first = await issueCode(root, hub, wish({ ticket: 'T'.repeat(22) }));
  assert.match(first.device_code, /^\d{3}-\d{3}$/);
  assert.equal(
    { ...first, device_code: '' },
    { device_code: '', verify_uri: 'http://localhost/', expires_in: 600 },
  );
  const sid = await newSid();
  const typed = { code: first.device_code.replace('-', ''), ip: home, ticket: '', pow: 'work' };
  assert.equal(await verifyCode(root, sid, typed), { ok: true, owner_id: 'o', subnet_id: 'n', hub_id: 'h' });
  assert.equal(heard.checks, [[sid, 'work']]);
  assert.is(
    (await root.records.sessions.find(sid, seconds()))!.exp - seconds(),
    3600,
    'an hour for the passkey',
  );
  clock.ahead = 42_000;
  const { taken_ago } = await issueCode(root, hub, wish());
  assert.ok(taken_ago === 42 || taken_ago === 43, String(taken_ago));
  assert.not('taken_ago' in (await issueCode(root, hub, wish())));
  // Uses of root's key that are not kept apart could stand for one another.
  assert.equal([...heard.macs].filter((m) => !['sid', 'cookie'].includes(m)).sort(), [
    'device_code',
    'network',
    'ticket',
  ]);
  assert.equal(heard.dropped, [sid], 'the next code ended what the first began');
  await root.records.close();
});

test('short numbers are padded, a code lives ten minutes, and a hundred draws are enough', async () => {
  const { root, hub, wish } = await rootInMemory();
  const draws: number[] = [];
  const macs: string[] = [];
  const told: { exp: number; now: number }[] = [];
  const mac = (purpose: string, text: string) => {
    if (purpose === 'device_code') macs.push(text);
    return `${purpose} ${text}`;
  };
  const codes = (take: number): Records['codes'] => ({
    ...root.records.codes,
    async issue(code, draw) {
      told.push(code);
      for (let i = 0; i < take; i++) draws.push(draw().length);
      return { taken_at: null };
    },
  });
  const on = (take: number) =>
    issueCode(
      { ...root, tokens: { ...root.tokens, mac }, records: { ...root.records, codes: codes(take) } },
      hub,
      wish(),
    );
  const { device_code } = await on(100);
  assert.is(device_code.replace('-', ''), macs.at(-1), 'the last draw is the code');
  assert.ok(macs.every((m) => /^\d{6}$/.test(m)) && new Set(macs).size > 90);
  assert.equal([draws.length, told[0]!.exp - told[0]!.now], [100, DEVICE_CODE_TTL]);
  const none = await refusal(on(101));
  assert.is(none.code, 'unavailable');
  for (let i = 0; i < 30; i++) await on(100);
  assert.ok(macs.some((m) => m.startsWith('0')) && macs.some((m) => m.startsWith('9')));
  assert.ok(
    macs.every((m) => m.length === 6),
    'one in ten begins with a 0',
  );
  await root.records.close();
});

test('an approved code asks for a new passkey', async () => {
  const { root, home, issue, newSid } = await rootInMemory();
  const code = await issue({ scope: 'new_passkey' });
  const typed = { code, ip: home, ticket: '', pow: '' };
  assert.is(((await verifyCode(root, await newSid(), typed)) as { new_passkey?: boolean }).new_passkey, true);
  await root.records.close();
});

test('a hub that says which passkeys it knows rids root of the others; one that does not say keeps them', async () => {
  const { root, hub, home, wish, newSid, heard } = await rootInMemory();
  const sid = await newSid();
  const { device_code: code } = await issueCode(root, hub, wish());
  await verifyCode(root, sid, { code, ip: home, ticket: '', pow: '' });
  for (const id of ['known', 'unknown']) await register(root.records, sid, passkey(id, hub), seconds());
  const left = async () => (await root.records.passkeys.ofOwner('o')).map((p) => p.cred_id);
  await issueCode(root, hub, wish());
  assert.equal(await left(), ['known', 'unknown']);
  assert.equal(heard.dropped, [sid]);
  await issueCode(root, hub, wish({ passkeys: new Set([await passkeyName('known'), 'more']) }));
  assert.equal(await left(), ['known']);
  await root.records.close();
});

test('proof of work is asked for before a typed code is counted, and not for a link', async () => {
  const { root, home, ticket, issue, newSid, refuse, heard } = await rootInMemory();
  const code = await issue();
  refuse.work = true;
  const typed = { code: wrong(code, 1), ip: home, ticket: '', pow: 'p' };
  for (let i = 0; i < 3 * BUDGET; i++)
    assert.equal((await refusal(verifyCode(root, await newSid(), typed))).details, {
      retry_after: 1,
      pow: 'some',
    });
  assert.is(heard.failed, 0);
  assert.ok((await verifyCode(root, await newSid(), { ...typed, code, ticket })).ok);
  refuse.work = false;
  assert.is(
    (await refusal(verifyCode(root, await newSid(), typed))).code,
    'invalid_device_code',
    'none was counted',
  );
  assert.is(heard.failed, 1);
  await root.records.close();
});

test('a code that could not be looked up is not counted, wrong ones are, and it is said where one may type', async () => {
  const { root, home, issue, newSid, heard } = await rootInMemory();
  const code = await issue();
  const typed = { code: wrong(code, 1), ip: home, ticket: '', pow: '' };
  for (let i = 0; i < 3 * BUDGET; i++)
    assert.is((await refusal(verifyCode(root, 'no such sid', typed))).code, 'unauthenticated');
  assert.is(heard.failed, 0);
  for (let i = 0; i < BUDGET; i++)
    assert.is(
      (await refusal(verifyCode(root, await newSid(), { ...typed, ip: address(i) }))).code,
      'invalid_device_code',
    );
  const near = await refusal(verifyCode(root, await newSid(), typed));
  assert.equal([near.code, near.details], ['rate_limited', { retry_after: 600, near: true }]);
  assert.is(heard.failed, BUDGET + 1);
  for (let i = 0; i < 3 * BUDGET; i++)
    assert.is(
      (await refusal(verifyCode(root, 'no such sid', typed))).code,
      'unauthenticated',
      'near ones, too',
    );
  assert.ok((await verifyCode(root, await newSid(), { ...typed, code })).ok);
  await root.records.close();
});

test.run();
