// What the table of commands and its help say together, for completion and the manual page. Pure.
import { alone, anywhere, type Shape } from './args.ts';

/** A line of help with something on its left: an option, a command. */
export interface Item {
  head: string;
  text: string;
}

export interface Option {
  /** `--restart` */
  name: string;
  about: string;
  wantsValue: boolean;
  takes: readonly string[];
}

export interface Described {
  /** `update install` */
  words: string;
  usage: string;
  /** A few words. */
  about: string;
  /** The help in order: paragraphs, and items. */
  parts: readonly (string | Item)[];
  options: readonly Option[];
  /** What each argument takes. */
  arguments: readonly (readonly string[])[];
}

export interface Reference {
  usage: string;
  about: string;
  /** Options of every command, and words that stand alone. */
  anywhere: readonly Option[];
  alone: readonly Option[];
  commands: readonly Described[];
}

export type Table = Readonly<Record<string, Shape>>;

/** Splits help: lines that belong together become one part. */
function partsOf(lines: readonly string[]): (string | Item)[] {
  const parts: (string | Item)[] = [];
  for (const line of lines) {
    const last = parts.at(-1);
    const [, head, text] = /^ {2}(\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    if (head !== undefined) parts.push({ head, text: text ?? '' });
    else if (line.trim() === '') parts.push('');
    else if (typeof last === 'object' && line.startsWith(' '))
      last.text = `${last.text} ${line.trim()}`.trim();
    else if (typeof last === 'string' && last !== '') parts[parts.length - 1] = `${last} ${line.trim()}`;
    else parts.push(line.trim());
  }
  return parts.filter((p) => p !== '');
}

const isItem = (p: string | Item): p is Item => typeof p === 'object';
const firstSentence = (text: string) => (/^.*?[.:](?=\s|$)/.exec(text)?.[0] ?? text).replace(/[.:]$/, '');

/** @param help the help of a command, and of `top` */
export function reference(commands: Table, help: (of: string) => string): Reference {
  const [first = '', ...rest] = help('top').split('\n');
  const [usage = '', about = ''] = first.split(/ {2,}/);
  const top = partsOf(rest).filter(isItem);
  const topAbout = (words: string) => top.find((i) => `${i.head} `.startsWith(`${words} `))?.text ?? '';
  const plain = (name: string): Option => ({
    name,
    // `--help` and the word `help` do the same.
    about: topAbout(name) || topAbout(name.replace('--', '')),
    wantsValue: false,
    takes: [],
  });
  return {
    usage,
    about,
    anywhere: anywhere.map(plain),
    alone: alone.map(plain),
    commands: Object.entries(commands).map(([words, shape]) => {
      const [line = '', ...more] = help(words).split('\n');
      const parts = partsOf(more);
      const option = (wantsValue: boolean) => (name: string) => ({
        name: `--${name}`,
        about: parts.filter(isItem).find((i) => i.head.split(/[ ,]+/).includes(`--${name}`))?.text ?? '',
        wantsValue,
        takes: shape.takes?.[name] ?? [],
      });
      return {
        words,
        usage: line,
        about: topAbout(words) || firstSentence(parts.find((p) => typeof p === 'string') ?? ''),
        parts,
        options: [
          ...(shape.flags ?? []).map(option(false)),
          ...[...(shape.values ?? []), ...(shape.lists ?? [])].map(option(true)),
        ],
        arguments: [...(shape.arguments ?? []), ...(shape.optional ?? [])].map(
          (name) => shape.takes?.[name] ?? [],
        ),
      };
    }),
  };
}

/** The words that may follow others, with what each is about; of a group, what it holds. `''` is where all begin. */
export function levels(r: Reference): Map<string, Item[]> {
  const found = new Map<string, Item[]>();
  for (const c of r.commands) {
    const words = c.words.split(' ');
    for (const [i, head] of words.entries()) {
      const at = words.slice(0, i).join(' ');
      const here = found.get(at) ?? [];
      const text = i === words.length - 1 ? c.about : '';
      const same = here.find((item) => item.head === head);
      if (same) same.text ||= text;
      else here.push({ head, text });
      found.set(at, here);
    }
  }
  for (const [at, items] of found)
    for (const item of items) {
      const inside = found.get(`${at} ${item.head}`.trim());
      if (item.text === '' && inside) item.text = inside.map((i) => i.head).join(', ');
    }
  return found;
}
