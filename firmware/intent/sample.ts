// Sentences that a pattern can say: all of them where they are few, else some, the same for the same seed. Pure.
import type { Language } from '../text/i18n.ts';
import { scriptOf, type TypeName } from './kinds.ts';
import type { Compiled } from './match.ts';
import type { Parsed } from './schema.ts';
import { pruned, type Saying, type Scope, saying, scopeOfKind, scopeOfTypes, spokenTree } from './spoken.ts';
import { FREE, type Node } from './template.ts';

/** Sentences at most of one pattern. */
export const MAX_SAMPLES = 1000;

/** What a free slot takes in samples. */
const anyWords: Record<Language, readonly string[]> = {
  en: ['milk', 'oat milk', 'the blue door', 'something else'],
  ru: ['молоко', 'черный хлеб', 'синяя дверь', 'что то другое'],
};

/** What a slot of a type takes in the plain sentence of a pattern. */
const plainWords: Record<TypeName, Record<Language, string>> = {
  number: { en: 'ten', ru: 'десять' },
  time: { en: 'at half past seven', ru: 'в половине восьмого' },
  date: { en: 'tomorrow', ru: 'завтра' },
  duration: { en: 'ten minutes', ru: 'десять минут' },
};

/** Numbers of [0, 1) by mulberry32 (Tommy Ettinger, public domain). */
export function seeded(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What a slot is said by: the tree of its kind, or words. */
function slotTree(type: string, scope: Scope, how: Saying): { node: Node; scope: Scope } {
  if (type === FREE) {
    const of = anyWords[how.language].map((word): Node => ({ kind: 'word', word }));
    return { node: { kind: 'choice', of }, scope };
  }
  const kind = scope(type)!;
  return { node: spokenTree(kind, how)!, scope: scopeOfKind(kind) };
}

/** One sentence by chance. */
function drawn(node: Node, scope: Scope, how: Saying, random: () => number): string[] {
  if (node.kind === 'word') return [node.word];
  if (node.kind === 'sequence') return node.parts.flatMap((n) => drawn(n, scope, how, random));
  if (node.kind === 'optional') return random() < 0.5 ? [] : drawn(node.of, scope, how, random);
  if (node.kind === 'choice')
    return drawn(node.of[Math.floor(random() * node.of.length)]!, scope, how, random);
  const tree = slotTree(node.type, scope, how);
  return drawn(tree.node, tree.scope, how, random);
}

/** Every sentence, one after the other: who reads only some pays for those alone. */
function* every(node: Node, scope: Scope, how: Saying): Generator<string[]> {
  if (node.kind === 'word') yield [node.word];
  else if (node.kind === 'choice') for (const n of node.of) yield* every(n, scope, how);
  else if (node.kind === 'optional') {
    yield [];
    yield* every(node.of, scope, how);
  } else if (node.kind === 'slot') {
    const tree = slotTree(node.type, scope, how);
    yield* every(tree.node, tree.scope, how);
  } else yield* inRow(node.parts, scope, how);
}

function* inRow(parts: readonly Node[], scope: Scope, how: Saying): Generator<string[]> {
  const [first, ...rest] = parts;
  if (first === undefined) yield [];
  else
    for (const head of every(first, scope, how))
      for (const tail of inRow(rest, scope, how)) yield [...head, ...tail];
}

/** The language in which a pattern is sampled: its own, else that of its script. */
export const languageOf = ({ language, text }: Pick<Parsed, 'language' | 'text'>): Language =>
  language ?? scriptOf(text);

/** The first of everything that has to be said. */
function plain(node: Node, scope: Scope, how: Saying): string[] {
  if (node.kind === 'word') return [node.word];
  if (node.kind === 'sequence') return node.parts.flatMap((n) => plain(n, scope, how));
  if (node.kind === 'optional') return [];
  if (node.kind === 'choice') return plain(node.of[0]!, scope, how);
  if (Object.hasOwn(plainWords, node.type)) return [plainWords[node.type as TypeName][how.language]];
  const tree = slotTree(node.type, scope, how);
  return plain(tree.node, tree.scope, how);
}

/** The sentence to show for a pattern; undefined when a slot cannot be said in the pattern's language. */
export function plainSample(compiled: Pick<Compiled, 'types'>, pattern: Parsed): string | undefined {
  const how = saying(languageOf(pattern), true);
  const scope = scopeOfTypes(compiled.types);
  const node = pruned(pattern.node, scope, how, new Set());
  return node && plain(node, scope, how).join(' ');
}

/**
 * At most `most` different sentences of a pattern, in words as `tokensOf` has them: the first of all when there are no
 * more, else drawn ones. None when a slot cannot be said in the pattern's language.
 * @param o.most 1 to 1,000
 */
export function samplesOf(
  compiled: Pick<Compiled, 'types'>,
  pattern: Parsed,
  o: { most: number; seed?: number },
): string[] {
  const most = Math.min(o.most, MAX_SAMPLES);
  const how = saying(languageOf(pattern), true);
  const scope = scopeOfTypes(compiled.types);
  const node = pruned(pattern.node, scope, how, new Set());
  if (!node) return [];
  const all = new Set<string>();
  let seen = 0;
  for (const words of every(node, scope, how)) {
    // Alternatives may say the same; a tree that repeats itself ends this as well.
    if (all.size > most || ++seen > 4 * most) break;
    all.add(words.join(' '));
  }
  if (all.size <= most && seen <= 4 * most) return [...all];
  const random = seeded(o.seed ?? 1);
  const some = new Set<string>();
  for (let i = 0; i < 4 * most && some.size < most; i++) some.add(drawn(node, scope, how, random).join(' '));
  return [...some];
}
