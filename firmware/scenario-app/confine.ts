// What an app's page may do. What its policy does not let through becomes a note in its place, so a page that was drawn
// can do nothing else. Pure.
import { finished } from '../ui/needs.ts';
import type { Column, Inline, Node, Path, Problem, Tree, Value } from '../ui/tree.ts';
import { isLazy } from '../ui/value.ts';
import { type Contracts, type Policy, policyOf, type Say } from './policy.ts';

export interface Confinement {
  /** The tree with nothing in it that is not allowed. @param pointer where its file is told to be */
  tree(tree: Tree, problem: (p: Problem) => void): Tree;
  target: Policy['target'];
}

export function confinement(id: string, contracts: Contracts): Confinement {
  const policy = policyOf(id, contracts);

  function inline(i: Inline, say: Say): Inline {
    if (i === null || typeof i !== 'object') return i;
    if ('mark' in i) return { ...i, of: i.of.map((one) => inline(one, say)) };
    if (!('act' in i)) return i;
    const of = i.of.map((one) => inline(one, say));
    const may = policy.act(i.act, say);
    return may ? { act: may, of } : { mark: 'strike', of };
  }

  function node(n: Node, problem: (p: Problem) => void, at: string): Node {
    let said: Problem | undefined;
    const say: Say = (code, hint) => {
      said ??= { pointer: at, code, hint };
      problem({ pointer: at, code, hint });
    };
    const all = (nodes: readonly Node[], name: string) =>
      nodes.map((c, i) => node(c, problem, `${at}/${name}/${i}`));
    const made = one(n, say, all, problem, at);
    if (made) return made;
    return {
      is: 'note',
      code: said?.code ?? 'not_permitted',
      says: said?.hint ?? '',
      pointer: at,
      ...(n.when ? { when: n.when } : {}),
    };
  }

  function one(
    n: Node,
    say: Say,
    all: (nodes: readonly Node[], name: string) => Node[],
    problem: (p: Problem) => void,
    at: string,
  ): Node | null {
    const within = (c: Node, name: string) => node(c, problem, `${at}/${name}`);
    switch (n.is) {
      case 'text':
        return { ...n, of: n.of.map((i) => inline(i, say)) };
      case 'stack':
      case 'row':
      case 'card':
      case 'quote':
        return { ...n, children: all(n.children, 'children') };
      case 'list':
        return { ...n, items: n.items.map((item, i) => all(item, `items/${i}`)) };
      case 'tabs':
        return {
          ...n,
          tabs: n.tabs.map((t, i) => ({ ...t, children: all(t.children, `tabs/${i}/children`) })),
        };
      case 'each':
        return {
          ...n,
          child: within(n.child, 'child'),
          ...(n.none ? { none: within(n.none, 'none') } : {}),
        };
      case 'table': {
        const columns = n.columns.map(
          (c, i): Column => (c.cell ? { ...c, cell: within(c.cell, `columns/${i}`) } : c),
        );
        const rows = isLazy(n.rows) ? policy.rows(n.rows, say) : n.rows;
        return rows === null && isLazy(n.rows) ? null : { ...n, columns, rows };
      }
      case 'vega':
        return n.instead ? { ...n, instead: within(n.instead, 'instead') } : n;
      case 'button':
      case 'form': {
        const may = policy.act(n.act, say);
        return may && { ...n, act: may };
      }
      case 'empty': {
        if (!n.act) return n;
        const may = policy.act(n.act, say);
        return may && { ...n, act: may };
      }
      case 'input': {
        if (n.bind && !policy.writes(n.bind, say)) return null;
        const may = n.act && policy.act(n.act, say);
        return may === null ? null : { ...n, ...(may ? { act: may } : {}) };
      }
      case 'frame':
        // A page of a skill in a frame would have a life of its own beside the view model.
        say('not_permitted', 'An app has no frames.');
        return n.instead ? within(n.instead, 'instead') : null;
      default:
        return n;
    }
  }

  return {
    target: policy.target,
    tree(tree, problem) {
      const slot = (nodes: readonly Node[] | undefined, name: string) =>
        nodes?.map((n, i) => node(n, problem, `/${name}/${i}`));
      const { tree: _, needs: __, ...rest } = tree;
      const slots = Object.fromEntries(
        (['header', 'aside', 'modal', 'toast'] as const).flatMap((name) =>
          tree[name] ? [[name, slot(tree[name], name)]] : [],
        ),
      );
      return finished({ ...rest, ...slots, main: slot(tree.main, 'main')! });
    },
  };
}

/** Parts of the view model that a tree reads, beside those it may. */
export function readElsewhere(tree: Tree, names: readonly string[]): string[] {
  const found = new Set<string>();
  const walk = (v: unknown): void => {
    if (v === null || typeof v !== 'object') return;
    const { path } = v as Partial<Path>;
    if (Array.isArray(path) && path[0] === 'state' && path[1] === 'viewModel' && path.length > 2)
      if (!names.includes(String(path[2]))) found.add(String(path[2]).slice(0, 64));
    for (const [key, one] of Object.entries(v)) if (key !== 'spec') walk(one);
  };
  const { meta: _, state: __, ...nodes } = tree;
  walk(nodes satisfies Record<string, Value | unknown>);
  return [...found];
}
