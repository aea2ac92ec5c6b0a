// The conversation of a hub that was started by its rescue entry, on any terminal it has. Pure but for what it is given.
import { toIngleError } from '../protocol/errors.ts';
import { type Language, translator } from '../text/i18n.ts';
import { rescueTexts } from '../text/rescue.ts';
import { may } from './access.ts';
import { consoleLogin } from './console-login.ts';
import { Left, type Talk } from './talk.ts';

export interface RescueDeps {
  model: string;
  version: string;
  language: Language;
  /** Hash of the console secret; empty: the maker set none, and then there is no shell. */
  secret: string;
  /** Waits after a wrong secret, longer each time. */
  wait(ms: number): Promise<void>;
  restart(): Promise<void>;
  /** What the doctor finds, and the last lines of the boot before. */
  check(): Promise<string>;
  logs(): Promise<string>;
  exportJournal(): Promise<string>;
  /** Makes the other slot the next to boot; false when it holds nothing that starts. */
  chooseOther(): Promise<boolean>;
  /** Erases everything that is kept. */
  reset(): Promise<void>;
  shell(): Promise<void>;
}

/** Lets nobody in without the secret, where there is one; then talks until the machine restarts. */
export async function rescueDialog(talk: Talk, d: RescueDeps): Promise<never> {
  const t = translator(rescueTexts, d.language);
  await talk.say(t('hello', { model: d.model, version: d.version }));
  await consoleLogin(d)(talk);
  const restart = async (text: 'restarting' | 'other_set' | 'reset_done') => {
    await talk.say(t(text));
    await d.restart();
  };
  const told = async (text: 'checking' | 'exporting', work: () => Promise<string>) => {
    await talk.say(t(text));
    await talk.say(await work());
  };
  const items: [label: string, act: () => Promise<void>][] = [
    [t('menu_restart'), () => restart('restarting')],
    [t('menu_check'), () => told('checking', d.check)],
    [t('menu_logs'), async () => talk.say(await d.logs())],
    [t('menu_export'), () => told('exporting', d.exportJournal)],
    [
      t('menu_other'),
      async () => ((await d.chooseOther()) ? restart('other_set') : talk.say(t('other_none'))),
    ],
    [
      t('menu_reset'),
      async () => {
        if ((await talk.ask(t('reset_ask'))).trim() !== 'erase') return talk.say(t('reset_not'));
        await d.reset();
        await restart('reset_done');
      },
    ],
  ];
  // Nobody comes here without the secret, where there is one; without one there is no shell.
  if (may('rescue', 'owned', 'shell', d.secret ? ['console', 'secret'] : ['console']))
    items.push([
      t('menu_shell'),
      async () => {
        await talk.say(t('shell'));
        await d.shell();
      },
    ]);
  for (;;) {
    const i = await talk.choose(
      t('menu'),
      items.map(([label]) => label),
    );
    try {
      await items[i]?.[1]();
    } catch (e) {
      if (e instanceof Left) throw e;
      await talk.say(t('failed', { message: toIngleError(e).message }));
    }
  }
}
