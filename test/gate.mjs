#!/usr/bin/env node
// Which tests `npm run check` takes: those that start no program and no browser, by what they import.
//   node test/gate.mjs        prints each file that is left out, and why
import { fileURLToPath } from 'node:url';
import { graphOf, sourcesOf, treeOf, wayTo } from './imports.mjs';

/** A daemon, a tool of a Debian package or a built bundle is reached by the first, a browser by the second. */
const starters = ['node:child_process', 'playwright-core'];

/**
 * A file's own word in its first lines, where imports cannot tell: `// gate: in, it starts nothing of what it imports`
 * or `// gate: out, 30 s`.
 */
const word = (text) => /^(?:\/\/.*\n)*?\/\/ gate: (in|out), (.+)$/m.exec(head(text));
const head = (text) => /^(?:\/\/.*\n)*/.exec(text)[0];

/**
 * Every test file in order.
 * @param sources path to text, all of the tree
 * @returns `why` is empty for those the gate takes
 */
export function gate(sources = sourcesOf(treeOf())) {
  const graph = graphOf(sources);
  const tests = [...sources.keys()].filter((f) => f.endsWith('.test.ts')).sort();
  return tests.map((file) => {
    const [, says, why] = word(sources.get(file)) ?? [];
    if (says) return { file, why: says === 'in' ? '' : why };
    return { file, why: wayTo(graph, file, (i) => starters.includes(i.from)) };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = gate();
  const out = all.filter((t) => t.why !== '');
  for (const t of out) console.log(`${t.file}: ${t.why}`);
  console.log(`${all.length - out.length} of ${all.length} test files are in the gate`);
}
