// What of Vega-Lite a document may say: what is drawn stays as it is, and what would lead out, run code or have no end is
// left out or refused, each with a sentence for its author.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { safeRow, safeSpec, safeText, vegaBounds, withTypes } from '../../firmware/ui/vega.ts';
import { isPlainExpression } from '../../firmware/ui/vega-expression.ts';

const x = { field: 'day', type: 'nominal' };
const y = { field: 'kwh', type: 'quantitative' };
const bars = { mark: 'bar', encoding: { x, y } };
const kept = (given: unknown) => {
  const safe = safeSpec(given);
  if ('refused' in safe) throw new Error(safe.refused);
  return safe;
};
const refused = (given: unknown): string | undefined => {
  const safe = safeSpec(given);
  return 'refused' in safe ? safe.refused : undefined;
};
const encoded = (channel: object, mark: unknown = 'bar') => ({
  mark,
  encoding: { x: { ...x, ...channel }, y },
});
const transformed = (...transform: unknown[]) => ({ ...bars, transform });

const good: [string, object][] = [
  ['bars', bars],
  ['large points', { ...bars, mark: { type: 'point', size: 10_000 } }],
  ['a mark with a look', { ...bars, mark: { type: 'bar', color: '#a8431a', cornerRadius: 4, opacity: 0.5 } }],
  [
    'layers',
    { title: 'Power', layer: [bars, { mark: { type: 'rule', strokeDash: [4, 2] }, encoding: { y } }] },
  ],
  ['its own data', { ...bars, data: { values: [{ day: 'a', kwh: 1 }, 7, null] } }],
  [
    'bins and sums',
    { mark: 'bar', encoding: { x: { field: 'kwh', bin: { maxbins: 30 } }, y: { aggregate: 'count' } } },
  ],
  [
    'time',
    { mark: 'area', encoding: { x: { field: 'at', timeUnit: 'yearmonthdate', type: 'temporal' }, y } },
  ],
  [
    'a pie',
    {
      mark: { type: 'arc', innerRadius: 40 },
      encoding: { theta: y, color: { ...x, scale: { scheme: 'tableau10' } } },
    },
  ],
  [
    'an axis',
    encoded({
      axis: { format: '.1f', tickCount: 5, gridDash: [2, 2], labelExpr: 'datum.value * 2', values: [1, 2] },
    }),
  ],
  ['a condition', encoded({ condition: { test: { field: 'kwh', gt: 3 }, value: 'red' }, value: 'blue' })],
  [
    'what picks, sums and orders rows',
    transformed(
      { filter: { and: ['datum.kwh > 3', { not: { field: 'day', oneOf: ['a'] } }] } },
      { calculate: "if(datum.kwh >= 2, 'much', 'little')", as: 'how' },
      { aggregate: [{ op: 'mean', field: 'kwh', as: 'm' }], groupby: ['how'] },
      { window: [{ op: 'rank', as: 'r' }], sort: [{ field: 'm', order: 'descending' }] },
    ),
  ],
  [
    'what shapes them',
    transformed(
      { fold: ['a', 'b'] },
      { bin: { maxbins: 10 }, field: 'kwh', as: 'b' },
      { timeUnit: 'month', field: 'at', as: 'mon' },
      { stack: 'kwh', groupby: ['day'], as: ['s', 'e'] },
      { joinaggregate: [{ op: 'max', field: 'kwh', as: 'top' }] },
    ),
  ],
];
for (const [name, spec] of good)
  test(`${name}: kept as it is, and the same when it is read again`, () => {
    const { spec: safe, left } = kept(spec);
    assert.equal([safe, left], [spec, []]);
    assert.equal(kept(safe).spec, safe);
  });

const many = (n: number) => Array.from({ length: n }, (_, i) => i);
const wrong: [string, unknown, RegExp][] = [
  ['no mark', { encoding: { x } }, /mark/],
  ['a mark and layers', { ...bars, layer: [bars] }, /mark/],
  ['an image', { mark: 'image' }, /"image" is no mark/],
  ['a map', { mark: 'geoshape' }, /"geoshape"/],
  ['a mark with a hostile name', { mark: 'constructor' }, /"constructor"/],
  ['a signal', encoded({ axis: { labelColor: { signal: 'x' } } }), /"signal"/],
  ['an expression for a value', { ...bars, mark: { type: 'bar', width: { expr: 'x' } } }, /"expr"/],
  ['a parameter', encoded({ condition: { param: 'p', value: 1 } }), /"param"/],
  ['an encoding of an axis', encoded({ axis: { encoding: { labels: {} } } }), /"encoding"/],
  ['a step of bins', encoded({ bin: { step: 1e-9 } }), /"bin"/],
  ['bins without end', encoded({ bin: { maxbins: 1e9 } }), /"bin"/],
  ['bins of a scale', encoded({ scale: { bins: { step: 1e-9 } } }), /"bins"/],
  ['a base near one', encoded({ scale: { type: 'log', base: 1.000001 } }), /"base"/],
  ['ticks without end', encoded({ axis: { tickCount: 1e9 } }), /"tickCount"/],
  ['ticks of a second', encoded({ axis: { tickCount: { interval: 'second' } } }), /"tickCount"/],
  ['ticks nobody counts', encoded({ axis: { tickCount: -1 } }), /"tickCount"/],
  ['a scheme without end', encoded({ scale: { scheme: { name: 'blues', count: 1e9 } } }), /"scheme"/],
  ['rounding without end', encoded({ scale: { nice: { interval: 'millisecond' } } }), /"nice"/],
  ['no scale, so that data are colours', encoded({ scale: null }), /"scale"/],
  ['a number a gigabyte wide', encoded({ axis: { format: '999999999d' } }), /"format"/],
  ['a format of somebody', encoded({ axis: { formatType: 'mine' } }), /"formatType"/],
  ['a legend in a billionth of a column', encoded({ legend: { columns: 1e-9 } }), /"columns"/],
  ['a legend of many columns', encoded({ legend: { columns: 1e6 } }), /"columns"/],
  ['letters of a billion pixels', encoded({ axis: { labelFontSize: 1e9 } }), /"labelFontSize" .* pixels/],
  ['a gap as wide', encoded({}, { type: 'bar', xOffset: -1e9 }), /"xOffset" .* pixels/],
  ['a legend without end', encoded({ legend: { symbolLimit: 1e9 } }), /"symbolLimit"/],
  [
    'dashes finer than a pixel',
    { ...bars, mark: { type: 'line', strokeDash: [1e-9, 1e-9] } },
    /"strokeDash"/,
  ],
  ['dashes of a channel', { mark: 'line', encoding: { x, strokeDash: { value: [1e-9] } } }, /"strokeDash"/],
  ['a bootstrap', encoded({ aggregate: 'ci0' }), /"aggregate"/],
  ['a bootstrap of bars', { mark: { type: 'errorbar', extent: 'ci' }, encoding: { x, y } }, /"extent"/],
  ['made-up rows', encoded({ impute: { keyvals: { start: 0, stop: 1e9 } } }), /"impute"/],
  ['an address in a colour', { ...bars, mark: { type: 'bar', color: 'url(https://x.y/z.svg#p)' } }, /url/],
  ['an address with escapes', { ...bars, mark: { type: 'bar', color: 'u\\72l(https://x.y)' } }, /no "/],
  ['code as a condition', encoded({ condition: { test: "regexp('(a+)+$')", value: 1 } }), /"test"/],
  ['code in a label', encoded({ axis: { labelExpr: "warn('x')" } }), /"labelExpr"/],
  ['a filter that is code', transformed({ filter: 'test(/(a+)+$/, datum.x)' }), /"filter"/],
  ['a filter that is code, in a not', transformed({ filter: { not: { or: ['now()'] } } }), /"filter"/],
  [
    'a filter deeper than one reads',
    transformed({ filter: many(9).reduce<unknown>((not) => ({ not }), 'datum.x') }),
    /"filter"/,
  ],
  ['a filter of a parameter', transformed({ filter: { param: 'p' } }), /"filter"/],
  ['a transform with two names', transformed({ filter: 'datum.x', sample: 3 }), /transform/],
  ['transforms that are none', transformed(7), /transform/],
  ['an operation with code', transformed({ aggregate: [{ op: 'values', as: 'v' }] }), /"op"/],
  ['too many transforms', transformed(...many(9).map(() => ({ filter: 'datum.x' }))), /8 transforms/],
  [
    'too much that is worked out',
    transformed(...many(4).map((n) => ({ calculate: 'datum.x', as: `a${n}` }))),
    /3 calculated/,
  ],
  ['too many layers', { layer: many(9).map(() => bars) }, /8 layers/],
  ['layers in layers in layers', { layer: [{ layer: [{ layer: [bars] }] }] }, /two levels/],
  ['too deep a value', encoded({ axis: many(20).reduce<unknown>((a) => ({ a }), 1) }), /levels deep/],
  ['too long a list', encoded({ sort: many(101) }), /at most 100 elements/],
  ['too much data', { ...bars, data: { values: many(6000) } }, /5000 values/],
  [
    'rows with too many fields',
    { ...bars, data: { values: many(100).map(() => Object.fromEntries(many(60).map((n) => [n, n]))) } },
    /5000 values/,
  ],
  [
    'a field that all objects have',
    { mark: 'bar', encoding: { x: { field: '__proto__', aggregate: 'sum' }, y } },
    /all objects/,
  ],
  ['such a field within another', encoded({ field: 'a[constructor]' }), /all objects/],
  ['such a name for what is worked out', transformed({ calculate: '1', as: 'toString' }), /all objects/],
  ['a key that all objects have', { ...bars, resolve: { scale: { valueOf: 'shared' } } }, /"valueOf"/],
  ['a huge number', encoded({ scale: { domain: [0, 1e300] } }), /1e16/],
  ['no object', 'bar', /object/],
  ['an encoding that is none', { mark: 'bar', encoding: 'x' }, /channels/],
];
for (const name of [
  'density',
  'regression',
  'loess',
  'quantile',
  'impute',
  'lookup',
  'flatten',
  'pivot',
  'sample',
  'extent',
])
  wrong.push([`the transform ${name}`, transformed({ [name]: 'kwh' }), /transform|"impute"/]);
for (const [name, spec, says] of wrong)
  test(`${name} is refused, and its author told why`, () => {
    assert.match(refused(spec) ?? 'it is kept', says);
  });

test('what would be loaded, shown elsewhere or set for the page is left out, and the rest is drawn', () => {
  const { spec, left } = kept({
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    config: { background: 'red' },
    background: 'red',
    usermeta: { embedOptions: { loader: {} } },
    autosize: 'none',
    params: [{ name: 'p', bind: { input: 'range' } }],
    datasets: { a: [] },
    projection: { type: 'mercator' },
    data: { url: 'https://x.y/z.json', sequence: { start: 0, stop: 1e9 }, format: { type: 'csv' } },
    mark: { type: 'bar', href: 'javascript:alert(1)', cursor: 'url(x)' },
    encoding: {
      x,
      y,
      href: { field: 'link' },
      url: { field: 'image' },
      facet: { field: 'day' },
      row: { field: 'day' },
      latitude: { field: 'lat' },
    },
  });
  assert.equal(spec, { ...bars, mark: { type: 'bar' } });
  assert.equal(
    left.sort(),
    [
      ...[
        'autosize',
        'background',
        'config',
        'cursor',
        'datasets',
        'facet',
        'format',
        'href',
        'latitude',
        'params',
      ],
      ...['projection', 'row', 'sequence', 'url', 'usermeta'],
    ].sort(),
  );
});

test('more than one mark a row, and rows that become several, leave fewer rows', () => {
  assert.is(kept(bars).rows, 2000);
  assert.is(kept({ layer: many(6).map(() => bars) }).rows, 1000);
  assert.is(kept({ ...bars, mark: 'boxplot' }).rows, 1000);
  assert.is(kept(transformed({ fold: many(12).map(String) })).rows, 500);
  assert.is(kept(transformed({ fold: many(100).map(String) }, { fold: many(100).map(String) })).rows, 0);
});

test('a row is plain values: no list, no prototype, no number beyond counting, no book in a cell', () => {
  const row = JSON.parse(
    '{"a":1,"b":1e300,"c":[1],"d":{"e":{"f":{"g":1}}},"__proto__":{"x":1},"n":null,"t":true}',
  );
  assert.equal(safeRow({ ...row, s: 'x'.repeat(5000), u: undefined }), {
    ...{ a: 1, b: null, c: null, d: { e: { f: null } }, n: null, t: true, u: null },
    s: 'x'.repeat(vegaBounds.text),
  });
  assert.is(Object.hasOwn(safeRow(row) as object, '__proto__'), false);
  assert.is(Object.keys(safeRow(Object.fromEntries(many(90).map((n) => [`f${n}`, n]))) as object).length, 50);
  assert.is(safeRow(Number.NaN), null);
  assert.equal(safeRow({ s: '__proto__', valueOf: 1 }), { s: '\u200b__proto__' });
  assert.is(safeText('x'.repeat(5000)), 'x'.repeat(vegaBounds.text));
});

test('a channel without a type gets that of its data, and keeps their order', () => {
  const rows = [
    { at: null, day: 'b', kwh: null },
    { at: '2026-11-01T10:00:00Z', day: 'a', kwh: 2 },
  ];
  const of = (field: string, more: object = {}) =>
    (
      withTypes({ layer: [{ mark: 'bar', encoding: { x: { field, ...more } } }] }, rows) as unknown as {
        layer: [{ encoding: { x: unknown } }];
      }
    ).layer[0].encoding.x;
  assert.equal(of('at'), { field: 'at', type: 'temporal' });
  assert.equal(of('day'), { sort: null, field: 'day', type: 'nominal' });
  assert.equal(of('day', { sort: '-y' }), { sort: '-y', field: 'day', type: 'nominal' });
  assert.equal(of('kwh'), { field: 'kwh', type: 'quantitative' });
  assert.equal(of('kwh', { type: 'ordinal' }), { field: 'kwh', type: 'ordinal' });
  assert.equal(of('kwh', { bin: true }), { field: 'kwh', bin: true });
  assert.equal(of('nowhere'), { field: 'nowhere' });
  assert.equal(of('constructor'), { field: 'constructor' });
});

test('an expression is arithmetic, comparisons and dates of a row', () => {
  for (const text of [
    'datum.kwh * 1000',
    "datum['a b'] / 2 >= 1e3 && !(datum.c === null)",
    'datum.list[0] % 2',
    "if(isValid(datum.x), round(datum.x * 10) / 10, 'none')",
    'year(datum.at) == 2026 ? -1 : PI',
    'datum.x + datum.y + 1',
    ' max( datum.a , 0 ) ',
    'datum.label',
  ])
    assert.is(isPlainExpression(text), true, text);
  for (const text of [
    '',
    ' ',
    7,
    null,
    'x'.repeat(201),
    'datum.a + 1 + 1 + 1 + 1 + 1',
    'alert(1)',
    'regexp("(a+)+$")',
    'test(/(a+)+$/, datum.x)',
    '/(a+)+$/',
    'datum.x == /a/',
    'datum.x.replace("a", "b")',
    'datum.constructor',
    'datum["constructor"]',
    "datum['__proto__']",
    'datum.__proto__.x',
    "datum['con' + 'structor']",
    'datum[datum.x]',
    'datum[0 + 1]',
    '[1, 2]',
    '[1]',
    'datum.x == /1/',
    '{a: 1}',
    'sequence(0, 1e9)',
    'repeat("x", 1e9)',
    'pad("x", 1e9)',
    "format(1, '999999999d')",
    'data("rows")',
    'event.view',
    'item.mark',
    'width',
    'now()',
    'random()',
    'abs',
    'abs .x',
    '(datum)(1)',
    'datum(1)',
    'true.constructor',
    'a => a',
    'datum.x = 1',
    'datum.x; datum.y',
    '`x`',
    "'\\x41'",
    'toString.constructor("x")',
  ])
    assert.is(isPlainExpression(text), false, String(text));
});

test.run();
