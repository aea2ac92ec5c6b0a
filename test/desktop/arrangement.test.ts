// Pins, order and groups: what an order for them makes, and how icons stand on the desktop then.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { arranged, pinned, seenOf } from '../../firmware/desktop/arrangement.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { type Arrangement, type IconFace, inOrder, placed, tilesOf } from '../../firmware/ui/arranged.ts';

const test = suite('the arrangement of icons');
const none: Arrangement = { pins: [], order: [], groups: [] };
const known = ['a', 'b', 'c', 'd', 'e'];
const has = (id: string) => known.includes(id);
const face = (skill_id: string): IconFace => ({
  skill_id,
  title: skill_id.toUpperCase(),
  icon: 'app',
  entrypoint: '',
  modes: ['modal'],
  sizeHints: { w: 1, h: 1 },
  schema: null,
  ownerOnly: false,
});
/** The desktop as a text: groups in brackets. */
const desktop = (a: Arrangement) =>
  tilesOf(inOrder(placed(known.map(face), a, known), (i) => i.title))
    .map(({ group, icons }) => {
      const names = icons.map((i) => i.skill_id).join('');
      return group === null ? names : `${group}(${names})`;
    })
    .join(' ');

test('the table of arrangements', () => {
  const rows: [Arrangement, string][] = [
    [none, 'a b c d e'],
    [{ ...none, order: ['c', 'a'] }, 'c a b d e'],
    [{ ...none, pins: ['d'] }, 'd a b c e'],
    [{ pins: ['d'], order: ['e', 'd'], groups: [] }, 'd e a b c'],
    [{ ...none, groups: [{ name: 'G', skills: ['b', 'd'] }] }, 'a G(bd) c e'],
    [{ ...none, order: ['d', 'a', 'b'], groups: [{ name: 'G', skills: ['b', 'd'] }] }, 'G(db) a c e'],
    [{ ...none, pins: ['d'], groups: [{ name: 'G', skills: ['b', 'd'] }] }, 'G(db) a c e'],
    [
      {
        ...none,
        groups: [
          { name: 'G', skills: ['e'] },
          { name: 'H', skills: ['a', 'c'] },
        ],
      },
      'H(ac) b d G(e)',
    ],
  ];
  for (const [a, says] of rows) assert.is(desktop(a), says, JSON.stringify(a));
});

test('an order changes its part, and what it leaves out stays', () => {
  const now = { pins: ['a'], order: ['b'], groups: [{ name: 'G', skills: ['c'] }] };
  assert.equal(arranged(now, {}, has), now);
  assert.equal(arranged(now, { order: ['c', 'b'] }, has), { ...now, order: ['c', 'b'] });
  assert.equal(arranged(now, { pins: [] }, has), { ...now, pins: [] });
  assert.equal(arranged(now, { groups: [{ name: 'G', skills: [] }] }, has), { ...now, groups: [] });
  assert.equal(pinned(now, 'd', true).pins, ['a', 'd']);
  assert.equal(pinned(now, 'a', true).pins, ['a']);
  assert.equal(pinned(now, 'a', false).pins, []);
});

test('every fault is told with its place', () => {
  const faulty = {
    pins: ['a', 'x', 'a'],
    order: [1],
    groups: [
      { name: 'G', skills: ['a', 'b'] },
      { name: 'G', skills: ['b', 'y'] },
    ],
  };
  try {
    arranged(none, faulty, has);
    assert.unreachable();
  } catch (e) {
    const faults = (e as IngleError).details!['faults'] as { pointer: string; says: string }[];
    assert.equal(
      faults.map((f) => `${f.pointer} ${f.says}`),
      [
        '/pins/1 names no skill',
        '/pins/2 is there twice',
        '/order/0 names no skill',
        '/groups/1/name is there twice',
        '/groups/1/skills/0 is there twice',
        '/groups/1/skills/1 names no skill',
      ],
    );
  }
});

test('what somebody does not have is neither shown nor forgotten', () => {
  const now = { pins: ['x', 'a'], order: ['x', 'b'], groups: [{ name: 'G', skills: ['x'] }] };
  assert.equal(seenOf(now, has), { pins: ['a'], order: ['b'], groups: [] });
});

const list = fc.uniqueArray(fc.constantFrom(...known), { maxLength: 5 });
test('whatever the arrangement, each icon stands on the desktop once', () => {
  fc.assert(
    fc.property(list, list, list, fc.nat(5), (pins, order, grouped, cut) => {
      const groups = [
        { name: 'G', skills: grouped.slice(0, cut) },
        { name: 'H', skills: grouped.slice(cut) },
      ];
      const a = arranged(none, { pins, order, groups }, has);
      const tiles = tilesOf(inOrder(placed(known.map(face), a, []), (i) => i.title));
      assert.equal(tiles.flatMap((t) => t.icons.map((i) => i.skill_id)).sort(), known);
      const names = tiles.flatMap((t) => t.group ?? []);
      assert.is(new Set(names).size, names.length, 'a group stands once');
    }),
  );
});

test.run();
