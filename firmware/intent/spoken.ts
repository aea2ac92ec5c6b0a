// The part of a tree that can be said aloud in a language. Pure.
import type { Language } from '../text/i18n.ts';
import type { SlotType } from './kinds.ts';
import type { Kind } from './reading.ts';
import { FREE, type Node, sequence } from './template.ts';

/** Where the slots of a tree lead: to kinds. A pattern's lead to types, those of a kind's tree to its parts. */
export type Scope = (type: string) => Kind | undefined;

export const scopeOfTypes =
  (types: ReadonlyMap<string, SlotType>): Scope =>
  (type) =>
    types.get(type)?.kind;
export const scopeOfKind =
  (kind: Kind): Scope =>
  (type) =>
    kind.parts[type];

export interface Saying {
  language: Language;
  /** Whether a word can be said. */
  isSaid(word: string): boolean;
  /** Whether a slot of any words may stand. */
  takesFree: boolean;
  /** Trees of kinds that were cut already. */
  trees: Map<Kind, Node | undefined>;
}

export const saying = (
  language: Language,
  takesFree: boolean,
  isSaid: (word: string) => boolean = () => true,
): Saying => ({ language, takesFree, isSaid, trees: new Map() });

const isEmpty = (node: Node) => node.kind === 'sequence' && node.parts.length === 0;

/** Why a part was cut: a free slot, or a word or value that the language or the recogniser does not have. */
export type Cut = 'free' | 'word';

/**
 * The tree without what cannot be said: such optional parts and alternatives fall away. Undefined when nothing is left.
 * @param cuts gets the reason of each cut
 */
export function pruned(node: Node, scope: Scope, how: Saying, cuts: Set<Cut>): Node | undefined {
  if (node.kind === 'word') {
    if (how.isSaid(node.word)) return node;
    cuts.add('word');
    return undefined;
  }
  if (node.kind === 'slot') {
    const isThere = node.type === FREE ? how.takesFree : spokenTree(scope(node.type), how) !== undefined;
    if (isThere) return node;
    cuts.add(node.type === FREE ? 'free' : 'word');
    return undefined;
  }
  if (node.kind === 'optional') {
    const of = pruned(node.of, scope, how, cuts);
    return of && !isEmpty(of) ? { kind: 'optional', of } : sequence([]);
  }
  const parts = (node.kind === 'choice' ? node.of : node.parts).map((n) => pruned(n, scope, how, cuts));
  const left = parts.filter((n) => n !== undefined);
  if (node.kind === 'choice')
    return left.length === 0 ? undefined : left.length === 1 ? left[0]! : { kind: 'choice', of: left };
  return left.length < parts.length ? undefined : sequence(left);
}

/** The tree of a kind in a language, without what cannot be said. */
export function spokenTree(kind: Kind | undefined, how: Saying): Node | undefined {
  if (!kind) return undefined;
  if (!how.trees.has(kind)) {
    const tree = kind.spoken[how.language];
    how.trees.set(kind, tree && pruned(tree, scopeOfKind(kind), how, new Set()));
  }
  return how.trees.get(kind);
}
