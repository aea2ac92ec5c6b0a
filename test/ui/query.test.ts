import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { iregexp } from '../../firmware/ui/iregexp.ts';
import { queryFault, runQuery } from '../../firmware/ui/query.ts';

interface Case {
  name: string;
  selector: string;
  document?: unknown;
  result?: unknown[];
  results?: unknown[][];
  invalid_selector?: boolean;
}
// The suite ships in the sources of another implementation.
const home = dirname(createRequire(import.meta.url).resolve('jsonpath-rfc9535/package.json'));
const suite = JSON.parse(
  readFileSync(join(home, 'src/__tests__/jsonpath-compliance-test-suite/cts.json'), 'utf8'),
) as { tests: Case[] };

test('queries are those of RFC 9535, by its compliance suite', () => {
  const failed: string[] = [];
  for (const c of suite.tests) {
    const fault = queryFault(c.selector);
    const values = runQuery(c.selector, c.document);
    const good = c.invalid_selector
      ? fault !== null && values.length === 0
      : fault === null &&
        (c.results ?? [c.result!]).some((r) => JSON.stringify(r) === JSON.stringify(values));
    if (!good) failed.push(c.name);
  }
  console.log(`FIGURE rfc9535_compliance ${suite.tests.length - failed.length} of ${suite.tests.length}`);
  assert.equal(failed, []);
});

test('a hostile query ends within its budget and finds nothing', () => {
  const wide = Array.from({ length: 2000 }, (_, i) => ({ i, list: [i, [i], { a: i }] }));
  const text = 'a'.repeat(5000);
  const hostile: [string, unknown][] = [
    ['$..*..*..*..*..*', wide],
    ['$..[?@..[?@..[?@..a]]]', wide],
    ['$[?$..i == 1999]', wide],
    ['$..[?@ == $]', wide],
    [`$${'[*,*,*,*]'.repeat(12)}`, [[[[[[[[[[[[1]]]]]]]]]]]]],
    ["$[?search(@, '(a+)+b')]", [text]],
    ["$[?match(@, '(a|a)*(a|a)*(a|a)*b')]", [text]],
    ["$[?search(@, '(((a{0,90}){0,90}){0,90})b')]", [text]],
    [`$${'[?@'.repeat(100)}${']'.repeat(100)}`, wide],
    [`$[?${'('.repeat(200)}@.a${')'.repeat(200)}]`, wide],
  ];
  let worst = 0;
  for (const [query, value] of hostile) {
    const began = performance.now();
    assert.equal(runQuery(query, value), [], query);
    worst = Math.max(worst, performance.now() - began);
  }
  console.log(`FIGURE hostile_query_worst_ms ${worst.toFixed(0)}`);
});

test('a query sees own properties alone', () => {
  for (const q of ["$['__proto__']", '$.constructor', "$.list['length']", '$.toString', '$..constructor'])
    assert.equal(runQuery(q, { list: [1] }), [], q);
  assert.equal(runQuery('$.length', { length: 3 }), [3]);
});

test('all queries of a drawing share what they may take', () => {
  const data = Array.from({ length: 2000 }, (_, i) => ({ i }));
  const left = { looks: 100_000 };
  let found = 0;
  for (let i = 0; i < 1000; i++) found += runQuery('$[?@.i >= 0]', data, left).length > 0 ? 1 : 0;
  assert.ok(found > 0 && found < 30, String(found));
  assert.ok(left.looks >= 0 && left.looks < 100_000, String(left.looks));
  assert.is(runQuery('$[0].i', data).length, 1, 'others have their own');
});

test('what a query finds is the data itself, no guarded copy', () => {
  const data = { a: [{ b: 1 }] };
  assert.ok(runQuery('$.a[?@.b == 1]', data)[0] === data.a[0]);
});

test('a pattern takes what JavaScript takes', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\.', '\\p{L}', '(a|b)', '(ab)', '(a|)', 'ü');
  const piece = fc
    .tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{0,}'))
    .map((p) => p.join(''));
  const pattern = fc.array(piece, { maxLength: 5 }).map((p) => p.join(''));
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', '.', 'ü', '\n'), { maxLength: 7 })
    .map((p) => p.join(''));
  fc.assert(
    fc.property(fc.tuple(pattern, pattern), text, ([one, two], t) => {
      const either = two === '' ? one : `${one}|${two}`;
      const ours = iregexp(either)!;
      const dot = either.replace(/(?<!\\)\./g, '[^\\n\\r]');
      assert.is(ours(t, true), new RegExp(`^(?:${dot})$`, 'u').test(t), `${either} ${t}`);
      assert.is(ours(t, false), new RegExp(dot, 'u').test(t), `${either} in ${t}`);
    }),
    { numRuns: 3000, seed: 9485 },
  );
});

test('what is no I-Regexp is none', () => {
  for (const p of [
    '(',
    'a)',
    'a**',
    '[',
    '\\1',
    '(?:a)',
    'a{2,1}',
    '\\d',
    '*',
    'a{1',
    '\\p{Nope}',
    'x'.repeat(1001),
  ])
    assert.is(iregexp(p), null, p);
});

test.run();
