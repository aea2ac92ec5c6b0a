// gate: out, 6 s
// Whatever a document of USDL, ULM, UMF or A2UI holds, it becomes a tree of the tree's types that leads nowhere but to
// https:, mailto: and the application, and does not take long.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compile, frontEndOf } from '../../firmware/ui/compile.ts';
import { below } from '../../firmware/ui/needs.ts';
import type { Node, Tree } from '../../firmware/ui/tree.ts';
import { limits } from '../../firmware/ui/v0/limits.ts';
import { documents } from './documents.ts';
import { treeFaults } from './tree-schema.ts';

/** `npm test` takes a part of them; DOCUMENTS=100000 all. */
const COUNT = Number(process.env['DOCUMENTS'] ?? 2000);
const SEED = 13;

/** Every address of a tree, wherever it stands. */
function* hrefs(at: unknown): Generator<string> {
  if (at === null || typeof at !== 'object') return;
  for (const [key, value] of Object.entries(at))
    if (key === 'href' && typeof value === 'string') yield value;
    else yield* hrefs(value);
}
function nodesOf(tree: Tree): number {
  let count = 0;
  let deepest = 0;
  const visit = (n: Node, depth: number): void => {
    count++;
    deepest = Math.max(deepest, depth);
    for (const one of below(n)) visit(one, depth + 1);
  };
  for (const slot of ['main', 'header', 'aside', 'modal', 'toast'] as const)
    for (const n of tree[slot] ?? []) visit(n, 1);
  // A component may be a few nodes: a form and its buttons in a row.
  assert.ok(deepest <= 4 * limits.nesting, `${deepest} deep`);
  return count;
}
/**
 * What the source says of itself is data: meta and the first state are shown as text, `object` is sent, not followed, and
 * `values` are what a chart draws.
 */
const drawn = ({ meta: _, state: __, ...tree }: Tree) =>
  JSON.parse(
    JSON.stringify(tree, (key, value) =>
      ['object', 'payload', 'params', 'values'].includes(key) ? null : value,
    ),
  ) as unknown;

test('hostile documents become harmless trees of bounded size', async () => {
  let worst = 0;
  let slow = '';
  let spent = 0;
  const kinds = new Map<string, number>();
  let n = 0;
  for (const document of documents(SEED)) {
    if (n++ >= COUNT) break;
    const kind = frontEndOf(document);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const began = performance.now();
    const { tree, problems } = await compile(document);
    const took = performance.now() - began;
    spent += took;
    if (n > 200 && took > worst) [worst, slow] = [took, kind];
    try {
      assert.equal(treeFaults(tree), []);
      for (const href of hrefs(drawn(tree)))
        assert.match(href, /^(?:https:\/\/[^@]*(?:\/.*)?$|mailto:)/, href);
      assert.ok(nodesOf(tree) <= 4 * limits.nodes);
      assert.ok(problems.length <= limits.problems);
      assert.ok(
        problems.every(
          (p) => p.code !== '' && p.hint !== '' && (p.pointer === '' || p.pointer.startsWith('/')),
        ),
      );
    } catch (e) {
      console.log(`document ${n} of seed ${SEED}: ${JSON.stringify(document).slice(0, 3000)}`);
      throw e;
    }
  }
  console.log(
    `FIGURE hostile_documents ${COUNT} (${[...kinds].map(([k, c]) => `${k} ${c}`).join(', ')}), worst ${worst.toFixed(0)} ms (${slow}), mean ${(spent / COUNT).toFixed(2)} ms`,
  );
});

test('a document made to take long is bounded by its size', async () => {
  const deep = (n: number): unknown => (n === 0 ? 'x' : [{ a: deep(n - 1) }]);
  const wide = Array.from({ length: 5000 }, () => ({ type: 'Card', components: [{ type: 'Card' }] }));
  const nested = (n: number): unknown => ({ type: 'Card', components: n === 0 ? [] : [nested(n - 1)] });
  const all = Array.from({ length: 60 }, (_, i) => `c${i}`);
  const mesh = all.map((id) => ({ id, component: 'Column', children: all }));
  const cases: [string, Record<string, unknown>][] = [
    ['many components', { version: 'usdl/0.2', components: wide }],
    ['deep components', { version: 'usdl/0.2', components: [nested(40)] }],
    [
      'deep data',
      {
        version: 'usdl/0.2',
        components: [
          { type: 'Button', action: { type: 'ui.action', action_id: 'x', payload: { a: deep(5000) } } },
        ],
      },
    ],
    [
      'components that are each other’s',
      {
        a2ui: [
          {
            updateComponents: {
              surfaceId: 's',
              components: [{ id: 'root', component: 'Column', children: all }, ...mesh],
            },
          },
        ],
      },
    ],
    ...[
      '[',
      '![',
      '[a](',
      '>',
      '> ',
      '- ',
      '*',
      '*a ',
      '_a*b',
      '`a``b',
      '[a][',
      '[a]: b\n',
      '&a',
      'a\n',
      '> a\n',
      '1. ',
      'a\n=\n',
      '- a\n  ',
      '*_',
      '<a',
      ':::card\n',
      ':::form\n',
      ':::\n',
      '{{',
      '{{state.a}}',
      '[x](@action:y a=b ',
      '[x](@action:y)',
      '\\',
      '`',
    ].map((s): [string, Record<string, unknown>] => [s, { ulm: s.repeat(Math.floor(32_768 / s.length)) }]),
  ];
  let worst = 0;
  let slow = '';
  for (const [name, document] of cases) {
    const began = performance.now();
    const { tree } = await compile(document);
    const took = performance.now() - began;
    if (took > worst) [worst, slow] = [took, name];
    assert.equal(treeFaults(tree), [], name);
    assert.ok(nodesOf(tree) <= 4 * limits.nodes, name);
  }
  console.log(`FIGURE hostile_documents_32KiB_worst_ms ${worst.toFixed(0)} (${JSON.stringify(slow)})`);
});

test.run();
