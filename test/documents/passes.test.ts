// Room tokens: for one room, for some minutes, for whom they were given to.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Principal } from '../../firmware/documents/acl.ts';
import { openPasses, PASS_MS } from '../../firmware/documents/passes.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('room tokens');
const me: Principal = { owner_id: 'o1', browser: 'phone1', role: 'owner', elevated_until: 0 };
const room = 'o1/lamp/state:main';
const refused = (f: () => unknown) => assert.throws(f, (e: IngleError) => e.code === 'unauthenticated');

test('a token is good for its room as often as it is shown, until its time is over', () => {
  let now = 1000;
  const passes = openPasses(() => now);
  const { token, until } = passes.give(room, me);
  assert.is(until, now + PASS_MS);
  assert.match(token, /^[A-Za-z0-9_-]{55}$/);
  for (let i = 0; i < 3; i++) assert.equal(passes.check(token, room), { caller: me, until });
  refused(() => passes.check(token, 'o1/lamp/view:main'));
  now = until - 1;
  passes.check(token, room);
  now = until;
  refused(() => passes.check(token, room));
});

test('one bit of a token less, more or other is no token', () => {
  const passes = openPasses();
  const { token } = passes.give(room, null);
  assert.is(passes.check(token, room).caller, null);
  const other = (i: number) => token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1);
  for (const bad of ['', token.slice(1), token.slice(0, -2), `${token}AAAA`, ...[0, 11, 12, 53].map(other)])
    refused(() => passes.check(bad, room));
  // The last character has two bits to spare: four of its values stand for the same bytes.
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const last of alphabet)
    if (last !== token.at(-1)) refused(() => passes.check(token.slice(0, -1) + last, room));
});

test('there are so many of one caller and in all; the oldest make room, and those of who is gone are over', () => {
  const passes = openPasses();
  const mine = Array.from({ length: 17 }, () => passes.give(room, me).token);
  refused(() => passes.check(mine[0]!, room));
  passes.check(mine[1]!, room);
  const guest = passes.give(room, { ...me, owner_id: 'person_1', browser: 'b' }).token;
  passes.revoke((_, who) => who === 'person_1');
  refused(() => passes.check(guest, room));
  passes.revoke((key) => key.skill_id === 'lamp');
  refused(() => passes.check(mine[16]!, room));
  const many = Array.from({ length: 300 }, (_, i) => passes.give(room, { ...me, browser: `b${i}` }).token);
  refused(() => passes.check(many[0]!, room));
  passes.check(many[44]!, room);
});

test.run();
