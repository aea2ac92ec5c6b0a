// Documents of USDL, ULM and A2UI as anybody might write them: good ones, hostile ones, and JSON of any kind. Made by a
// small generator of its own, as 100,000 of them shall take no minutes; a seed gives the same documents again.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** mulberry32: 32 bits of state, a number below 1. */
function randomOf(seed: number) {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), s | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The strings that a kept sanitiser is tested with, out of its tests as they ship. */
function fixtures(): string[] {
  const home = dirname(createRequire(import.meta.url).resolve('insane/package.json'));
  const source = readFileSync(join(home, 'test/insane.js'), 'utf8');
  const literals = [...source.matchAll(/'((?:[^'\\\n]|\\.)*)'/g)].map((m) =>
    m[1]!.replace(/\\n/g, '\n').replace(/\\(.)/g, '$1'),
  );
  const files = ['async', 'cheerio', 'deep', 'dirty'].map((f) =>
    readFileSync(join(home, `test/fixtures/${f}.html`), 'utf8'),
  );
  return [...new Set([...literals.filter((l) => /[<&:]/.test(l)), ...files.map((f) => f.slice(0, 1500))])];
}

/** Ways to a script that filters have missed, after the lists that go around. */
const classics = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '"><svg onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java&#x09;script:alert(1))',
  '[x](&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A;alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](<javascript:alert(1)>)',
  '[x](\u0001javascript:alert(1))',
  '[x]( javascript:alert(1))',
  '[x]: javascript:alert(1)\n\n[x]',
  '<javascript:alert(1)>',
  '<data:text/html;base64,PHNjcmlwdD4=>',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:msgbox(1))',
  '![x](javascript:alert(1))',
  '![x](https://x.y/"onerror="alert(1))',
  '[x](https://a.b/"onclick="alert(1))',
  "[x](https://a.b 'onclick=alert(1)')",
  '[a](https://user:pass@evil.example)',
  '[a](//evil.example)',
  '[a](/\\evil.example)',
  '[a](https:evil.example)',
  '[![x](y)](javascript:alert(1))',
  '`<script>`',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<!--><script>alert(1)//-->',
  '<x/onclick=alert(1)>',
  '&lt;script&gt;',
  '\u202e\u0000\ufeff\u2028',
  '{{constructor.constructor("alert(1)")()}}',
  '{{state.__proto__.x}}',
  '{{state.a[*].b}}',
  "{{$.a[?search(@.b,'(a+)+$')]}}",
  '{{',
  '}}',
  '{{{{state.a}}}}',
  '$.a',
  "$['__proto__']",
  '$.a[?@.b>1]',
  '$..*',
  '$[',
  '$route.id',
  '$row.x',
  "$.a == 'b' && !$.c",
  '__proto__',
  'constructor',
  'https://example.org/',
  'mailto:a@b.c',
  'skill:weather',
  'http://example.org/',
  'file:///etc/passwd',
  '../../etc',
  'x'.repeat(4100),
];
const markdown = [
  '# a\n',
  '## *b* {{state.x}}\n',
  '- a\n',
  '  - b\n',
  '1. c\n',
  '> d\n',
  '>> e\n',
  '```\nf\n```\n',
  '~~~\n',
  '    g\n',
  '---\n',
  '===\n',
  ':::\n',
  ':::card T\n',
  ':::form id=f\n',
  ':::form\n',
  'name: input(required)\n',
  'n "L": chips(a, b=c)\n',
  'x: nope()\n',
  ':::table query=q pageSize=5\n',
  ':::table data=state.rows\n',
  'A | B\n---|---\n{{a}} | **{{b}}**\n',
  ':::what\n',
  '[Go](@action:go submit=f a={{state.x}})\n',
  '[Go](@action:go)\n',
  '*a **b* c**\n',
  '[a][b]\n\n[b]: https://x.y\n',
  '\n',
  '\t',
  '*_`[](<',
  '![a',
  '\\',
  '&amp;&#0;&#x110000;',
];
const names = [
  'type',
  'id',
  'slot',
  'when',
  'i18n',
  'title',
  'label',
  'text',
  'body',
  'components',
  'variant',
  'action',
  'navigate',
  'bind',
  'value',
  'max',
  'input',
  'debounceMs',
  'on',
  'options',
  'fields',
  'actions',
  'columns',
  'data',
  'spec',
  'page',
  'w',
  'h',
  'instead',
  'key',
  'name',
  'query',
  'params',
  'pageSize',
  'source',
  'event',
  'to',
  'emit',
  'payload',
  '$vegaLite',
  'url',
  'href',
  'mark',
  'encoding',
  'x',
  'y',
  'field',
  '__proto__',
  'constructor',
  'component',
  'children',
  'child',
  'path',
  'call',
  'args',
  'surfaceId',
  'required',
  'is',
  'of',
  'act',
  'do',
];
const types = [
  'Card',
  'Toolbar',
  'Input',
  'Select',
  'Button',
  'Table',
  'Form',
  'Progress',
  'Markdown',
  'Chart',
  'Widget',
  'Text',
  'Row',
  'Column',
  'List',
  'Tabs',
  'Modal',
  'Image',
  'Icon',
  'CheckBox',
  'TextField',
  'ChoicePicker',
  'Slider',
  'x',
];

/** Pieces of charts in Vega-Lite that would run code, load, lead out or have no end. */
const hostileCharts: readonly Record<string, unknown>[] = [
  { data: { url: 'https://evil.example/x.csv' } },
  { data: { sequence: { start: 0, stop: 1e9 } } },
  { data: { values: '<script>alert(1)</script>', format: { type: 'csv' } } },
  { mark: 'image' },
  { mark: { type: 'bar', href: 'javascript:alert(1)', tooltip: { content: 'data' } } },
  { mark: { type: 'point', shape: 'M0,0L1e9,1e9Z', size: 1e15 } },
  { mark: { type: 'line', strokeDash: [1e-9, 1e-9], strokeWidth: 1e9 } },
  { mark: { type: 'bar', fill: 'url(https://evil.example/x.svg#a)' } },
  { mark: { type: 'bar', color: { gradient: 'linear', stops: [{ offset: 0, color: 'red' }] } } },
  { mark: { type: 'text', font: '"><svg onload=alert(1)>', fontSize: 1e12, text: { expr: 'warn(1)' } } },
  { mark: 'boxplot' },
  { mark: { type: 'errorband', extent: 'ci' } },
  { params: [{ name: 'p', bind: { input: 'range' } }] },
  { params: [{ name: 'p', select: 'interval', bind: 'scales' }] },
  { config: { background: 'url(https://evil.example/)', customFormatTypes: true } },
  { usermeta: { embedOptions: { loader: { target: '_blank' }, ast: false } } },
  { transform: [{ calculate: "datum.constructor.constructor('alert(1)')()", as: 'x' }] },
  { transform: [{ calculate: 'datum.s + datum.s + datum.s', as: 's' }] },
  {
    transform: [
      { calculate: "datum.s + 'to__'", as: 's' },
      { aggregate: [{ op: 'count', as: 'n' }], groupby: ['s'] },
    ],
  },
  { transform: [{ filter: "test(regexp('(a+)+$'), datum.s)" }] },
  { transform: [{ sequence: { start: 0, stop: 1e9 } }, { flatten: ['l'] }] },
  { transform: [{ density: 'n', steps: 1e9 }] },
  { transform: [{ impute: 'n', key: 's', keyvals: { start: 0, stop: 1e9 } }] },
  { transform: [{ fold: ['n', 's', 'at', 'big'] }, { fold: ['n', 's', 'at', 'big'] }] },
  { transform: [{ aggregate: [{ op: 'sum', field: 'big', as: 'n' }], groupby: ['s'] }] },
  { transform: [{ window: [{ op: 'rank', as: 'n' }], sort: [{ field: 'big' }] }] },
  { transform: [{ stack: 'big', groupby: ['s'], as: ['n', 'm'], offset: 'normalize' }] },
  { transform: [{ bin: { step: 1e-9 }, field: 'big', as: 'n' }] },
  { transform: [{ lookup: 's', from: { data: { url: 'x' }, key: 's' } }] },
  { width: 1e12, height: 1e12 },
  { title: { text: '<img src=x onerror=alert(1)>', fontSize: 1e9, href: 'javascript:alert(1)' } },
  { facet: { field: 's' }, spec: { mark: 'bar' } },
  { repeat: ['a', 'b'] },
  { resolve: { scale: { x: 'independent' } } },
];
/** And of one of their channels. */
const hostileChannels: readonly Record<string, unknown>[] = [
  { axis: { tickCount: 1e9 } },
  { axis: { tickCount: { interval: 'millisecond' }, labelExpr: 'datum.label' } },
  { axis: { format: '999999999d' } },
  { axis: { values: Array.from({ length: 100 }, (_, n) => n * 1e9), labelAngle: 1e15, labelFontSize: 1e9 } },
  { axis: { title: '<svg/onload=alert(1)>', labelLimit: 1e9, offset: 1e12 } },
  { scale: { type: 'log', domain: [1e-300, 1e15] } },
  { scale: { type: 'log', base: 1.0000001 } },
  { scale: { type: 'time', nice: true, domain: [0, 1e15] } },
  { scale: { type: 'sqrt', domain: [1e15, -1e15], range: [0, 1e12] } },
  { scale: { type: 'bin-ordinal', bins: { step: 1e-9 } } },
  { scale: { type: 'point', padding: 1e15 } },
  { scale: null },
  { bin: true },
  { bin: { maxbins: 100 } },
  { timeUnit: 'milliseconds' },
  { timeUnit: 'yearquartermonth', type: 'temporal' },
  { aggregate: 'sum', stack: 'center' },
  { aggregate: 'distinct' },
  { sort: Array.from({ length: 100 }, (_, n) => n) },
  { sort: { field: 'big', op: 'max' } },
  { condition: { test: { field: 'n', gt: 1 }, value: 'red' } },
  { condition: { test: "alert('x')", value: 'red' } },
  { legend: { columns: 1e-9, symbolLimit: 1e9, title: 'javascript:alert(1)' } },
  { type: 'geojson' },
  { type: 'temporal', timeUnit: null },
];

/** Documents without end, one by one. */
export function* documents(seed: number): Generator<Record<string, unknown>> {
  const random = randomOf(seed);
  const below = (n: number) => Math.floor(random() * n);
  const words = [...classics, ...fixtures()];
  const of = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const text = () => (below(12) === 0 ? markdown.slice(0, below(8)).join('') + of(words) : of(words));
  const long = () => {
    let out = '';
    for (let n = below(14); n > 0; n--)
      out += below(3) === 0 ? of(words) + (below(2) ? '\n\n' : ' ') : of(markdown);
    return below(40) === 0 ? of([...markdown, ...words]).repeat(below(100)) : out;
  };
  const any = (depth: number): unknown => {
    switch (below(depth > 4 ? 6 : 10)) {
      case 0:
        return of([null, true, false, 0, -1, 1e308, 3, 50]);
      case 1:
      case 2:
      case 3:
        return text();
      case 4:
        return of(types);
      case 5:
        return of(['root', 'a', 'b', 'main', 'lazy', 'change', 'ui.action', 'ui.query', '/a/0/b', 'primary']);
      case 6:
        return Array.from({ length: below(5) }, () => any(depth + 1));
      case 7:
        return part(depth + 1);
      default:
        return object(depth + 1);
    }
  };
  const object = (depth: number): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: below(7) }, () => [of(names), any(depth)]));
  const number = () => of([0, 1, -1, 3, 50, 1e9, 1e15, 1e300, -1e308, 1e-300]);
  /** Rows of data, some of them with many, with sums beyond every number, with texts that look like dates. */
  const rows = () =>
    Array.from({ length: below(30) === 0 ? 1500 : below(12) }, (_, n) => ({
      n: below(4) ? n : number(),
      big: number(),
      s: below(3) ? `s${below(40)}` : of([text().slice(0, 200), '__proto__', 'constructor', '__pro']),
      at: of<unknown>([
        '2026-11-01T10:00:00Z',
        '2026-11-02',
        '9999-99-99',
        n * 86_400_000,
        text().slice(0, 50),
      ]),
      ...(below(6) ? {} : { l: [1, 2, 3], o: object(3) }),
    }));
  /** A chart in Vega-Lite: right, nearly right, or made to hold the page up. */
  const chart = (depth: number): Record<string, unknown> => {
    const channel = () => ({
      field: of(['n', 'n', 'big', 's', 'at', 'x', '__proto__', 'constructor']),
      ...(below(3) ? { type: of(['quantitative', 'nominal', 'ordinal', 'temporal']) } : {}),
      ...(below(3) ? {} : of(hostileChannels)),
      ...(below(9) ? {} : object(3)),
    });
    const names = [
      'color',
      'size',
      'text',
      'theta',
      'opacity',
      'shape',
      'detail',
      'xOffset',
      'x2',
      'href',
      'url',
      'row',
    ];
    const isLayered = below(5) === 0 && depth < 2;
    const marks = 'bar bar line area point rect rule text tick arc trail errorbar'.split(' ');
    return {
      ...(isLayered ? { layer: [chart(depth + 1), chart(depth + 1)] } : { mark: of(marks) }),
      ...(below(3) ? {} : { data: { values: rows() } }),
      encoding: { x: channel(), y: channel(), ...(below(2) ? { [of(names)]: channel() } : {}) },
      ...(below(4) ? {} : of(hostileCharts)),
      ...(below(9) ? {} : object(3)),
    };
  };
  /** A component that is nearly right. */
  const part = (depth: number): Record<string, unknown> => ({
    type: of(types),
    ...object(depth),
    ...(below(2) ? { text: text(), bind: of(['$.a', '$.b[0]', '$']), action: of(['go', 'x']) } : {}),
    ...(below(4) === 0
      ? { columns: [{ key: 'a', title: text() }], data: { query: 'q', pageSize: below(300) } }
      : {}),
    ...(below(4) === 0
      ? { fields: [{ name: 'a', label: text() }, object(depth)], actions: [{ text: text(), action: 'go' }] }
      : {}),
    ...(below(6) === 0
      ? {
          type: 'Chart',
          spec: { $vegaLite: below(6) ? chart(0) : object(depth) },
          data: { bind: of(['$.a', '$.a', '$.b']) },
        }
      : {}),
    ...(below(3) === 0 && depth < 5
      ? { components: Array.from({ length: below(4) }, () => part(depth + 1)) }
      : {}),
    ...(below(5) === 0 ? { when: text() } : {}),
    ...(below(8) === 0 ? { type: any(depth) } : {}),
  });
  const list = () =>
    below(20) === 0 ? any(0) : Array.from({ length: below(6) }, () => (below(8) ? part(0) : any(0)));
  const message = (): unknown => {
    const components = Array.from({ length: below(8) }, () => ({
      ...object(1),
      id: of(['root', 'a', 'b', 'c']),
      component: below(3) ? of(types) : { [of(types)]: object(1) },
      children: of<unknown>([['a', 'b'], ['root'], { path: text(), componentId: 'b' }, any(2)]),
      child: of(['a', 'b', 'root', 'no']),
      ...(below(2) ? { text: text(), label: text(), value: { path: text() } } : {}),
      ...(below(3) === 0 ? { action: { functionCall: { call: 'openUrl', args: { url: text() } } } } : {}),
    }));
    const kind = of([
      'updateComponents',
      'createSurface',
      'updateDataModel',
      'surfaceUpdate',
      'dataModelUpdate',
      'beginRendering',
      'deleteSurface',
      'x',
    ]);
    return below(12) === 0
      ? any(0)
      : {
          [kind]: {
            surfaceId: of(['s', 't', '__proto__']),
            components,
            path: text(),
            value: any(0),
            contents: any(0),
            root: 'root',
          },
        };
  };
  for (;;)
    switch (below(12)) {
      case 10:
      case 11:
        yield {
          version: 'usdl/0.2',
          components: Array.from({ length: 1 + below(2) }, () => ({
            ...{ type: 'Chart', title: text(), data: { bind: '$.a' } },
            spec: { $vegaLite: chart(0) },
          })),
          viewModel: { a: rows() },
        };
        break;
      case 0:
      case 1:
      case 2:
      case 3:
        yield {
          version: of(['usdl/0.2', 'usdl/0.2', 'usdl/0.2', 'usdl/0.9', 'usdl/1.0', 'usdl/x']),
          components: list(),
          actions: { go: object(1), x: any(1) },
          ...(below(2)
            ? { meta: { title: text(), texts: object(1) }, viewModel: object(1), layout: object(1) }
            : { viewModel: { a: rows() } }),
          ...(below(5) === 0 ? { viewBind: text(), ...object(0), version: 'usdl/0.2' } : {}),
        };
        break;
      case 4:
        yield { umf: text(), title: text(), ulm: long(), w: any(4), h: any(4) };
        break;
      case 5:
        yield { a2ui: Array.from({ length: below(6) }, message) };
        break;
      default:
        yield { ulm: long(), ...(below(4) === 0 ? { meta: object(2) } : {}) };
    }
}
