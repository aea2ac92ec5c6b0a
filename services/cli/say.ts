// How the command speaks: lines for a person, or one JSON object a line for a program.

import { cliTexts } from '../../firmware/text/cli.ts';
import { pickLanguage, translator } from '../../firmware/text/i18n.ts';

export type Key = keyof (typeof cliTexts)['en'];

export interface Say {
  text(key: Key, values?: Record<string, string | number>): string;
  /** A line for a person on stdout; nothing with --json. */
  line(text: string): void;
  /** A JSON object on stdout; nothing without --json. */
  event(value: Record<string, unknown>): void;
}

/** The person's language by POSIX (LC_ALL, LC_MESSAGES, LANG), `INGLE_LANG` first. */
export function languageOf(env: NodeJS.ProcessEnv) {
  const tag = env['INGLE_LANG'] || env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || 'en';
  return pickLanguage([tag.replace(/[_.@].*/, '')]);
}

export function speaker(o: { json: boolean; env: NodeJS.ProcessEnv; out: (text: string) => void }): Say {
  return {
    text: translator(cliTexts, languageOf(o.env)),
    line: (text) => o.json || o.out(`${text}\n`),
    event: (value) => o.json && o.out(`${JSON.stringify(value)}\n`),
  };
}
