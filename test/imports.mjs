// The import graph of the tree, for the rules of the house and for the gate.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Tracked files and new ones that git would take; paths from the top level, which is the present folder. */
export function treeOf() {
  const r = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return r.stdout.split('\0').filter((f) => f && existsSync(f));
}

/** The sources among files, each with its text. */
export function sourcesOf(files) {
  const code = files.filter((f) => /\.(ts|mjs|js)$/.test(f) && !f.endsWith('.d.ts'));
  return new Map(code.map((f) => [f, readFileSync(f, 'utf8')]));
}

/** What a file imports: `from` as written, `file` from the top level where it is ours; type-only imports vanish at run time. */
export function importsOf(file, source) {
  const text = source.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const out = [];
  for (const [, kind, names, from] of text.matchAll(
    /^\s*(import|export)\s+((?:type\s+)?[\w*$\s{},]*?)\s*from\s*['"]([^'"]+)['"]/gm,
  )) {
    const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
    const onlyTypes =
      /^type\s/.test(names) ||
      (inner !== undefined &&
        inner.trim() !== '' &&
        inner.split(',').every((n) => !n.trim() || /^type\s/.test(n.trim())));
    out.push({ from, onlyTypes, kind });
  }
  for (const [, from] of text.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm))
    out.push({ from, onlyTypes: false });
  for (const [, from] of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g))
    out.push({ from, onlyTypes: false });
  return out.map((i) => ({
    ...i,
    file: i.from.startsWith('.') ? normalize(join(dirname(file), i.from)) : undefined,
  }));
}

/** Every source with what it imports. */
export const graphOf = (sources) => new Map([...sources].map(([f, text]) => [f, importsOf(f, text)]));

/** A file and all it imports, however far away. */
export function reached(graph, file, seen = new Set()) {
  if (seen.has(file) || !graph.has(file)) return seen;
  seen.add(file);
  for (const i of graph.get(file)) if (i.file && !i.onlyTypes) reached(graph, i.file, seen);
  return seen;
}

/** The way from a file to the first import that `meets` accepts, as `a -> b -> c`; '' when there is none. */
export function wayTo(graph, file, meets, seen = new Set()) {
  if (seen.has(file) || !graph.has(file)) return '';
  seen.add(file);
  for (const i of graph.get(file)) {
    if (i.onlyTypes) continue;
    if (meets(i)) return `${file} -> ${i.from}`;
    const further = i.file ? wayTo(graph, i.file, meets, seen) : '';
    if (further) return `${file} -> ${further}`;
  }
  return '';
}
