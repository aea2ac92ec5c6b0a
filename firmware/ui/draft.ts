// What front ends share while they build a tree: how much it may hold, what is noted in place, what it needs. Pure.
import { type Capability, type Node, type Problem, TREE_VERSION, type Tree } from './tree.ts';

/** A tree of more nodes than this is cut, with a note where: a phone must be able to draw it. */
export const MAX_NODES = 2000;
export const MAX_DEPTH = 24;
/** Characters of one text. */
export const MAX_TEXT = 4000;
/** Problems told of one document. */
const MAX_PROBLEMS = 64;

export interface Draft {
  readonly problems: readonly Problem[];
  problem(code: string, pointer: string, hint: string): void;
  /** A problem and, in the place of what could not be taken, a note of it. */
  note(code: string, pointer: string, hint: string): Node;
  /** Nodes one level deeper; a note where the tree would be too deep, and one, once, where it would be too large. */
  nodes(pointer: string, make: () => readonly Node[]): readonly Node[];
  /** A text as it is shown: a longer one is cut. */
  text(value: string, pointer: string): string;
  finish(
    from: string,
    parts: Omit<Tree, 'tree' | 'from' | 'needs'>,
  ): {
    tree: Tree;
    problems: readonly Problem[];
  };
}

export function draft(): Draft {
  const problems: Problem[] = [];
  let count = 0;
  let depth = 0;
  let full = false;
  const it: Draft = {
    problems,
    problem(code, pointer, hint) {
      if (problems.length < MAX_PROBLEMS) problems.push({ pointer: pointer.slice(0, 500), code, hint });
    },
    note(code, pointer, hint) {
      it.problem(code, pointer, hint);
      return { is: 'note', code, says: hint, pointer: pointer.slice(0, 500) };
    },
    nodes(pointer, make) {
      if (full) return [];
      if (++count > MAX_NODES) {
        full = true;
        return [it.note('too_large', pointer, `A page has at most ${MAX_NODES} nodes.`)];
      }
      if (depth >= MAX_DEPTH) return [it.note('too_deep', pointer, `Nodes nest at most ${MAX_DEPTH} deep.`)];
      depth++;
      try {
        return make();
      } finally {
        depth--;
      }
    },
    text(value, pointer) {
      if (value.length <= MAX_TEXT) return value;
      it.problem('too_long', pointer, `A text has at most ${MAX_TEXT} characters.`);
      return `${value.slice(0, MAX_TEXT - 1)}…`;
    },
    finish(from, parts) {
      const tree = { tree: TREE_VERSION, from, ...parts } as const;
      return { tree: { ...tree, needs: needsOf(tree) }, problems };
    },
  };
  return it;
}

/** What one node needs by itself. */
const needed: Partial<Record<Node['is'], Capability>> = {
  chart: 'chart',
  vega: 'vega',
  input: 'input',
  form: 'input',
  tabs: 'tabs',
  frame: 'frame',
};

/** The capabilities of all nodes and values of a tree, sorted. */
export function needsOf(tree: Omit<Tree, 'needs'>): Capability[] {
  const found = new Set<Capability>();
  const walk = (at: unknown): void => {
    if (Array.isArray(at)) for (const one of at) walk(one);
    if (at === null || typeof at !== 'object' || Array.isArray(at)) return;
    const node = at as Record<string, unknown>;
    if (typeof node['is'] === 'string' && Object.hasOwn(needed, node['is']))
      found.add(needed[node['is'] as Node['is']]!);
    if ('query' in node) found.add('of' in node ? 'jsonpath' : 'lazy');
    for (const [key, value] of Object.entries(node)) {
      // Neither has nodes, and its keys are the document's own.
      if (key === 'spec' || key === 'path' || key === 'i18n') continue;
      if (key === 'object' && value !== null && typeof value === 'object')
        for (const one of Object.values(value)) walk(one);
      else walk(value);
    }
  };
  for (const slot of ['main', 'header', 'aside', 'modal', 'toast'] as const) {
    const nodes = tree[slot];
    if (slot !== 'main' && slot !== 'header' && nodes?.length) found.add(slot);
    walk(nodes);
  }
  return [...found].sort();
}
