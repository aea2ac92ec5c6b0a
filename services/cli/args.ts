// The grammar of the `ingle` command. Pure: words in, a command or an error out.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { personRoles } from '../../firmware/protocol/roles.ts';
import type { Say } from './say.ts';

export interface Shape {
  /** Options without a value, with one, and with one each time they are given. */
  flags?: readonly string[];
  values?: readonly string[];
  lists?: readonly string[];
  /** Names of the arguments, all required, and of those after them that may be left out. */
  arguments?: readonly string[];
  optional?: readonly string[];
  /**
   * What options and arguments take, by name, where words are known; `<file>` and `<folder>` are paths. The shell offers
   * it, and whoever does the command checks it.
   */
  takes?: Readonly<Record<string, readonly string[]>>;
}

/** Words that any command takes, and those that stand alone. */
export const anywhere = ['--json', '--help'] as const;
export const alone = ['help', '--version'] as const;

export const commands = {
  init: { flags: ['yes'], values: ['owner-id', 'subnet-id', 'hub-id', 'app-url'] },
  login: { flags: ['new-passkey'] },
  'hub serve': { values: ['root', 'data', 'host', 'port'], takes: { data: ['<folder>'] } },
  'hub stop': { values: ['data'], takes: { data: ['<folder>'] } },
  'hub restart': { values: ['data'], takes: { data: ['<folder>'] } },
  status: {},
  'browsers list': {},
  'browsers forget': { arguments: ['id'] },
  'browsers rename': { arguments: ['id', 'name'] },
  'account login': { values: ['root', 'name'] },
  'account logout': {},
  'account sign-ins list': {},
  'account sign-ins rename': { arguments: ['id', 'name'] },
  'account sign-ins revoke': { arguments: ['id'] },
  'account passkeys list': {},
  'account passkeys rename': { arguments: ['id', 'name'] },
  'account passkeys remove': { arguments: ['id'] },
  'account hubs list': {},
  'account hubs rename': { arguments: ['id', 'name'] },
  'account trail': {},
  'account trail export': {},
  'people list': {},
  'people invite': {
    arguments: ['name'],
    values: ['role', 'until'],
    takes: { role: [...personRoles] },
  },
  'people change': {
    arguments: ['id'],
    values: ['name', 'role', 'until'],
    takes: { role: [...personRoles] },
  },
  'people remove': { arguments: ['id'] },
  'subnet invite': {},
  'subnet join': { flags: ['yes'], arguments: ['invitation'] },
  'subnet nodes': {},
  'subnet remove': { arguments: ['id'] },
  'subnet leave': {},
  'api call': {
    arguments: ['method', 'path'],
    values: ['body'],
    lists: ['query'],
    takes: { method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], body: ['-', '<file>'] },
  },
  'api token rotate': {},
  say: { arguments: ['text'], values: ['lang'], takes: { lang: ['en', 'ru'] } },
  'voice listen': { values: ['lang'], takes: { lang: ['en', 'ru'] } },
  'voice stop': {},
  'voice phrase': { arguments: ['switch'], takes: { switch: ['on', 'off'] } },
  'voice status': { values: ['lang'], takes: { lang: ['en', 'ru'] } },
  'hook new': { arguments: ['name', 'topic'] },
  'hook list': {},
  'hook remove': { arguments: ['id'] },
  'hook rotate': { arguments: ['id'] },
  'mcp on': {},
  'mcp off': {},
  'mcp status': {},
  'desktop show': {},
  'desktop set': { arguments: ['file'], takes: { file: ['<file>'] } },
  'desktop reset': {},
  completion: { arguments: ['shell'], takes: { shell: ['bash', 'zsh', 'fish'] } },
  'key rotate': {},
  'setup status': {},
  'setup restart': {},
  'setup finish': {},
  doctor: {},
  health: { flags: ['commit'], values: ['wait'] },
  selftest: {},
  licences: {},
  'journal export': { arguments: ['where'], takes: { where: ['usb', '<folder>'] } },
  technician: { flags: ['export'] },
  rescue: {},
  'update status': {},
  'update check': { values: ['channel'], takes: { channel: ['stable', 'beta'] } },
  'update install': {
    values: ['source', 'restart'],
    takes: { source: ['stream', 'usb', '<file>'], restart: ['now', 'night'] },
  },
  'update restart': { flags: ['night'] },
  'update rollback': {},
  'skill new': { arguments: ['name'] },
  'skill build': { arguments: ['folder'], takes: { folder: ['<folder>'] } },
  'skill test': { arguments: ['folder'], takes: { folder: ['<folder>'] } },
  'skill dev': { arguments: ['folder'], takes: { folder: ['<folder>'] } },
  'ui preview': { values: ['port'], arguments: ['file'], takes: { file: ['<file>'] } },
  'ui reference': { values: ['out'], takes: { out: ['<folder>'] } },
  'skill key new': { arguments: ['file'] },
  'skill key show': { arguments: ['file'] },
  'skill pack': { values: ['key', 'out'], arguments: ['folder'] },
  'skill sign': { values: ['key', 'out'], arguments: ['file'] },
  'skill show': { arguments: ['file'] },
  'skill install': { flags: ['yes'], arguments: ['file'], takes: { file: ['<file>'] } },
  'skill update': { flags: ['yes'], arguments: ['file'], takes: { file: ['<file>'] } },
  'skill list': {},
  'skill activate': { arguments: ['id', 'version'] },
  'skill discard': { arguments: ['id', 'version'] },
  'skill rollback': { arguments: ['id'] },
  'skill remove': { flags: ['yes'], arguments: ['id'] },
  'skill logs': { arguments: ['id'] },
  'skill publishers': {},
  'skill trust': { arguments: ['key'], values: ['name', 'ids'] },
  'skill revoke': { arguments: ['key'] },
  'skill developer': { arguments: ['switch'], takes: { switch: ['on', 'off'] } },
  'scenario list': {},
  'scenario run': { arguments: ['id'], lists: ['ctx'] },
  'scenario status': { arguments: ['run'] },
  'scenario runs': { optional: ['id'] },
  'scenario stop': { arguments: ['run'] },
  'scenario kill': { arguments: ['run'] },
  'scenario pause': { arguments: ['run'] },
  'scenario resume': { arguments: ['run'] },
  'scenario on': { arguments: ['id'] },
  'scenario off': { arguments: ['id'] },
  'scenario set': { arguments: ['id', 'value'] },
  'scenario rehearse': { arguments: ['id'], lists: ['ctx'] },
  'scenario week': {},
  'scenario plan': { arguments: ['id'], values: ['cron', 'at', 'zone'] },
  'scenario unplan': { arguments: ['job'] },
  'scenario dead': {},
  'scenario replay': { arguments: ['id'], values: ['from'], takes: { from: ['start', 'step'] } },
  'scenario discard': { arguments: ['id'] },
  'scenario say': { arguments: ['text'] },
  'scenario check': { arguments: ['file'], takes: { file: ['<file>'] } },
  'scenario new': {
    arguments: ['folder'],
    values: ['id', 'from'],
    takes: { folder: ['<folder>'], from: ['<file>'] },
  },
  'scenario pack': {
    arguments: ['folder'],
    values: ['key', 'out'],
    takes: { folder: ['<folder>'], key: ['<file>'] },
  },
  'scenario install': { arguments: ['file'], takes: { file: ['<file>'] } },
  'scenario versions': { arguments: ['id'] },
  'scenario use': { flags: ['yes'], arguments: ['id', 'version'] },
  'scenario rollback': { flags: ['yes'], arguments: ['id'] },
  'scenario update': {},
  'scenario remove': { arguments: ['id'] },
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
      lists: Readonly<Record<string, readonly string[]>>;
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
  const lists: Record<string, string[]> = {};
  const args: string[] = [];
  const rest = named.slice(length);
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i]!;
    // The id of a browser or of a sign-in may begin with a hyphen.
    if (
      !word.startsWith('-') ||
      (/^[\w-]{22}(?:[\w-]{21})?$/.test(word) && args.length < (shape.arguments?.length ?? 0))
    ) {
      args.push(word);
      continue;
    }
    const [name, inline] = word.replace(/^--/, '').split(/=(.*)/s) as [string, string | undefined];
    if (shape.flags?.includes(name) && inline === undefined && word.startsWith('--')) flags.add(name);
    else if ((shape.values?.includes(name) || shape.lists?.includes(name)) && word.startsWith('--')) {
      const value = inline ?? rest[++i];
      if (!value) throw bad('wantsValue', { option: `--${name}`, command: found });
      if (shape.lists?.includes(name)) lists[name] = [...(lists[name] ?? []), value];
      else values[name] = value;
    } else throw bad('unknownOption', { option: shown(word), command: found });
  }
  const want = shape.arguments ?? [];
  const most = want.length + (shape.optional?.length ?? 0);
  if (args.length > most) throw bad('unknownOption', { option: shown(args[most]!), command: found });
  if (args.length < want.length)
    throw bad('missingArgument', { argument: want[args.length]!, command: found });
  return { what: 'run', command: found, flags, values, lists, arguments: args };
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
