// The grammar of the `ingle` command. Pure: words in, a command or an error out.
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Say } from './say.ts';

interface Shape {
  /** Options without a value, and with one. */
  flags?: readonly string[];
  values?: readonly string[];
  /** Names of the arguments, all required. */
  arguments?: readonly string[];
}

export const commands = {
  init: { flags: ['yes'], values: ['owner-id', 'subnet-id', 'hub-id', 'app-url'] },
  login: { flags: ['new-passkey'] },
  'hub serve': { values: ['root', 'data'] },
  status: {},
  'browsers list': {},
  'browsers forget': { arguments: ['id'] },
  'browsers rename': { arguments: ['id', 'name'] },
  'api token rotate': {},
  'key rotate': {},
  'setup status': {},
  'setup restart': {},
  'setup finish': {},
  doctor: {},
  health: { flags: ['commit'], values: ['wait'] },
  selftest: {},
  licences: {},
  'journal export': { arguments: ['where'] },
  technician: { flags: ['export'] },
  rescue: {},
  'update status': {},
  'update check': { values: ['channel'] },
  'update install': { values: ['source', 'restart'] },
  'update restart': { flags: ['night'] },
  'update rollback': {},
  'skill key new': { arguments: ['file'] },
  'skill key show': { arguments: ['file'] },
  'skill pack': { values: ['key', 'out'], arguments: ['folder'] },
  'skill sign': { values: ['key', 'out'], arguments: ['file'] },
  'skill show': { arguments: ['file'] },
} as const satisfies Record<string, Shape>;

export type Command = keyof typeof commands;

export type Parsed =
  | { what: 'help'; of: Command | 'top' }
  /** The first words of several commands, and no command by themselves: `ingle browsers`. */
  | { what: 'group'; of: string }
  | { what: 'version' }
  | {
      what: 'run';
      command: Command;
      flags: ReadonlySet<string>;
      values: Readonly<Record<string, string>>;
      arguments: readonly string[];
    };

const isGroup = (words: string) => Object.keys(commands).some((c) => c.startsWith(`${words} `));
const isCommand = (words: string): words is Command => Object.hasOwn(commands, words);

/** @throws IngleError `invalid_request` naming the word that is wrong and the help that tells more. */
export function parseArgs(argv: readonly string[], text: Say['text']): Parsed {
  const bad = (...a: Parameters<Say['text']>) => new IngleError('invalid_request', text(...a));
  const words = argv.filter((a) => a !== '--json');
  const wantsHelp = words.some((a) => a === '--help' || a === '-h') || words[0] === 'help';
  const named = words.filter((a) => a !== '--help' && a !== '-h' && a !== 'help');
  const length = [3, 2, 1].find((n) => named.length >= n && isCommand(named.slice(0, n).join(' ')));
  const found = length === undefined ? undefined : (named.slice(0, length).join(' ') as Command);

  const group = named.join(' ');
  if (!found && named.length > 0 && isGroup(group)) return { what: 'group', of: group };
  if (wantsHelp) {
    if (found || named.length === 0) return { what: 'help', of: found ?? 'top' };
    throw bad('unknownCommand', { command: shown(named.join(' ')) });
  }
  if (words.length === 0) return { what: 'help', of: 'top' };
  if (named.some((a) => a === '--version' || a === '-V')) return { what: 'version' };
  if (!found) throw bad('unknownCommand', { command: shown(named.join(' ')) });

  const shape: Shape = commands[found];
  const flags = new Set<string>();
  const values: Record<string, string> = {};
  const args: string[] = [];
  const rest = named.slice(length);
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i]!;
    // A browser's id may begin with a hyphen.
    if (!word.startsWith('-') || (/^[\w-]{43}$/.test(word) && args.length < (shape.arguments?.length ?? 0))) {
      args.push(word);
      continue;
    }
    const [name, inline] = word.replace(/^--/, '').split(/=(.*)/s) as [string, string | undefined];
    if (shape.flags?.includes(name) && inline === undefined && word.startsWith('--')) flags.add(name);
    else if (shape.values?.includes(name) && word.startsWith('--')) {
      const value = inline ?? rest[++i];
      if (!value) throw bad('wantsValue', { option: `--${name}`, command: found });
      values[name] = value;
    } else throw bad('unknownOption', { option: shown(word), command: found });
  }
  const want = shape.arguments ?? [];
  if (args.length > want.length)
    throw bad('unknownOption', { option: shown(args[want.length]!), command: found });
  if (args.length < want.length)
    throw bad('missingArgument', { argument: want[args.length]!, command: found });
  return { what: 'run', command: found, flags, values, arguments: args };
}

/** The commands of a group with what they do, as the whole help lists them. */
export function groupHelp(help: (of: 'top') => string, group: string): string {
  const mine = help('top')
    .split('\n')
    .filter((line) => line.startsWith(`  ${group} `));
  return `ingle ${group} …\n\n${mine.join('\n')}`;
}

/** A word of the user's as an error may repeat it: short and without control characters. */
function shown(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes
  return word.replace(/[\x00-\x1f\x7f-\x9f]/g, '?').slice(0, 60);
}
