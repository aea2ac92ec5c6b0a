// A console at the device: one person after another, with the setup conversation and what setup tells meanwhile.
import { printed, printing } from '../io/print.ts';
import type { Caller } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import { dialogTexts } from '../text/dialog.ts';
import { type Language, translator } from '../text/i18n.ts';
import { may, type Proof } from './access.ts';
import type { Attendance } from './attendance.ts';
import { sayPairing } from './codes-dialog.ts';
import { consoleLogin } from './console-login.ts';
import type { setup1 } from './contract.ts';
import { type DialogDeps, setupDialog } from './dialog.ts';
import { type Progress, stepText } from './progress.ts';
import { Left, type Talk } from './talk.ts';
import type { Terminal } from './terminal.ts';

export interface ConsoleOptions {
  way: 'screen' | 'serial';
  term: Talk & Pick<Terminal, 'clear'>;
  person: Attendance;
  /** Hash of the console secret; empty: the maker set none. */
  secret: string;
  setup: Caller<typeof setup1>;
  onProgress: Progress;
  /** Payloads of the topic io.console.print. */
  onPrint(f: (payload: unknown) => void): void;
  technician: NonNullable<DialogDeps['technician']>;
  language: Language;
  log: Log;
}

export interface Console {
  /** What the person who is at it has shown. */
  proven(): Proof[];
  /** Shows the access point's password; a console with a secret of its own shows it to nobody. */
  showSecrets(): Promise<void>;
  /** Talks for as long as the process lives, and shows what setup tells everybody, as far as this console may know it. */
  converse(): Promise<never>;
}

export function openConsole(o: ConsoleOptions): Console {
  const { way, term, person, setup, language, onProgress } = o;
  const t = translator(dialogTexts, language);
  const login = consoleLogin({
    secret: o.secret,
    language,
    onWrong: () => o.log.warn('a wrong console secret'),
  });
  const proven = (): Proof[] => (person.inside || !o.secret ? ['console'] : []);

  function follow(): void {
    onProgress((step, state, text, detail) => {
      // A locked line shows neither codes nor that somebody is guessing.
      if (!may(way, 'owned', 'pair', proven())) return;
      const told = text === 'pin_wait' || step === 'pairing';
      if (!told) return;
      void term
        .say(stepText(text, detail, language))
        .then(() =>
          step === 'pairing' && state === 'ok' ? sayPairing(term, { setup, language }) : undefined,
        )
        .catch((e) => o.log.info('the code is not shown', { error: e as Error }));
    });
  }

  function print(): void {
    const admit = printing();
    o.onPrint((payload) => {
      // A locked line shows nothing of the house.
      if (proven().length === 0) return;
      const line = admit(payload, performance.now());
      if (!line) return;
      const text =
        line.left_out > 0
          ? `${t('left_out', { left_out: line.left_out })}\n${printed(line, way)}`
          : printed(line, way);
      void term.say(text).catch((e) => o.log.info('a line is not shown', { error: e as Error }));
    });
  }

  async function showSecrets(): Promise<void> {
    if (o.secret) return;
    await term.say(t('secrets', { ...(await setup.Secrets({})) })).catch(() => {});
  }

  /** From the first key to the end of the conversation. */
  async function receive(): Promise<void> {
    // What was shown to who typed the console secret, a code for a new passkey among it, is not for who comes next.
    if (person.inside) term.clear();
    person.over();
    await term.ask('\r\nEnter');
    person.begin();
    await login(term);
    if (o.secret) person.enter();
    await showSecrets();
    await setupDialog(term, {
      channel: 'serial',
      may: (stage, action) => may(way, stage, action, proven()),
      setup,
      language,
      onProgress,
      technician: o.technician,
    });
  }

  return {
    proven,
    showSecrets,
    async converse() {
      follow();
      print();
      for (;;)
        await receive().catch(async (e) => {
          if (e instanceof Left) return;
          o.log.error('the conversation broke off', { error: e as Error });
          await new Promise((resolve) => setTimeout(resolve, 1000));
        });
    },
  };
}
