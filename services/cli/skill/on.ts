// What the commands for skills on the hub work with.
import type { Language, translator } from '../../../firmware/text/i18n.ts';
import type { installedTexts } from '../../../firmware/text/installed.ts';
import type { AskJson } from '../hub/ask.ts';
import type { Say } from '../say.ts';
import type { hubTextOf } from './text.ts';

export type Question = ((question: string) => Promise<string>) | undefined;

export interface On {
  ask: AskJson;
  say: Say;
  t: ReturnType<typeof hubTextOf>;
  /** Words for states and reasons. */
  words: ReturnType<typeof translator<keyof (typeof installedTexts)['en']>>;
  language: Language;
  flags: ReadonlySet<string>;
  values: Readonly<Record<string, string>>;
  /** Asks a person; absent where nobody can answer. */
  question: Question;
}
