// Patterns: what they may be, and what is said of those that are none.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileIntents } from '../../firmware/intent/match.ts';
import { MAX_TEXT, MAX_WORDS, tokensOf } from '../../firmware/intent/normal.ts';
import { faultsOfRules } from '../../firmware/intent/schema.ts';
import { type Node, parseTemplate, slotsOf, tryTemplate } from '../../firmware/intent/template.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { busyFor } from '../lab/busy.ts';

const test = suite('patterns and rule sets');

/** A tree as one text, each bracket once more. */
const shown = (n: Node): string =>
  n.kind === 'word'
    ? n.word
    : n.kind === 'slot'
      ? `{${n.name}:${n.type}}`
      : n.kind === 'optional'
        ? `[${shown(n.of)}]`
        : n.kind === 'choice'
          ? `(${n.of.map(shown).join('|')})`
          : n.parts.map(shown).join(' ');

test('text is words: small letters, no punctuation, ё as е, units apart', () => {
  for (const [text, words] of [
    ['  Turn ON,   the Lights!  ', 'turn on the lights'],
    ['Ёлка', 'елка'],
    ['е\u0308лка и\u0306од', 'елка йод'],
    ["What’s 7 o'clock", "what's 7 o'clock"],
    ['ﬁre ＬＩＧＨＴ', 'fire light'],
    ['7:30pm', '7:30 pm'],
    ['20°C, 40%', '20 ° c 40 %'],
    ['1,5 and 1,000 and 2.50', '1.5 and 1000 and 2.50'],
    ['twenty-five по-русски', 'twenty five по русски'],
    ['5th 5-го 1st', '5th 5го 1st'],
    ['-3 10-12 −4', '-3 10 12 -4'],
    ['2026-12-25 25.12.2026', '2026-12-25 25.12.2026'],
    ["'quoted' 'tis", 'quoted tis'],
    ['🙂 … —', ''],
  ] as const)
    assert.is(tokensOf(text).join(' '), words, text);
  assert.equal(tokensOf('a'.repeat(MAX_TEXT + 1)), []);
  assert.equal(tokensOf('a '.repeat(MAX_WORDS + 1)), []);
});

test('a pattern is one tree', () => {
  for (const [pattern, tree] of [
    ['Turn ON', 'turn on'],
    ['[please] (turn|switch) on {what}', '[please] (turn|switch) on {what:free}'],
    ['set [a|the] timer', 'set [(a|the)] timer'],
    ['a|b c', '(a|b c)'],
    ['(a [b (c|d)]|{n:number}) e', '(a [b (c|d)]|{n:number}) e'],
    ['{ n : number }%', '{n:number} %'],
    ['Ёлка, гори!', 'елка гори'],
  ] as const)
    assert.is(shown(parseTemplate(pattern)), tree, pattern);
  assert.equal(slotsOf(parseTemplate('(a {x}|b {x:time}) [{y}]')), [
    { name: 'x', type: 'free' },
    { name: 'x', type: 'time' },
    { name: 'y', type: 'free' },
  ]);
});

test('of a pattern that is none it is said what is wrong, and where', () => {
  for (const [pattern, offset, says] of [
    ['', 0, 'without words'],
    ['turn (on', 5, 'without its ")"'],
    ['turn on)', 7, 'without its opening bracket'],
    ['turn [on)', 5, 'without its "]"'],
    ['turn {what', 5, 'without its "}"'],
    ['turn what}', 9, 'without its "{"'],
    ['turn {What}', 5, 'small Latin letters'],
    ['turn {}', 5, 'written {name}'],
    ['light[s] on', 5, 'inside a word'],
    ['(a)b', 3, 'inside a word'],
    ['a (b|)', 5, 'without words'],
    ['[a] [b]', 0, 'left out as a whole'],
    ['{x} and {x}', 0, 'the slot "x" twice'],
    ['((((((((a))))))))', 6, 'more than 6 deep'],
    [`a (${'b|'.repeat(70)}c)`, 131, 'more than 64 alternatives'],
    ['a '.repeat(100), 0, 'taken'],
    ['a '.repeat(101), 0, 'more than 100 words'],
    ['[a] '.repeat(99) + 'a', 0, 'taken'],
    ['[a]'.repeat(130), 300, 'more than 200 parts'],
    ['a '.repeat(201), 400, 'more than 400 characters'],
    ['{a} {b} {c} {d} {e} {f} {g} {h} {i}', 0, 'more than 8 slots'],
  ] as const) {
    const parsed = tryTemplate(pattern);
    const fault = 'fault' in parsed ? parsed.fault : { offset: 0, says: 'taken' };
    assert.is(fault.offset, offset, `${pattern}: ${fault.says}`);
    assert.ok(fault.says.includes(says), fault.says);
  }
});

test('brackets that say nothing leave no trace', () => {
  assert.equal(tryTemplate('0 (a 0)'), tryTemplate('0 a 0'));
});

test('whatever is given for a pattern is a tree or a fault, at once', () => {
  const piece = fc.constantFrom('[', ']', '(', ')', '{', '}', '|', ' ', 'a', 'да', ':', '{x}', '{n:number}');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 200 }).map((p) => p.join('')),
      ),
      (text) => {
        const { ms, gave: parsed } = busyFor(() => tryTemplate(text));
        assert.ok(ms < 500, `${ms} ms`);
        if ('fault' in parsed) assert.ok(parsed.fault.offset >= 0 && parsed.fault.offset <= text.length);
        else assert.equal(tryTemplate(shown(parsed.node)), parsed);
      },
    ),
    { numRuns: 2000 },
  );
});

test('all faults of a rule set are told at once, each at its place', () => {
  const rules = [
    { intent: 'a', pattern: 'turn (on' },
    { intent: 'b', patterns: { en: ['go {x:planets}'], ru: ['иди', '[куда]'] } },
    { intent: 'c' },
    { intent: 'd', pattern: 'do {x}', slots: { x: { value: 1 }, y: { type: 'nowhere' } } },
    { intent: 'e', pattern: 'do {x}', slots: { x: { type: 'rooms' } } },
  ];
  const lists = { rooms: [{ out: 'k', says: ['kitchen', '?!'] }], number: [{ out: 1, says: ['one'] }] };
  assert.equal(
    faultsOfRules({ rules, lists }).map((f) => f.pointer),
    [
      '/lists/rooms/0/says',
      '/lists/number',
      '/rules/0/pattern',
      '/rules/1/patterns/en/0',
      '/rules/1/patterns/ru/1',
      '/rules/2',
      '/rules/3/pattern',
      '/rules/3/slots/y/type',
    ],
  );
  assert.throws(
    () => compileIntents({ rules, lists }),
    (e: IngleError) => e.code === 'invalid_request' && e.message.includes('/rules/1/patterns/ru/1'),
  );
});

test('a rule set has the form of its schema, and nothing beside it', () => {
  for (const [value, pointer] of [
    [null, ''],
    [{}, '/rules'],
    [{ rules: [{ pattern: 'a' }] }, '/rules/0/intent'],
    [{ rules: [{ intent: 'a b', pattern: 'a' }] }, '/rules/0/intent'],
    [{ rules: [{ intent: 'a', pattern: 'a', more: 1 }] }, '/rules/0/more'],
    [{ rules: [{ intent: 'a', patterns: {} }] }, '/rules/0/patterns'],
    [{ rules: [{ intent: 'a', patterns: { de: ['a'] } }] }, '/rules/0/patterns/de'],
    [{ rules: [], lists: { a: [] } }, '/lists/a'],
    [{ rules: [], lists: { a: [{ out: {}, says: ['a'] }] } }, '/lists/a/0/out'],
    [{ rules: [], lists: { a: [{ out: 1, says: 'a' }] } }, '/lists/a/0/says'],
  ] as const)
    assert.is(faultsOfRules(value)[0]?.pointer, pointer, JSON.stringify(value));
  assert.equal(faultsOfRules({ rules: [] }), []);
});

test.run();
