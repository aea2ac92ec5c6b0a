// What front ends share while they build a tree: how much it may hold and what is noted in place. Pure.
import { finished } from './needs.ts';
import type { Node, Problem, Tree } from './tree.ts';
import { limits } from './v0/limits.ts';

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
      if (problems.length < limits.problems) problems.push({ pointer: pointer.slice(0, 500), code, hint });
    },
    note(code, pointer, hint) {
      it.problem(code, pointer, hint);
      return { is: 'note', code, says: hint, pointer: pointer.slice(0, 500) };
    },
    nodes(pointer, make) {
      if (full) return [];
      if (++count > limits.nodes) {
        full = true;
        return [it.note('too_large', pointer, `A page has at most ${limits.nodes} nodes.`)];
      }
      if (depth >= limits.nesting)
        return [it.note('too_deep', pointer, `Nodes nest at most ${limits.nesting} deep.`)];
      depth++;
      try {
        return make();
      } finally {
        depth--;
      }
    },
    text(value, pointer) {
      if (value.length <= limits.text) return value;
      it.problem('too_long', pointer, `A text has at most ${limits.text} characters.`);
      return `${value.slice(0, limits.text - 1)}…`;
    },
    finish(from, parts) {
      return { tree: finished({ from, ...parts }), problems };
    },
  };
  return it;
}
