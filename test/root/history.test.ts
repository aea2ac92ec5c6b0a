// gate: in, it starts nothing of what it imports
// The checker of who was a hub's home when, by which cluster.test.ts and partition.test.ts judge: what nodes say in their
// logs, and when they were killed.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { homesOf, type Told } from './nodes.ts';

const test = suite('history of homes');
const at = (s: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, s)).toISOString();
const line = (s: number, said: string) => `${at(s)} debug ${said}`;
const home = (s: number, node: string, hub = 'h') =>
  line(s, `a hub is at home here hub_id=${hub} node=${node}`);
const left = (s: number, node: string) => line(s, `a hub has left hub_id=h node=${node}`);
const anew = (s: number, until: number) => line(s, `this node begins anew until="${at(until)}"`);
const node = (lines: string[], o: { alive?: boolean; killed?: number } = {}): Told => ({
  log: () => lines.join('\n'),
  alive: () => o.alive ?? true,
  killed: o.killed === undefined ? 0 : Date.parse(at(o.killed)),
});
const two = (...nodes: Told[]) => {
  try {
    homesOf(nodes);
    return '';
  } catch (e) {
    return (e as Error).message;
  }
};

test('one home after another is none too many, however the one before ended', () => {
  const next = node([home(10, 'b')]);
  for (const [how, before] of [
    ['left', node([home(1, 'a'), left(9, 'a')])],
    ['its grant was over, and it knew later', node([home(1, 'a'), anew(40, 9)])],
    ['killed', node([home(1, 'a')], { alive: false, killed: 9 })],
    ['killed, and there again', node([home(1, 'a'), line(20, 'listening')], { killed: 9 })],
    ['another hub', node([home(1, 'a', 'other')])],
  ] as const)
    assert.is(two(before, next), '', how);
  assert.is(homesOf([node([home(1, 'a'), left(2, 'a'), home(3, 'a')]), node([])]), 2);
});

test('two homes at once are found, whichever came first and however they ended', () => {
  const next = node([home(10, 'b'), left(12, 'b')]);
  for (const [how, other] of [
    ['still there', node([home(1, 'a')])],
    ['left later', node([home(1, 'a'), left(11, 'a')])],
    ['came in its time', node([home(11, 'a'), left(20, 'a')])],
    ['held beyond it', node([home(1, 'a'), left(30, 'a')])],
    ['its grant lasted longer', node([home(1, 'a'), anew(40, 11)])],
    ['killed later', node([home(1, 'a')], { alive: false, killed: 11 })],
  ] as const) {
    assert.match(two(other, next), /^h: /, how);
    assert.match(two(next, other), /^h: /, how);
  }
});

test.run();
