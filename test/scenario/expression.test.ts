// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of scenarios
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import {
  evaluate,
  LIMITS,
  namesOf,
  parseExpression,
  type Value,
} from '../../firmware/scenario/expression.ts';
import { conditionOf, fill, namesIn, templateOf } from '../../firmware/scenario/template.ts';

const scope = {
  vars: { x: 2, name: 'Ann', list: [1, 2, 3], has_name: true, empty: '', deep: { a: [{ b: 'c' }] } },
  steps: { ask: { result: { heard: true, text: 'yes' } } },
  params: { city: 'Berlin', t: 21.5 },
  slots: { player: true },
  $: { payload: { temp: 25, kind: 'hot' } },
};
const value = (text: string): Value => evaluate(parseExpression(text), scope);

const golden: [text: string, value: Value][] = [
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['10 - 2 - 3', 5],
  ['7 % 4', 3],
  ['1 / 0', null],
  ['-vars.x', -2],
  ['- -2', 2],
  ["'a' + 1", 'a1'],
  ['1 + null', null],
  ['vars.name', 'Ann'],
  ['vars.list[1]', 2],
  ['vars.list[vars.x]', 3],
  ['vars.list[9]', null],
  ['vars["name"]', 'Ann'],
  ['vars.deep.a[0].b', 'c'],
  ['vars.none.at.all', null],
  ['nothing', null],
  ['not vars.has_name', false],
  ['not vars.none', true],
  ['not vars.x == 3', true],
  ['!vars.x == false', true],
  ['vars.x == 2 and vars.name == "Ann"', true],
  ['vars.x > 2 or params.t >= 21.5', true],
  ['vars.x > 2 || vars.name', 'Ann'],
  ['vars.empty && 1', ''],
  ["'2' == 2", false],
  ["'b' > 'a'", true],
  ["'b' > 1", false],
  ['[1, 2] == [1, 2]', true],
  ['2 in vars.list', true],
  ["'nn' in vars.name", true],
  ["'x' in vars", true],
  ['$.payload.temp > 20', true],
  ["$.payload['kind'] == 'hot'", true],
  ["hasSlot('player')", true],
  ["hasSlot('lamp')", false],
  ["hasSlot('__proto__')", false],
  ['len(vars.list)', 3],
  ["len('')", 0],
  ['upper(vars.name)', 'ANN'],
  ["lower('Äß')", 'äß'],
  ["trim('  a ')", 'a'],
  ["number('21,5')", 21.5],
  ["number('0x10')", null],
  ['round(21.456, 1)', 21.5],
  ['min(3, [1, 2])', 1],
  ['max([])', null],
  ["join(vars.list, '-')", '1-2-3'],
  ['contains(vars.list, 3)', true],
  ["default(vars.none, 'x')", 'x'],
  ["'it''s'", null],
  ["'a\\'b\\n'", "a'b\n"],
  ['true and not false', true],
  ['', null],
];

test('expressions have the values that are written beside them', () => {
  for (const [text, wanted] of golden) {
    if (text === '' || text === "'it''s'") {
      assert.throws(
        () => parseExpression(text),
        (e: IngleError) => e.code === 'invalid_request',
        text,
      );
      continue;
    }
    assert.equal(value(text), wanted, text);
  }
});

/** Ways out of expr-eval (CVE-2025-12735, CVE-2025-13204), Jexl, static-eval (CVE-2021-23334), jsonpath (CVE-2024-21534) and friends. */
const escapes = [
  'constructor',
  'constructor.constructor("return process")()',
  'vars.constructor',
  'vars.name.constructor',
  "vars['constructor']['constructor']('return this')()",
  'vars.__proto__',
  "vars['__proto__'].polluted",
  "vars['__pro' + 'to__']",
  'vars.list.map(x => x)',
  'vars.list.constructor.from',
  'toString.constructor',
  'hasOwnProperty',
  'vars.toString()',
  'len.constructor',
  'len.call(1)',
  '(len)("x")',
  'eval("1")',
  'Function("return 1")()',
  'process.exit(1)',
  'global.process.mainModule.require("child_process")',
  'require("fs")',
  'import("fs")',
  'this.constructor',
  'globalThis',
  'f = 1',
  'vars.x = 5',
  'vars.x++',
  'x => x',
  'function(){return 1}()',
  'new Date()',
  '`${1}`',
  '"a".replace("a", "b")',
  "''.constructor.constructor('return 1')()",
  '$..[?(@.constructor)]',
  '$[?(1)]',
  '$[(process)]',
  "$.payload.__proto__['x']",
  '@.constructor',
  'a|b:c',
  'a ? b : c',
  '({}).constructor',
  '{a: 1}',
  '/a/.test("a")',
  'vars;process',
  '__defineGetter__("a", 1)',
  "hasSlot('constructor')",
  "default(vars.constructor, 'safe')",
  'join([[]].constructor)',
  'min.apply(null)',
];

test('no published way out of an expression language leads anywhere', () => {
  for (const text of escapes) {
    let got: Value = null;
    try {
      got = value(text);
    } catch (e) {
      assert.instance(e, IngleError, text);
      continue;
    }
    assert.ok(got === null || got === false || got === 'safe' || got === '', `${text} gave ${String(got)}`);
  }
  assert.is(({} as Record<string, unknown>)['polluted'], undefined);
});

test('bombs are refused by size, depth and work, quickly', () => {
  const bombs = [
    `${'('.repeat(500)}1${')'.repeat(500)}`,
    '-'.repeat(1000) + '1',
    'not '.repeat(400) + '1',
    `a${'[0'.repeat(600)}${']'.repeat(600)}`,
    `${'1+'.repeat(900)}1`,
    'x'.repeat(LIMITS.source + 1),
    `[${'1,'.repeat(900)}1]`,
    "'".repeat(1999),
    '['.repeat(1000),
    `'${'\\'.repeat(1990)}`,
  ];
  for (const bomb of bombs)
    assert.throws(
      () => value(bomb),
      (e: unknown) => e instanceof IngleError,
      bomb.slice(0, 20),
    );
  const long = { vars: { t: 'x'.repeat(60_000) } };
  assert.throws(
    () => evaluate(parseExpression('vars.t + vars.t'), long),
    (e: IngleError) => e.code === 'too_large',
  );
  assert.throws(
    () => fill(templateOf('${vars.t}${vars.t}'), long),
    (e: IngleError) => e.code === 'too_large',
  );
});

test('whatever is written, an expression ends, in a value or in a clear error', () => {
  const word = fc.constantFrom(
    ...[
      'vars',
      '.',
      'x',
      '[',
      ']',
      '(',
      ')',
      '+',
      '==',
      'not',
      'and',
      '$',
      "'a'",
      '1',
      ',',
      'len',
      'hasSlot',
      '!',
      '-',
      ' ',
    ],
  );
  const text = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(word, { maxLength: 40 }).map((w) => w.join('')),
  );
  fc.assert(
    fc.property(text, fc.jsonValue(), (t, vars) => {
      try {
        const e = parseExpression(t);
        assert.ok(namesOf(e).every((n) => typeof n === 'string'));
        JSON.stringify(evaluate(e, { vars }));
      } catch (e) {
        assert.instance(e, IngleError);
      }
    }),
    { numRuns: 5000 },
  );
});

test('values with expressions in them keep their types, and $${ is plain text', () => {
  const filled = (v: unknown) => fill(templateOf(v), scope);
  assert.equal(filled('${vars.list}'), [1, 2, 3]);
  assert.is(filled('It is ${params.t} in ${params.city}'), 'It is 21.5 in Berlin');
  assert.is(filled('$${vars.x} costs $5'), '${vars.x} costs $5');
  assert.is(filled("${'}'}"), '}');
  assert.equal(filled({ a: ['${vars.x}', { b: '${vars.none}' }], c: 1 }), { a: [2, { b: null }], c: 1 });
  assert.equal(namesIn(templateOf({ a: '${vars.x} ${hasSlot("p")}' })), ['vars', 'slots']);
  assert.is(evaluate(conditionOf('${not vars.none}'), scope), true);
  for (const [v, pointer] of [
    ['${', ''],
    [{ a: ['x', '${1 +}'] }, '/a/1'],
    [{ 'a/b': '${)}' }, '/a~1b'],
    [JSON.parse('{"__proto__": 1}'), '/__proto__'],
  ] as const)
    assert.throws(
      () => templateOf(v),
      (e: IngleError) => e.details?.['pointer'] === pointer,
      JSON.stringify(v),
    );
});

test.run();
