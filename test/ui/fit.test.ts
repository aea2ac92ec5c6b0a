// What becomes of each part of a tree where a renderer lacks what it needs.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fit } from '../../firmware/ui/fit.ts';
import { finished } from '../../firmware/ui/needs.ts';
import type { Capability, Node, Tree, Value } from '../../firmware/ui/tree.ts';
import { evaluate } from '../../firmware/ui/value.ts';
import { treeFaults } from './tree-schema.ts';

const test = suite('fitting');
const every: Capability[] = [
  ...(['aside', 'chart', 'frame', 'input', 'jsonpath', 'lazy', 'modal', 'tabs', 'toast', 'vega'] as const),
];
const without = (...lacking: Capability[]) => every.filter((c) => !lacking.includes(c));
const words: Node = { is: 'text', of: ['words'] };
const at = (...path: (string | null)[]): Value => ({ path: ['state', ...path] });
const chart: Node = {
  is: 'chart',
  kind: 'line',
  title: 'Load',
  series: [
    { label: 'A', x: at('s', null, 'x'), y: at('s', null, 'a') },
    { label: 'B', x: at('s', null, 'x'), y: at('s', null, 'b') },
  ],
};
const query: Value = { query: '$..x', of: { path: ['state'] } };
const note = (need: string): Node => ({
  is: 'note',
  code: 'not_supported',
  says: `needs "${need}", which is not here`,
  pointer: '',
});
const asTable: Node = {
  is: 'table',
  title: 'Load',
  columns: [
    { key: 'x0', label: '' },
    { key: 'y0', label: 'A' },
    { key: 'y1', label: 'B' },
  ],
  rows: { zip: { x0: at('s', null, 'x'), y0: at('s', null, 'a'), y1: at('s', null, 'b') } },
};
const field = { name: 'a', label: 'A', input: 'text', value: at('a') } as const;
const secret = { name: 'p', label: 'P', input: 'secret', value: 'x' } as const;
const act = { do: 'get', path: '/v1/x' } as const;
const more = { i18n: { en: 'More', ru: 'Ещё' } };
const overview = { i18n: { en: 'Overview', ru: 'Главное' } };

const rows: [what: string, lacking: Capability[], from: Partial<Tree>, main: Node[]][] = [
  ['a chart becomes a table of its values', ['chart'], { main: [chart] }, [asTable]],
  [
    'tabs become cards under one another',
    ['tabs'],
    { main: [{ is: 'tabs', tabs: [{ label: 'One', children: [words] }] }] },
    [{ is: 'stack', children: [{ is: 'card', title: 'One', children: [words] }] }],
  ],
  [
    'an aside becomes a tab',
    ['aside'],
    { main: [words], aside: [chart] },
    [
      {
        is: 'tabs',
        tabs: [
          { label: overview, children: [words] },
          { label: more, children: [chart] },
        ],
      },
    ],
  ],
  [
    'an aside becomes a card where there are no tabs',
    ['aside', 'tabs'],
    { main: [words], aside: [words] },
    [words, { is: 'card', title: more, children: [words] }],
  ],
  [
    'a modal becomes a card above all',
    ['modal'],
    { main: [words], modal: [chart] },
    [{ is: 'card', children: [chart] }, words],
  ],
  [
    'a toast stands above all',
    ['toast'],
    { main: [chart], toast: [words] },
    [{ is: 'stack', children: [words] }, chart],
  ],
  [
    'a frame becomes what its skill says instead',
    ['frame', 'chart'],
    { main: [{ is: 'frame', page: 'x', title: 'X', instead: chart }] },
    [asTable],
  ],
  [
    'a frame without that is marked',
    ['frame'],
    { main: [{ is: 'frame', page: 'x', title: 'X' }] },
    [note('frame')],
  ],
  [
    'a drawing of Vega-Lite becomes a table of the fields it draws',
    ['vega'],
    { main: [{ is: 'vega', spec: { encoding: { x: { field: 'day' }, y: { field: 'n' } } }, data: at('d') }] },
    [
      {
        is: 'table',
        columns: [
          { key: 'day', label: 'day' },
          { key: 'n', label: 'n' },
        ],
        rows: at('d'),
      },
    ],
  ],
  [
    'one of no fields is marked',
    ['vega'],
    { main: [{ is: 'vega', spec: {}, data: at('d') }] },
    [note('vega')],
  ],
  [
    'a drawing becomes what stands instead of it',
    ['vega'],
    { main: [{ is: 'vega', spec: {}, instead: words }] },
    [words],
  ],
  [
    'rows asked for page by page are marked',
    ['lazy'],
    { main: [{ is: 'table', columns: [], rows: { query: 'q', pageSize: 10 } }] },
    [note('lazy')],
  ],
  [
    'a query is marked',
    ['jsonpath'],
    { main: [{ is: 'each', of: query, child: words }] },
    [note('jsonpath')],
  ],
  [
    'a query in a condition is marked',
    ['jsonpath'],
    { main: [{ is: 'title', text: 'x', when: { not: { is: query } } }] },
    [note('jsonpath')],
  ],
  [
    'a field shows what it stands at',
    ['input'],
    { main: [{ is: 'input', field, act }] },
    [{ is: 'stack', children: [{ is: 'metric', label: 'A', value: at('a') }] }],
  ],
  [
    'a form shows what stands in it, and no secret',
    ['input'],
    { main: [{ is: 'form', title: 'F', fields: [field, secret], label: 'Go', act }] },
    [{ is: 'card', title: 'F', children: [{ is: 'metric', label: 'A', value: at('a') }] }],
  ],
  [
    'what is deep inside is fitted as well, and keeps its name and condition',
    ['chart'],
    { main: [{ is: 'list', items: [[{ ...chart, id: 'c', when: { is: 1 } }]] }] },
    [{ is: 'list', items: [[{ ...asTable, id: 'c', when: { is: 1 } } as Node]] }],
  ],
];
for (const [what, lacking, from, main] of rows)
  test(what, () => {
    const tree = finished({ from: 'test', main: [], ...from });
    assert.equal(treeFaults(tree), []);
    assert.ok(
      lacking.some((c) => tree.needs.includes(c)),
      `it needs ${tree.needs}`,
    );
    const fitted = fit(tree, without(...lacking));
    assert.equal(fitted.main, main);
    assert.equal(fit(tree, every), tree);
  });

test('the table that stands for a chart has its values row by row', () => {
  const state = {
    s: [
      { x: 1, a: 2, b: 3 },
      { x: 2, a: 4 },
    ],
  };
  const [table] = fit(finished({ from: 'test', main: [chart] }), []).main;
  assert.equal(evaluate((table as { rows: Value }).rows, { state }), [
    { x0: 1, y0: 2, y1: 3 },
    { x0: 2, y0: 4, y1: undefined },
  ]);
});

const { node } = fc.letrec<{ node: Node }>((tie) => {
  const few = fc.array(tie('node'), { maxLength: 3 });
  const leaves = rows.flatMap(([, , from]) => from.main ?? []);
  return {
    node: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(...leaves, words),
      fc.record({ is: fc.constantFrom('stack' as const, 'quote' as const), children: few }),
      few.map((children): Node => ({ is: 'tabs', tabs: [{ label: 'x', children }] })),
      tie('node').map((child): Node => ({ is: 'each', of: { array: [] }, child, none: child })),
      tie('node').map(
        (cell): Node => ({
          is: 'table',
          columns: [{ key: 'a', label: 'A', cell }],
          rows: null,
        }),
      ),
      tie('node').map((instead): Node => ({ is: 'frame', page: 'x', title: 'x', instead })),
      tie('node').map((instead): Node => ({ is: 'vega', spec: {}, instead })),
    ),
  };
});
const slot = fc.array(node, { maxLength: 3 });
const trees = fc
  .record({ main: slot, aside: slot, modal: slot, toast: slot, header: slot }, { requiredKeys: ['main'] })
  .map((t) => finished({ from: 'test', ...t }));

test('what is fitted needs only what is there, and fitting it again changes nothing', () => {
  fc.assert(
    fc.property(trees, fc.subarray(every), (tree, capabilities) => {
      const once = fit(tree, capabilities);
      assert.ok(
        once.needs.every((c) => capabilities.includes(c)),
        `needs ${once.needs} of ${capabilities}`,
      );
      assert.equal(fit(once, capabilities), once);
      assert.equal(fit(tree, every), tree);
    }),
    { numRuns: 1000 },
  );
});

test.run();
