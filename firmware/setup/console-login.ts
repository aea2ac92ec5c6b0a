// The login of a console whose maker set a secret: asked for until it is right, with pauses that grow.
import { dialogTexts } from '../text/dialog.ts';
import { type Language, translator } from '../text/i18n.ts';
import { checkSecret } from './console-secret.ts';
import type { Talk } from './talk.ts';

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

export interface LoginOptions {
  /** Hash of the console secret; empty: the maker set none, and nobody is asked. */
  secret: string;
  language: Language;
  wait?(ms: number): Promise<void>;
  onWrong?(): void;
}

/**
 * What is given back settles once the secret was typed. Wrong ones count from one person to the next: who leaves in
 * between has to wait all the same.
 */
export function consoleLogin(o: LoginOptions): (talk: Talk) => Promise<void> {
  const t = translator(dialogTexts, o.language);
  const wait = o.wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  let wrong = 0;
  return async (talk) => {
    while (o.secret && !(await checkSecret(await talk.ask(t('login'), true), o.secret))) {
      o.onWrong?.();
      await wait(Math.min(LONGEST_MS, FIRST_MS * 2 ** wrong++));
      await talk.say(t('login_wrong'));
    }
    wrong = 0;
  };
}
