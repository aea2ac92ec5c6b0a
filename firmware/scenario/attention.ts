// Waking by a phrase: while the owner has it on, the sound service waits for the phrase, and what follows is what a tap
// does. How long it waits, and what was heard before, is nobody's to know.
import { toIngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import type { Language } from '../text/i18n.ts';
import type { Asker } from './household.ts';
import type { Ear, Voice } from './voice.ts';

/** Whether the phrase is waited for, and why it cannot be. */
export interface Attending {
  on: boolean;
  phrase: string;
  /** Code of the last error; empty while all is well. */
  trouble: string;
}

export interface Wanted {
  lang: Language;
  phrase: string;
}

export interface Attention {
  attending(): Attending;
  /** Waits for the phrase from now on, over whatever goes wrong. */
  begin(): void;
  /**
   * On: looks first whether the phrase can be heard here.
   * @throws IngleError `not_supported`, `invalid_request`, `not_found` without a microphone, `unavailable`
   */
  turn(on: boolean): Promise<void>;
  /** Whoever speaks at the hub is listened to, as after a tap. */
  wake(): Promise<void>;
  stop(): void;
}

/** Between tries while it cannot be heard (no microphone, no sound service), milliseconds. */
const FIRST_MS = 1000;
const MOST_MS = 60_000;
/** The sound service listens no longer than this for somebody who may be gone, seconds. */
const WAIT_S = 600;

export function openAttention(o: {
  ear: Pick<Ear, 'awaitPhrase'>;
  voice: Pick<Voice, 'wake' | 'over'>;
  /** What is waited for, as it is chosen now. */
  wanted(): Wanted;
  /** For whom an unknown voice is listened to. */
  someone(): Promise<Asker>;
  log: Log;
}): Attention {
  const { ear, voice, log } = o;
  /** As it was turned last; a service that stops does not turn it off. */
  let on = false;
  /** A loop goes on while it is this one. */
  let loop: { again?: () => void } | undefined;
  let trouble = '';
  let wanted = o.wanted();
  /** On and off, one after the other: what is asked last is so. */
  const turns = openQueue();

  async function wake(): Promise<void> {
    const { lang } = wanted;
    try {
      await voice.wake({ ...(await o.someone()), locale: lang }, lang);
    } catch (e) {
      log.info('the hub was woken in vain', { error: toIngleError(e) });
    }
    await voice.over();
  }
  async function look(): Promise<void> {
    wanted = o.wanted();
    await ear.awaitPhrase({ seconds: 0, ...wanted });
  }
  async function attend(mine: NonNullable<typeof loop>): Promise<void> {
    let pause = FIRST_MS;
    while (loop === mine) {
      try {
        if (trouble !== '') {
          await look();
          if (loop !== mine) return;
          trouble = '';
        }
        wanted = o.wanted();
        const { heard } = await ear.awaitPhrase({ seconds: WAIT_S, ...wanted });
        pause = FIRST_MS;
        if (heard && loop === mine) await wake();
      } catch (e) {
        if (loop !== mine) return;
        const { code } = toIngleError(e);
        if (code !== trouble) log.warn('the phrase cannot be heard', { error: toIngleError(e) });
        trouble = code;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pause);
          mine.again = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        pause = Math.min(MOST_MS, 2 * pause);
      }
    }
  }
  function begin(): void {
    on = true;
    if (loop) return;
    loop = {};
    void attend(loop);
  }
  /** The microphone is closed once this settles. */
  async function end(): Promise<void> {
    if (!loop) return;
    const ended = loop;
    loop = undefined;
    trouble = '';
    ended.again?.();
    await ear.awaitPhrase({ seconds: 0, ...wanted, phrase: '' }).catch((e) => {
      // Where there is no sound service, nobody listens.
      if (toIngleError(e).code !== 'unavailable') throw e;
    });
  }
  return {
    attending: () => ({ on, phrase: wanted.phrase, trouble }),
    begin,
    turn: (next) =>
      turns.add(async () => {
        if (next) {
          await look();
          begin();
        } else {
          on = false;
          await end();
        }
      }),
    wake,
    stop: () =>
      void end().catch((e) => {
        log.info('the sound service was not told to wait no longer', { error: toIngleError(e) });
      }),
  };
}
