// Which hub of a subnet does a run.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Candidate, placementOf, wordsOf } from '../../firmware/scenario/placement.ts';

const own = new Set(['has:mic', 'region:eu']);
const hub = (hub_id: string, has: string[], more: Partial<Candidate> = {}): Candidate => ({
  ...{ hub_id, has: new Set(has), isHere: true, load: 0 },
  ...more,
});
const placed = (constraints: string[], members: Candidate[]) => {
  const p = placementOf(constraints, own, members);
  return p.at === 'member' ? p.hub_id : p.at === 'none' ? `none: ${p.lacks}` : 'here';
};

test('a hub does itself what it can, whoever else could', () => {
  const able = hub('attic', ['has:mic', 'region:eu']);
  assert.is(placed([], [able]), 'here');
  assert.is(placed(['has:mic', 'region:eu'], [able]), 'here');
});

test('a member has to be heard, and to have all that is wanted', () => {
  const all = ['has:bell', 'region:us'];
  assert.is(placed(all, [hub('a', ['has:bell']), hub('b', ['region:us'])]), 'none: has:bell');
  assert.is(placed(all, [hub('a', ['has:bell']), hub('b', all)]), 'b');
  assert.is(placed(all, [hub('b', all, { isHere: false })]), 'none: has:bell');
  assert.is(placed(['has:mic', 'region:us'], []), 'none: region:us', 'what this hub lacks is told');
  assert.is(placed(['region:us'], [hub('b', ['region:us'])]), 'b');
});

test('of several the one with the fewest runs does it, of equals always the same', () => {
  const bell = ['has:bell'];
  const busy = hub('a', bell, { load: 3 });
  assert.is(placed(bell, [busy, hub('c', bell, { load: 1 }), hub('b', bell, { load: 2 })]), 'c');
  for (const both of [
    [hub('x', bell), hub('k', bell), busy],
    [busy, hub('k', bell), hub('x', bell)],
  ])
    assert.is(placed(bell, both), 'k');
});

test('a constraint is told in words', () => {
  assert.equal(['has:mic', 'region:eu'].map(wordsOf), ['mic', 'region eu']);
});

test.run();
