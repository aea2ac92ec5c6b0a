// Which skill lives in which slot, and how long one is waited for that is to go.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { LEAVE_MS } from '../../firmware/skills/leave.ts';
import {
  assign,
  free,
  occupied,
  parsePins,
  parseTable,
  printTable,
  type Root,
  SLOTS,
  settle,
  type Table,
} from '../../firmware/skills/slots.ts';

const test = suite('slots of skills');
const tag = 'a'.repeat(32);
const other = 'b'.repeat(32);
const root: Root = {
  builtin: ['hub_status', 'logs', 'updates'],
  pins: new Map([
    ['hub_status', 1],
    ['updates', 2],
  ]),
};
const empty: Table = new Map();
const slotIn = (t: Table, id: string) => [...occupied(t, root).values()].find((s) => s.skill_id === id)?.slot;
const said = (work: () => unknown, code: string, words: RegExp) => {
  try {
    work();
  } catch (e) {
    assert.instance(e, IngleError);
    assert.is((e as IngleError).code, code);
    assert.match((e as IngleError).message, words);
    return;
  }
  assert.unreachable(`${words}`);
};
/** Many skills, each with a bundle. */
const filled = (count: number) => {
  let t = empty;
  for (let i = 0; i < count; i++) t = assign(t, root, { skill_id: `s${i}`, bundle: `s${i}-1` }, tag);
  return t;
};

test('a skill keeps its slot and its state over a new version, and over what others do', () => {
  let t = filled(3);
  const before = slotIn(t, 's1');
  t = free(t, 's0');
  t = assign(t, root, { skill_id: 's1', bundle: 's1-2' }, other);
  assert.is(slotIn(t, 's1'), before);
  assert.equal(occupied(t, root).get(before!), { slot: before, skill_id: 's1', bundle: 's1-2', tag });
});

test('a freed slot is marked, is used after all others, and the next stay has a tag of its own', () => {
  let t = free(filled(2), 's0');
  const left = [...t].find(([, row]) => row.state === 'freed')![0];
  assert.not(occupied(t, root).has(left));
  t = assign(t, root, { skill_id: 'new', bundle: 'new-1' }, other);
  assert.is.not(slotIn(t, 'new'), left, 'one that was never used comes first');
  for (let i = 10; slotIn(t, `s${i - 1}`) !== left; i++)
    t = assign(t, root, { skill_id: `s${i}`, bundle: 'x' }, other);
  assert.is(occupied(t, root).get(left)!.tag, other);
});

test('with every slot taken the next skill is told so, and nothing changes', () => {
  const t = filled(SLOTS - root.pins.size);
  const text = printTable(t);
  said(() => assign(t, root, { skill_id: 'more', bundle: 'x' }, tag), 'conflict', /all 14 places are taken/);
  assert.is(printTable(t), text);
  assert.ok(assign(free(t, 's5'), root, { skill_id: 'more', bundle: 'x' }, tag));
});

test('a pinned skill is nobody else, whatever the table says', () => {
  said(
    () => assign(empty, root, { skill_id: 'updates', bundle: 'x' }, tag),
    'forbidden',
    /part of the image/,
  );
  const hostile = parseTable(
    printTable(
      new Map([
        [1, { state: 'used', skill_id: 'evil', bundle: 'evil-1', tag }],
        [2, { state: 'freed' }],
        [3, { state: 'used', skill_id: 'updates', bundle: 'evil-1', tag }],
        [4, { state: 'used', skill_id: 'logs', bundle: 'evil-1', tag }],
      ]),
    ),
  );
  const found = occupied(hostile, root);
  assert.equal(found.get(1), { slot: 1, skill_id: 'hub_status', bundle: undefined, tag: 'pinned' });
  assert.equal(found.get(2), { slot: 2, skill_id: 'updates', bundle: undefined, tag: 'pinned' });
  assert.not(found.has(3));
  assert.equal(found.get(4), { slot: 4, skill_id: 'logs', bundle: undefined, tag }, "the root's own code");
});

test("the root's other skills get slots, keep them, and lose them with the root that had them", () => {
  const first = settle(empty, root, () => tag);
  assert.equal(first.homeless, []);
  assert.is(slotIn(first.table, 'logs'), 3);
  assert.is(printTable(settle(first.table, root, () => other).table), printTable(first.table));
  const without = settle(first.table, { ...root, builtin: ['hub_status', 'updates'] }, () => other);
  assert.equal([...without.table], [[3, { state: 'freed' }]]);
  const full = filled(SLOTS - root.pins.size);
  assert.equal(settle(full, root, () => other).homeless, ['logs']);
  assert.is(printTable(settle(full, root, () => other).table), printTable(full), 'nobody is put out for it');
});

test('a skill that is pinned from now on leaves its old slot to be wiped', () => {
  const old = settle(empty, { builtin: ['updates'], pins: new Map() }, () => tag).table;
  assert.equal([...settle(old, root, () => other).table].slice(0, 1), [[1, { state: 'freed' }]]);
});

const broken: [what: string, text: string, words: RegExp][] = [
  ['no JSON', '{"slots":', /no JSON/],
  ['empty', '', /no JSON/],
  ['a list', '[]', /no object/],
  ['more fields', '{"slots":{},"more":1}', /nobody knows/],
  ['slots that are none', '{"slots":{"17":{"state":"freed"}}}', /"17"/],
  ['slots spelled otherwise', '{"slots":{"01":{"state":"freed"}}}', /"01"/],
  ['a prototype', '{"slots":{"__proto__":{"state":"freed"}}}', /"__proto__"/],
  ['no row', '{"slots":{"3":null}}', /no object for slot 3/],
  ['a state of its own', '{"slots":{"3":{"state":"root"}}}', /no state/],
  ['a freed skill', '{"slots":{"3":{"state":"freed","skill_id":"x"}}}', /used and free/],
  ['no tag', '{"slots":{"3":{"state":"used","skill_id":"x"}}}', /no tag/],
  ['a wrong id', `{"slots":{"3":{"state":"used","skill_id":"../x","tag":"${tag}"}}}`, /no skill id/],
  [
    'two of one',
    `{"slots":{"3":{"state":"used","skill_id":"x","tag":"${tag}"},"4":{"state":"used","skill_id":"x","tag":"${tag}"}}}`,
    /x twice/,
  ],
  ...['../../etc', '/etc', '.', '..', 'a/b', 'a\\u0000b', ''].map((path): [string, string, RegExp] => [
    `the folder "${path}"`,
    `{"slots":{"3":{"state":"used","skill_id":"x","tag":"${tag}","bundle":"${path}"}}}`,
    /no folder of bundles/,
  ]),
  ['too much', `{"slots":{}}${' '.repeat(70_000)}`, /too large/],
];
for (const [what, text, words] of broken)
  test(`a table with ${what} is refused whole`, () => said(() => parseTable(text), 'invalid_request', words));

test('pins that cannot be are refused', () => {
  for (const text of ['[]', '{"a":0}', '{"a":17}', '{"a":1.5}', '{"A":1}', '{"a":1,"b":1}'])
    said(() => parsePins(text), 'invalid_request', /table of skills/);
});

const id = fc.constantFrom('a', 'b', 'c', 'd', 'logs', 'updates', 'hub_status');
const step = fc.oneof(
  fc.record({ do: fc.constant('assign' as const), id, bundle: fc.constantFrom('x-1', 'y_2.0') }),
  fc.record({ do: fc.constant('free' as const), id }),
  fc.record({ do: fc.constant('settle' as const) }),
);
test('whatever is installed and removed: one slot each, none of the pinned, and the file reads back', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let t = empty;
      let drawn = 0;
      const draw = () => (++drawn).toString(16).padStart(32, '0');
      for (const s of steps) {
        const before = occupied(t, root);
        try {
          if (s.do === 'assign') t = assign(t, root, { skill_id: s.id, bundle: s.bundle }, draw());
          else if (s.do === 'free') t = free(t, s.id);
          else t = settle(t, root, draw).table;
        } catch (e) {
          assert.instance(e, IngleError);
        }
        assert.equal([...parseTable(printTable(t))].sort(), [...t].sort());
        const now = occupied(t, root);
        const ids = [...now.values()].map((x) => x.skill_id);
        assert.is(new Set(ids).size, ids.length);
        assert.is(now.get(1)?.skill_id, 'hub_status');
        assert.is(now.get(2)?.skill_id, 'updates');
        for (const [slot, was] of before) {
          const is = now.get(slot);
          // Who stays keeps the tag, and so the state; who comes never has an earlier one's.
          if (is?.skill_id === was.skill_id) assert.is(is.tag, was.tag);
          else if (is) assert.is.not(is.tag, was.tag);
        }
      }
    }),
  );
});

test('a slot whose process hangs is waited for until its watchdog has ended it', () => {
  const unit = readFileSync('systemd/units/ingle-skill@.service', 'utf8');
  const seconds = (name: string) => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(unit)![1]);
  assert.ok(LEAVE_MS > 1000 * (seconds('WatchdogSec') + seconds('TimeoutStopSec')));
});

test('a table made of anything is refused or fits', () => {
  const json = fc.json({ maxDepth: 4 });
  const row = fc.dictionary(
    fc.constantFrom('state', 'skill_id', 'bundle', 'tag', '__proto__'),
    fc.oneof(fc.constantFrom('used', 'freed', 'updates', tag, '../x', 'x-1'), fc.jsonValue({ maxDepth: 1 })),
  );
  const near = fc
    .dictionary(fc.oneof(fc.integer({ min: -1, max: 18 }).map(String), fc.string({ maxLength: 4 })), row)
    .map((slots) => JSON.stringify({ slots }));
  fc.assert(
    fc.property(fc.oneof(json, near), (text) => {
      let table: Table;
      try {
        table = parseTable(text);
      } catch (e) {
        assert.instance(e, IngleError);
        return;
      }
      for (const s of occupied(table, root).values())
        if (s.bundle !== undefined) assert.match(s.bundle, /^[a-z0-9][A-Za-z0-9_.+-]*$/);
    }),
    { numRuns: 2000 },
  );
});

test.run();
