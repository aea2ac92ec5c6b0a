// A pattern as a tree. The recogniser, the samples and the speech grammar all walk this one tree. Pure.
import { IngleError } from '../protocol/errors.ts';
import { MAX_WORDS, tokensOf } from './normal.ts';

/** A tree. Words are in the form of `tokensOf`; the type of a slot is `free`, a kind or the name of a list. */
export type Node =
  | { kind: 'word'; word: string }
  | { kind: 'sequence'; parts: readonly Node[] }
  | { kind: 'choice'; of: readonly Node[] }
  | { kind: 'optional'; of: Node }
  | { kind: 'slot'; name: string; type: string };

/** The type of a slot that takes any words. */
export const FREE = 'free';
/** Words that a free slot takes at most. */
export const MAX_FREE = 8;
/** Characters of a pattern, brackets inside brackets, alternatives of one pair of brackets, slots, and nodes of a tree. */
export const MAX_PATTERN = 400;
export const MAX_DEPTH = 6;
export const MAX_ALTERNATIVES = 64;
export const MAX_SLOTS = 8;
export const MAX_NODES = 200;

export const nameForm = '[a-z][a-z0-9_]{0,39}';
const slotForm = new RegExp(`^\\s*(${nameForm})\\s*(?::\\s*(${nameForm})\\s*)?$`);

/** What is wrong with a pattern, and where: `offset` counts UTF-16 units from its start. */
export interface TemplateFault {
  offset: number;
  says: string;
}

interface Reader {
  text: string;
  at: number;
  nodes: number;
}

const wrong = (offset: number, says: string): never => {
  throw new IngleError('invalid_request', `The pattern ${says} (at character ${offset + 1}).`, {
    offset,
    says,
  });
};

export const wordsNode = (words: readonly string[]): Node =>
  sequence(words.map((word) => ({ kind: 'word', word })));

/** Parts in a row; one alone is itself. */
export function sequence(all: readonly Node[]): Node {
  // Brackets around what follows one after the other say nothing.
  const parts = all.flatMap((n) => (n.kind === 'sequence' ? n.parts : [n]));
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

function count(r: Reader, offset: number): void {
  if (++r.nodes > MAX_NODES) wrong(offset, `has more than ${MAX_NODES} parts`);
}

/** Plain words until the next bracket. */
function readWords(r: Reader, parts: Node[]): void {
  const from = r.at;
  while (r.at < r.text.length && !'[](){}|'.includes(r.text[r.at]!)) r.at++;
  const plain = r.text.slice(from, r.at);
  const words = tokensOf(plain);
  // Of more words than a sentence can have, none are read.
  if (words.length === 0 && plain.length > MAX_WORDS)
    wrong(from, `has more than ${MAX_WORDS} words in a row`);
  for (const word of words) {
    count(r, from);
    parts.push({ kind: 'word', word });
  }
}

function readSlot(r: Reader, open: number): Node {
  const end = r.text.indexOf('}', open);
  if (end < 0) return wrong(open, 'has a "{" without its "}"');
  const [, name, type] = slotForm.exec(r.text.slice(open + 1, end)) ?? [];
  if (name === undefined)
    return wrong(open, 'has a slot that is not written {name} or {name:type}, in small Latin letters');
  r.at = end + 1;
  return { kind: 'slot', name, type: type ?? FREE };
}

/** What stands in a pair of brackets. */
function readGroup(r: Reader, open: number, depth: number): Node {
  if (depth >= MAX_DEPTH) wrong(open, `has brackets more than ${MAX_DEPTH} deep`);
  const close = r.text[open] === '[' ? ']' : ')';
  r.at = open + 1;
  const of = readAlternatives(r, depth + 1);
  if (r.text[r.at] !== close) wrong(open, `has a "${r.text[open]}" without its "${close}"`);
  r.at++;
  const node: Node = of.length === 1 ? of[0]! : { kind: 'choice', of };
  return close === ']' ? { kind: 'optional', of: node } : node;
}

function readSequence(r: Reader, depth: number): Node {
  const parts: Node[] = [];
  const from = r.at;
  while (r.at < r.text.length) {
    const c = r.text[r.at]!;
    if (c === '|' || c === ']' || c === ')') break;
    if (c === '}') wrong(r.at, 'has a "}" without its "{"');
    if (c !== '[' && c !== '(' && c !== '{') {
      readWords(r, parts);
      continue;
    }
    const open = r.at;
    count(r, open);
    if (/[\p{L}\p{N}]/u.test(r.text[open - 1] ?? ' '))
      wrong(open, 'has a bracket inside a word; write (lamp|lamps), not lamp[s]');
    parts.push(c === '{' ? readSlot(r, open) : readGroup(r, open, depth));
    if (/[\p{L}\p{N}]/u.test(r.text[r.at] ?? ' '))
      wrong(r.at, 'has a bracket inside a word; write (lamp|lamps), not lamp[s]');
  }
  if (parts.length === 0) wrong(from, 'has a place without words');
  return sequence(parts);
}

function readAlternatives(r: Reader, depth: number): Node[] {
  const of: Node[] = [];
  for (;;) {
    if (of.length === MAX_ALTERNATIVES)
      wrong(r.at, `has more than ${MAX_ALTERNATIVES} alternatives in a row`);
    of.push(readSequence(r, depth));
    if (r.text[r.at] !== '|') return of;
    r.at++;
  }
}

/** Slots that may be filled at once; one that could be filled twice is a fault. */
function slotsAtOnce(node: Node): string[] {
  if (node.kind === 'slot') return [node.name];
  if (node.kind === 'optional') return slotsAtOnce(node.of);
  if (node.kind === 'choice') return [...new Set(node.of.flatMap(slotsAtOnce))];
  if (node.kind === 'word') return [];
  const all = node.parts.flatMap(slotsAtOnce);
  const twice = all.find((name, i) => all.indexOf(name) !== i);
  if (twice !== undefined) wrong(0, `fills the slot "${twice}" twice`);
  return all;
}

/** Whether a tree can be said with no word at all. */
export function canBeSilent(node: Node): boolean {
  if (node.kind === 'optional') return true;
  if (node.kind === 'choice') return node.of.some(canBeSilent);
  return node.kind === 'sequence' && node.parts.every(canBeSilent);
}

/** All slots of a tree, in the order they stand in. */
export function slotsOf(node: Node): { name: string; type: string }[] {
  if (node.kind === 'slot') return [{ name: node.name, type: node.type }];
  if (node.kind === 'optional') return slotsOf(node.of);
  if (node.kind === 'word') return [];
  return (node.kind === 'choice' ? node.of : node.parts).flatMap(slotsOf);
}

/**
 * The tree of a pattern: words, `[optional]`, `(one|another)`, `{slot}` (1 to 8 words), `{slot:number}`. Alternatives may
 * also stand in square brackets: `[please|kindly]`. Time and depth are bounded by the pattern's length.
 * @throws IngleError `invalid_request` with `{offset, says}`
 */
export function parseTemplate(text: string): Node {
  if (text.length > MAX_PATTERN) wrong(MAX_PATTERN, `has more than ${MAX_PATTERN} characters`);
  const r: Reader = { text, at: 0, nodes: 0 };
  const of = readAlternatives(r, 0);
  if (r.at < text.length) wrong(r.at, `has a "${text[r.at]}" without its opening bracket`);
  const node: Node = of.length === 1 ? of[0]! : { kind: 'choice', of };
  if (canBeSilent(node)) wrong(0, 'may be left out as a whole; make one word of it a must');
  slotsAtOnce(node);
  if (slotsOf(node).length > MAX_SLOTS) wrong(0, `has more than ${MAX_SLOTS} slots`);
  return node;
}

/** As `parseTemplate`, with the fault as a value. */
export function tryTemplate(text: string): { node: Node } | { fault: TemplateFault } {
  try {
    return { node: parseTemplate(text) };
  } catch (e) {
    if (!(e instanceof IngleError) || e.details === undefined) throw e;
    return { fault: e.details as unknown as TemplateFault };
  }
}
