// Completion for shells: one static script each, made of the table of commands and its help. Pure.
import { type Item, levels, type Option, type Reference } from './reference.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];
export const isShell = (name: string): name is Shell => (shells as readonly string[]).includes(name);

/** What may stand somewhere: words, and paths. */
interface Offer {
  items: Item[];
  paths: '' | 'file' | 'folder';
}

/** What each script knows. A place is the words of the command so far; `''` is the beginning. */
interface Known {
  places: string[];
  /** `place --option` of the options that want a value. */
  wanting: string[];
  /** What may come first at a place, what an argument may be (`place number`), and a value (`place --option`). */
  words: Map<string, Offer>;
  values: Map<string, Offer>;
  /** Options of a place, and of all. */
  options: Map<string, Option[]>;
  anywhere: readonly Option[];
}

/** A text on one line, without what could drive a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes
const line = (text: string) => text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ');

function offerOf(takes: readonly string[]): Offer {
  const words = takes.filter((t) => t !== '<file>' && t !== '<folder>');
  const paths = takes.includes('<file>') ? 'file' : takes.includes('<folder>') ? 'folder' : '';
  return { items: words.map((head) => ({ head, text: '' })), paths };
}

function knownOf(r: Reference): Known {
  const following = levels(r);
  const none = { words: new Map(), values: new Map(), options: new Map() };
  const k: Known = { places: [], wanting: [], anywhere: r.anywhere, ...none };
  const words = r.alone.filter((o) => !o.name.startsWith('-')).map((o) => ({ head: o.name, text: o.about }));
  for (const [place, items] of following) {
    k.words.set(`${place} 0`, { items: place === '' ? [...items, ...words] : items, paths: '' });
    k.places.push(...items.map((i) => `${place} ${i.head}`.trim()));
  }
  k.options.set(
    '',
    r.alone.filter((o) => o.name.startsWith('-')),
  );
  for (const c of r.commands) {
    if (c.options.length > 0) k.options.set(c.words, [...c.options]);
    for (const o of c.options.filter((o) => o.wantsValue)) {
      k.wanting.push(`${c.words} ${o.name}`);
      k.values.set(`${c.words} ${o.name}`, offerOf(o.takes));
    }
    for (const [n, takes] of c.arguments.entries())
      if (takes.length > 0) k.words.set(`${c.words} ${n}`, offerOf(takes));
  }
  return k;
}

/** A text as one word of bash and zsh: nothing in single quotes means anything. */
const quoted = (text: string) => `'${line(text).replaceAll("'", `'\\''`)}'`;
const all = (words: readonly string[]) => words.map(quoted).join(' ');
const either = (words: readonly string[]) => (words.length > 0 ? words.map(quoted).join(' | ') : "''");

/** Walks over the words before the cursor, in bash as in zsh: leaves the place, the number of arguments, and the option. */
const walk = (k: Known) => `    if [[ -n $wants ]]; then
      [[ $word == '=' ]] || wants=
    elif [[ $word == -* ]]; then
      case "$at $word" in
        ${either(k.wanting)}) wants=$word ;;
      esac
    else
      case "\${at:+$at }$word" in
        ${either(k.places)}) at=\${at:+$at }$word ;;
        help) ;;
        *) n=$((n + 1)) ;;
      esac
    fi`;

function bash(k: Known): string {
  const offer = ({ items, paths }: Offer) => {
    const words = items.length > 0 ? [`_ingle_words ${all(items.map((i) => i.head))}`] : [];
    if (paths !== '') words.push(`_ingle_paths ${paths === 'file' ? '-f' : '-d'}`);
    return words.join('; ') || ':';
  };
  const cases = (offers: Map<string, Offer>) =>
    [...offers].map(([at, o]) => `      ${quoted(at)}) ${offer(o)} ;;`).join('\n');
  const options = [...k.options].map(
    ([at, list]) => `      ${quoted(at)}) _ingle_words ${all(list.map((o) => o.name))} ;;`,
  );
  return `# bash completion for ingle, made by: ingle completion bash
_ingle_words() {
  local word
  for word; do
    if [[ $word == "$cur"* ]]; then
      printf -v word '%q' "$word"
      COMPREPLY+=("$before$word")
    fi
  done
}
_ingle_paths() {
  local path
  compopt -o filenames 2> /dev/null
  while IFS= read -r path; do COMPREPLY+=("$before$path"); done < <(compgen "$1" -- "$cur")
  # What is quoted or escaped readline completes better by itself.
  [[ \${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2> /dev/null
}
_ingle() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at= wants= before= word i n=0
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
${walk(k)}
  done
  if [[ -n $wants && $cur == '=' ]]; then
    cur=
  elif [[ -z $wants && $cur == --*=* ]]; then
    wants=\${cur%%=*} before=\${cur%%=*}= cur=\${cur#*=}
  fi
  if [[ -n $wants ]]; then
    case "$at $wants" in
${cases(k.values)}
    esac
  elif [[ $cur == -?* ]]; then
    case "$at" in
${options.join('\n')}
    esac
    _ingle_words ${all(k.anywhere.map((o) => o.name))}
  else
    case "$at $n" in
${cases(k.words)}
    esac
  fi
}
complete -F _ingle ingle
`;
}

function zsh(k: Known): string {
  // _describe takes what is before the first bare colon for the word, and a backslash for no text.
  const item = ({ head, text }: Item) => {
    const word = head.replace(/[\\:]/g, '\\$&');
    return quoted(text === '' ? word : `${word}:${text.replaceAll('\\', '\\\\')}`);
  };
  const option = (o: Option) => item({ head: o.name, text: o.about });
  const list = (what: string, items: Item[]) =>
    items.length > 0 ? [`offers=(${items.map(item).join(' ')}); _describe ${what} offers`] : [];
  const offer = ({ items, paths }: Offer) => {
    const words = list(items.some((i) => i.text !== '') ? "'command'" : "'value'", items);
    if (paths !== '') words.push(paths === 'file' ? '_files' : '_files -/');
    return words.join('; ') || ':';
  };
  const cases = (offers: Map<string, Offer>) =>
    [...offers].map(([at, o]) => `      ${quoted(at)}) ${offer(o)} ;;`).join('\n');
  const options = [...k.options].map(([at, given]) => {
    return `      ${quoted(at)}) offers=(${given.map(option).join(' ')}) ;;`;
  });
  return `#compdef ingle
# zsh completion for ingle, made by: ingle completion zsh
_ingle() {
  local at= wants= word cur=$words[CURRENT]
  local -i i n=0
  local -a offers
  for ((i = 2; i < CURRENT; i++)); do
    word=\${(Q)words[i]}
${walk(k)}
  done
  if [[ -z $wants && $cur == --*=* ]]; then
    wants=\${cur%%=*}
    compset -P '*='
  fi
  if [[ -n $wants ]]; then
    case "$at $wants" in
${cases(k.values)}
    esac
  elif [[ $cur == -?* ]]; then
    case "$at" in
${options.join('\n')}
    esac
    offers+=(${k.anywhere.map(option).join(' ')})
    _describe -o 'option' offers
  else
    case "$at $n" in
${cases(k.words)}
    esac
  fi
}
# The first time a file of fpath is asked, it is the function itself.
if [[ $funcstack[1] == _ingle ]]; then _ingle "$@"; else compdef _ingle ingle; fi
`;
}

/** A text as one word of fish. */
const fished = (text: string) => `'${line(text).replace(/[\\']/g, '\\$&')}'`;

function fish(k: Known): string {
  const lines: string[] = [];
  const when = (...words: string[]) => `-n ${fished(`__ingle_at ${words.map(fished).join(' ')}`)}`;
  // fish takes the words of -a for a command line of its own, so each is quoted once more.
  const given = ({ items, paths }: Offer) => {
    const words = items.map((i) => fished(i.head));
    if (paths === 'folder') words.push('(__fish_complete_directories)');
    return `${words.length > 0 ? ` -a ${fished(words.join(' '))}` : ''}${paths === 'file' ? ' -F' : ''}`;
  };
  const about = (text: string) => (text === '' ? '' : ` -d ${fished(text)}`);
  for (const [place, offer] of k.words) {
    const [, at = '', n = ''] = /^(.*) (\d+)$/.exec(place) ?? [];
    if (offer.items.some((i) => i.text !== ''))
      for (const i of offer.items)
        lines.push(`complete -c ingle ${when(at, n)} -a ${fished(fished(i.head))}${about(i.text)}`);
    else lines.push(`complete -c ingle ${when(at, n)}${given(offer)}`);
  }
  for (const [at, list] of k.options)
    for (const o of list) {
      const offer = k.values.get(`${at} ${o.name}`);
      const value = o.wantsValue ? ` ${offer?.paths === 'file' ? '-r' : '-x'}${given(offer!)}` : '';
      lines.push(`complete -c ingle ${when(at)} -l ${fished(o.name.slice(2))}${value}${about(o.about)}`);
    }
  for (const o of k.anywhere) lines.push(`complete -c ingle -l ${fished(o.name.slice(2))}${about(o.about)}`);
  return `# fish completion for ingle, made by: ingle completion fish
function __ingle_at
    set -l at ''
    set -l n 0
    set -l wants 0
    set -l before (commandline -opc)
    set -e before[1]
    for word in $before
        if test $wants = 1
            set wants 0
        else if string match -q -- '-*' $word
            contains -- "$at $word" ${k.wanting.map(fished).join(' ')}
            and set wants 1
        else if contains -- (string trim -- "$at $word") ${k.places.map(fished).join(' ')}
            set at (string trim -- "$at $word")
        else if test "$word" != help; or test "$at" != ''
            set n (math $n + 1)
        end
    end
    test "$at" = "$argv[1]"
    and begin
        not set -q argv[2]
        or test $n = "$argv[2]"
    end
end
complete -c ingle -f
${lines.join('\n')}
`;
}

/** The script that a shell reads to complete what is typed after `ingle`. */
export function completion(shell: Shell, r: Reference): string {
  return { bash, zsh, fish }[shell](knownOf(r));
}
