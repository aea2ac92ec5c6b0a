// Numbers in words and digits. Pure.
import { languages } from '../text/i18n.ts';
import { fractions, numberWords, oneAndAHalf, spell, wholes } from './number-words.ts';
import { type Kind, longestFirst, type Reading, readings, type Sentence } from './reading.ts';
import { type Node, parseTemplate, wordsNode } from './template.ts';

/** The largest number there is. */
export const MAX_NUMBER = 999_999_999_999;

const digits = /^-?\d{1,12}(?:\.\d{1,6})?$/;

/** A number under way: `room` is what the next word has to stay below, `group` what stands since the last thousand. */
interface Under {
  total: number;
  group: number;
  room: number;
  /** The last thousand or million; the next must be smaller. */
  ceiling: number;
  started: boolean;
}

/** Adds a word to a number; false when it is not part of it. */
function add(n: Under, word: string): boolean {
  const w = numberWords.get(word);
  if (!w) return false;
  const room = { zero: 1001, one: 10, teen: 100, ten: 100, hundred: 1000, times: 0 }[w.place];
  const left = { zero: 0, one: 1, teen: 1, ten: 10, hundred: 100, times: 0 }[w.place];
  if (w.place !== 'times') {
    if (n.room < room) return false;
    n.group += w.value;
    n.room = left;
  } else if (w.value === 100) {
    if (n.group < 1 || n.group > 99 || n.room !== 1) return false;
    n.group *= 100;
    n.room = 100;
  } else {
    if (w.value >= n.ceiling || (n.started && n.group === 0)) return false;
    n.total += (n.group || 1) * w.value;
    n.group = 0;
    n.room = 1000;
    n.ceiling = w.value;
  }
  n.started = true;
  return n.total + n.group <= MAX_NUMBER;
}

/** Whole numbers in words; digits, which may have a fraction, can be followed by "thousand" and "million". */
function* plain({ tokens }: Sentence, at: number): Generator<Reading> {
  const n: Under = { total: 0, group: 0, room: 1000, ceiling: Infinity, started: false };
  let i = at;
  if (digits.test(tokens[i]!)) {
    Object.assign(n, { group: Number(tokens[i]), room: 1, started: true });
    yield { next: ++i, value: n.group };
    if (n.group <= 0) return;
  } else if (tokens[i] === 'a' && numberWords.get(tokens[i + 1] ?? '')?.place === 'times') {
    Object.assign(n, { group: 1, room: 1 });
    i++;
  } else n.room = 1001;
  while (i < tokens.length) {
    // "a hundred and five", "a thousand and five".
    const isAnd = tokens[i] === 'and' && n.started && (n.room === 100 || n.group === 0);
    const word = tokens[isAnd ? i + 1 : i];
    if (word === undefined || !add(n, word)) return;
    i += isAnd ? 2 : 1;
    yield { next: i, value: n.total + n.group };
    if (n.room === 0) return;
  }
}

/** "point five", "and a half", "с половиной", "целых пять десятых" after a whole number. */
function* fraction({ tokens }: Sentence, { next: at, value }: Reading): Generator<Reading> {
  const digit = (i: number) => {
    const w = numberWords.get(tokens[i] ?? '');
    return w && w.value < 10 ? String(w.value) : undefined;
  };
  if (tokens[at] === 'point') {
    let text = '';
    for (let i = at + 1; text.length < 6 && digit(i) !== undefined; i++) {
      text += digit(i);
      yield { next: i + 1, value: Number(`${value}.${text}`) };
    }
  }
  if (tokens[at] === 'and' && tokens[at + 1] === 'a' && tokens[at + 2] === 'half')
    yield { next: at + 3, value: value + 0.5 };
  if (tokens[at] === 'с' && tokens[at + 1] === 'половиной') yield { next: at + 2, value: value + 0.5 };
  if (wholes.has(tokens[at] ?? '')) {
    const from = tokens[at + 1] === 'и' ? at + 2 : at + 1;
    for (const end of [from + 1, from + 2]) {
      const part = fractions.get(tokens[end] ?? '');
      const n: Under = { total: 0, group: 0, room: 100, ceiling: 0, started: false };
      if (part && tokens.slice(from, end).every((w) => add(n, w)) && n.group < part)
        yield { next: end + 1, value: (value * part + n.group) / part };
    }
  }
}

function* unsigned(s: Sentence, at: number): Generator<Reading> {
  for (const r of plain(s, at)) {
    yield r;
    if (Number.isInteger(r.value) && r.value >= 0) yield* fraction(s, r);
  }
  if (oneAndAHalf.has(s.tokens[at]!)) yield { next: at + 1, value: 1.5 };
}

/** Whole numbers below 1,000 as a tree: for speech, where each word of a grammar costs. */
const small = {
  en: parseTemplate('(zero|{r:rest}|{d:digit} hundred [[and] {r:rest}]|(a hundred) [and {r:rest}])'),
  ru: parseTemplate('(ноль|{r:rest}|{d:hundreds} [{r:rest}])'),
};
const range = (from: number, to: number, step = 1) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step);
/** A part of the tree, which is only said: the whole number reads it. */
const part = (name: string, values: readonly number[]): Kind => ({
  name,
  parts: {},
  starts: () => false,
  read: () => [],
  spoken: spelled(values),
});
function spelled(values: readonly number[]): Record<'en' | 'ru', Node> {
  const [en, ru] = languages.map(
    (l): Node => ({ kind: 'choice', of: values.map((v) => wordsNode(spell(v, l).split(' '))) }),
  );
  return { en: en!, ru: ru! };
}

/** Numbers, also negative and with a fraction. Speech has the whole ones below 1,000. */
export const numberKind: Kind = {
  name: 'number',
  parts: {
    rest: part('rest', range(1, 99)),
    digit: part('digit', range(1, 9)),
    hundreds: part('hundreds', range(100, 900, 100)),
  },
  spoken: small,
  starts: (token) =>
    numberWords.has(token) ||
    digits.test(token) ||
    token === 'a' ||
    token === 'minus' ||
    token === 'минус' ||
    oneAndAHalf.has(token),
  read(s, at) {
    const isMinus = s.tokens[at] === 'minus' || s.tokens[at] === 'минус';
    if (!isMinus) return longestFirst([...unsigned(s, at)]);
    if (at + 1 >= s.tokens.length) return [];
    return longestFirst([...unsigned(s, at + 1)].map((r) => ({ ...r, value: 0 - r.value })));
  },
};

/** Whole numbers of a range. Speech has those below 100, so that a grammar stays small. */
export function rangeKind(name: string, from: number, to: number): Kind {
  return {
    name,
    parts: {},
    spoken: from < 100 ? spelled(range(from, Math.min(to, 99))) : { en: undefined, ru: undefined },
    starts: numberKind.starts,
    read: (s, at) =>
      readings(numberKind, s, at).filter(
        ({ value }) => Number.isInteger(value) && value >= from && value <= to,
      ),
  };
}
