// What is counted over several processes: two of them tell each other, without a line between them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { solvePow } from '../../firmware/protocol/pairing/pow.ts';
import { type Along, openAlong } from '../../root/cluster/along.ts';
import { type Guesses, openGuesses } from '../../root/guesses.ts';
import { type Limit, limit } from '../../root/limit.ts';
import { openSurge, type Surge } from '../../root/surge.ts';
import { thrown } from '../lab/thrown.ts';

const test = suite('counted along');

/** Two processes; what one says the other hears at once. */
function pair(): [Along, Along] {
  const all: Along[] = [];
  const open = (me: number, name: string) =>
    openAlong((what, of) => {
      const other = all[1 - me]!;
      if (what === 'count') other.count(name, of as Parameters<Along['count']>[1]);
      else other.uncount(name, of as { id: number });
    });
  all.push(open(0, 'a'), open(1, 'b'));
  return all as [Along, Along];
}
const isRefused = (work: () => unknown) => {
  try {
    work();
    return false;
  } catch {
    return true;
  }
};

const NOW = () => 60_000_000;

test('what one key takes at either is gone at both, and what is taken back is there at both', () => {
  const both = pair().map((along) => along.limit('verify', limit(5, 60, NOW)));
  const [a, b] = both as [Limit, Limit];
  const back = [a.take('x'), b.take('x'), a.take('x'), b.take('x'), a.take('x')];
  for (const l of both) {
    assert.ok(isRefused(() => l.take('x')));
    l.take('y');
  }
  back[0]!();
  b.take('x');
  for (const l of both) assert.ok(isRefused(() => l.take('x')));
});

test('wrong codes are of one budget, and a right one is taken back of it', () => {
  const [a, b] = pair().map((along) => along.guesses(openGuesses(4, NOW))) as [Guesses, Guesses];
  const right = a.begin('198.51.0.1');
  assert.not(right.near);
  for (const [g, ip] of [
    [a, '198.51.1.1'],
    [b, '203.0.0.1'],
    [b, '203.0.1.1'],
  ] as const)
    assert.not(g.begin(ip).near, ip);
  assert.ok(a.begin('192.0.2.1').near);
  assert.ok(b.begin('192.0.3.1').near);
  right.refund();
  assert.not(b.begin('192.0.4.1').near);
  assert.ok(a.begin('192.0.5.1').near);
});

test('a surge at one has both ask for work, and a solution counts once, at one of them', async () => {
  const mac = (x: string) => Buffer.alloc(32, x.length).toString('base64url');
  const [a, b] = pair().map((along) => along.surge('surge', openSurge(4, mac, NOW))) as [Surge, Surge];
  for (const s of [a, a, b]) s.failed();
  a.check('sid', '');
  b.check('sid', '');
  a.failed();
  assert.ok(isRefused(() => a.check('sid', '')));
  const { pow } = thrown(() => b.check('sid', '')).details as { pow: { challenge: string; bits: number } };
  const solution = await solvePow(pow.challenge, pow.bits);
  a.check('sid', solution);
  for (const s of [b, a])
    assert.ok(
      isRefused(() => s.check('sid', solution)),
      'it was used',
    );
});

test.run();
