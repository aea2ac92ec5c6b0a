// Which front end a document is for, and that a hub loads none before a document needs it.
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compile, frontEndOf } from '../../firmware/ui/compile.ts';
import { treeFaults } from './tree-schema.ts';

const { graphOf, reached, sourcesOf, treeOf } = await import('../imports.mjs' as string);

test('a document says what it is for', () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ schema: 'ui/v0', layout: {} }, 'ui/v0'],
    [{ version: 'usdl/0.2', components: [] }, 'usdl'],
    [{ ulm: '# a' }, 'ulm'],
    [{ umf: 'panel', ulm: '# a' }, 'umf'],
    [{ a2ui: [] }, 'a2ui'],
    [{}, 'ui/v0'],
    [{ version: 2, ulm: 3, umf: null, a2ui: 5 }, 'ui/v0'],
  ];
  for (const [document, kind] of cases) assert.is(frontEndOf(document), kind);
});

test('a page in a frame has its words for who cannot show it', async () => {
  const { tree, problems } = await compile({
    umf: 'chart/index.html',
    title: 'Chart',
    h: 300,
    ulm: 'Power: {{state.kw}}',
  });
  assert.equal([problems, treeFaults(tree), tree.needs], [[], [], ['frame']]);
  assert.equal(tree.main, [
    {
      is: 'frame',
      page: 'chart/index.html',
      title: 'Chart',
      h: 300,
      instead: { is: 'stack', children: [{ is: 'text', of: ['Power: ', { path: ['state', 'kw'] }] }] },
    },
  ]);
  for (const umf of ['../x', '//x', 'https://x.y', 'a/../b', '.hidden', 'a?b', ''])
    assert.is((await compile({ umf, ulm: 'x' })).tree.main[0]?.is, 'note', umf);
});

test('what only some documents need is loaded when one does', () => {
  // Without what is imported on demand: that is what a hub loads at its start.
  const all = sourcesOf(treeOf()) as Map<string, string>;
  const atStart = new Map([...all].map(([f, text]) => [f, text.replace(/\bimport\(/g, 'later(')]));
  const graph = graphOf(atStart) as Map<string, { from: string }[]>;
  for (const entry of ['services/api/main.ts', 'services/skill-host/main.ts', 'firmware/ui/compile.ts']) {
    const files = [...(reached(graph, entry) as Set<string>)];
    assert.ok(files.includes('firmware/ui/compile.ts'), entry);
    const rooms = files.filter((f) => /^firmware\/ui\/(?:usdl|ulm|a2ui|umf|query|patch)\b/.test(f));
    assert.equal(rooms, [], entry);
    const libraries = files.flatMap((f) => graph.get(f)!.map((i) => i.from));
    for (const name of ['markdown-it', 'json-p3', 'rfc6902'])
      assert.not.ok(libraries.includes(name), `${entry} ${name}`);
  }
  assert.match(readFileSync('firmware/ui/compile.ts', 'utf8'), /import\('\.\/usdl\/document\.ts'\)/);
});

test.run();
