// The manual page of `ingle` in roff, man(7): the table of commands, its help, and the table of errors. Pure.
import { errorTable } from '../../firmware/protocol/errors.ts';
import { cliManual } from '../../firmware/text/cli-man.ts';
import { type Language, translator } from '../../firmware/text/i18n.ts';
import type { Described, Reference } from './reference.ts';

type Heading = keyof (typeof cliManual)['en'];

const special: Record<string, string> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '"': '\\(dq',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** Text as roff prints it: nothing in it is a request or an escape, and it is one line. */
export function roff(text: string): string {
  const line = text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes
    .replace(/[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
    .trim()
    .replace(/[\\\-'`"^~]/g, (c) => special[c]!);
  return line.startsWith('.') ? `\\&${line}` : line;
}

const bold = (text: string) => `\\fB${roff(text)}\\fR`;
const item = (head: string, text: string) => `.TP\n${head}\n${roff(text) || '\\&'}`;

function command(c: Described): string {
  const told = c.parts.flatMap((p) => (typeof p === 'string' ? [] : p.head.split(/[ ,]+/)));
  // Help in words alone tells of the others.
  const others = c.options.filter((o) => !told.includes(o.name));
  const takes = (words: readonly string[]) => (words.length > 0 ? ` ${words.join(' | ')}` : '');
  return [
    `.SS ${roff(`ingle ${c.words}`)}`,
    bold(c.usage),
    ...c.parts.map((p) => (typeof p === 'string' ? `.PP\n${roff(p) || '\\&'}` : item(bold(p.head), p.text))),
    ...others.map((o) => item(bold(`${o.name}${takes(o.takes)}`), o.about)),
  ].join('\n');
}

const files: Record<string, Heading> = {
  '/var/lib/ingle/api/token': 'fileToken',
  '/etc/ingle/config.json': 'fileConfig',
  '/usr/share/ingle/device.json': 'fileDevice',
  '.ingle': 'fileHouse',
};

/** The variables that the command itself reads. */
export const variables: Record<string, Heading> = {
  'INGLE_LANG, LC_ALL, LC_MESSAGES, LANG': 'envLanguage',
  INGLE_BUS_ADDRESS: 'envBus',
  INGLE_DATA: 'envData',
  INGLE_CONFIG: 'envConfig',
  'INGLE_API_HOST, INGLE_API_PORT': 'envApi',
  INGLE_LOG: 'envLog',
  NO_COLOR: 'envColor',
};

/** @param version of this build */
export function manual(r: Reference, language: Language, version: string): string {
  const text = translator(cliManual, language);
  const codes = new Map<number, string[]>();
  for (const [code, { exit }] of Object.entries(errorTable))
    codes.set(exit, [...(codes.get(exit) ?? []), code]);
  const section = (heading: Heading, ...lines: string[]) => [`.SH ${roff(text(heading))}`, ...lines];
  const of = (list: Record<string, Heading>) =>
    Object.entries(list).map(([head, about]) => item(bold(head), text(about)));
  return `${[
    `.\\" ${roff(`Made from the table of commands and its help; version ${version}`)}`,
    `.TH INGLE 1 "" "${roff(`Ingle ${version}`)}"`,
    ...section('name', `ingle \\- ${roff(r.about)}`),
    ...section('synopsis', bold(r.usage)),
    ...section('description', roff(text('about'))),
    ...section('options', ...[...r.anywhere, ...r.alone].map((o) => item(bold(o.name), o.about))),
    ...section('commands', ...r.commands.map(command)),
    ...section('files', ...of(files)),
    ...section('environment', ...of(variables)),
    ...section(
      'exitStatus',
      item(bold('0'), text('exitDone')),
      ...[...codes].sort(([a], [b]) => a - b).map(([exit, list]) => item(bold(`${exit}`), list.join(', '))),
    ),
    ...section('seeAlso', '.BR dbus\\-daemon (1),', '.BR journalctl (1),', '.BR systemctl (1)'),
  ].join('\n')}\n`;
}
