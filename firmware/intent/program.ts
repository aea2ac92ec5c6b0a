// A tree as a program of steps that only lead forward, and the words without which it cannot match. Pure.
import { MAX_FREE, type Node } from './template.ts';

/** Words that typed slots take at most: "the twenty first of december two thousand and twenty six" has 10. */
export const MAX_TYPED = 24;

/**
 * A step. Words and slots go on to the next one; a fork goes to each of its targets, all of which lie ahead. So a
 * match takes at most words times steps, and nothing is ever tried twice.
 */
export type Step =
  | { kind: 'word'; word: string }
  | { kind: 'slot'; name: string; type: string }
  | { kind: 'fork'; to: number[] };

export interface Program {
  steps: readonly Step[];
  /** The fewest and the most words of a sentence, and the most literal ones. */
  least: number;
  most: number;
  literals: number;
}

function emit(node: Node, steps: Step[]): void {
  if (node.kind === 'word') steps.push(node);
  else if (node.kind === 'slot') steps.push(node);
  else if (node.kind === 'sequence') for (const part of node.parts) emit(part, steps);
  else if (node.kind === 'optional') {
    const fork: Step = { kind: 'fork', to: [steps.length + 1] };
    steps.push(fork);
    emit(node.of, steps);
    fork.to.push(steps.length);
  } else {
    const fork: Step = { kind: 'fork', to: [] };
    steps.push(fork);
    const ends: number[][] = [];
    for (const alternative of node.of) {
      fork.to.push(steps.length);
      emit(alternative, steps);
      const end: number[] = [];
      ends.push(end);
      steps.push({ kind: 'fork', to: end });
    }
    for (const end of ends) end.push(steps.length);
  }
}

/** The fewest words, the most, and the most literal ones. */
function lengths(node: Node): [number, number, number] {
  if (node.kind === 'word') return [1, 1, 1];
  if (node.kind === 'slot') return [1, node.type === 'free' ? MAX_FREE : MAX_TYPED, 0];
  if (node.kind === 'optional') {
    const [, most, literals] = lengths(node.of);
    return [0, most, literals];
  }
  const all = (node.kind === 'choice' ? node.of : node.parts).map(lengths);
  const fold = (at: 0 | 1 | 2, of: (...n: number[]) => number) =>
    node.kind === 'choice' ? of(...all.map((l) => l[at])) : all.reduce((sum, l) => sum + l[at], 0);
  return [fold(0, Math.min), fold(1, Math.max), fold(2, Math.max)];
}

export function programOf(node: Node): Program {
  const steps: Step[] = [];
  emit(node, steps);
  const [least, most, literals] = lengths(node);
  return { steps, least, most, literals };
}

/** Alternatives of one needed place beyond which it is not worth an entry for each. */
const MAX_NEEDED = 400;

/**
 * Sets of words of each of which a sentence has one, whatever else it says.
 * @param ofSlot the first words that a slot can begin with, where they are few
 */
export function neededOf(
  node: Node,
  ofSlot: (type: string) => readonly string[] | undefined,
): readonly (readonly string[])[] {
  if (node.kind === 'word') return [[node.word]];
  if (node.kind === 'optional') return [];
  if (node.kind === 'slot') {
    const first = ofSlot(node.type);
    return first && first.length <= MAX_NEEDED ? [first] : [];
  }
  if (node.kind === 'sequence') return node.parts.flatMap((p) => neededOf(p, ofSlot));
  const each = node.of.map((n) => neededOf(n, ofSlot));
  if (each.some((sets) => sets.length === 0)) return [];
  // Of each alternative its smallest set: a sentence has a word of one of them.
  const union = new Set(each.flatMap((sets) => sets.reduce((a, b) => (b.length < a.length ? b : a))));
  return union.size <= MAX_NEEDED ? [[...union]] : [];
}
