// Speech of files that are sent: one at a time, a few that wait, each until it is done or nobody waits for it any more.
import type { Phrases } from '../../firmware/audio/grammar.ts';
import { durationMs, readUpload } from '../../firmware/audio/upload.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import { type Language, languages } from '../../firmware/text/i18n.ts';
import type { Models } from './model.ts';
import { checkPhrases, transcribe } from './recognition.ts';

/** The running one and those that wait. */
const MAX_AT_ONCE = 3;

export interface Recognizer {
  /** @throws IngleError `invalid_request`, `too_large`, `rate_limited`, `not_supported`, `timeout` */
  recognise(o: {
    id: string;
    sound: Uint8Array;
    lang: string;
    phrases: Phrases;
  }): Promise<{ text: string; duration_ms: number }>;
  /** Nobody waits for it any more. */
  stop(id: string): void;
  isBusy(): boolean;
}

export function recognizer(runtime: string, models: Models): Recognizer {
  const queue = openQueue();
  const running = new Map<string, AbortController>();
  return {
    async recognise({ id, sound, lang, phrases }) {
      if (running.size >= MAX_AT_ONCE)
        throw new IngleError(
          'rate_limited',
          'Other recordings are being recognised. Try again in a few seconds.',
          { retry_after: 3 },
        );
      if (running.has(id)) throw new IngleError('conflict', 'A recording with this id is being recognised.');
      const model = models(languageFrom(lang));
      const abort = new AbortController();
      running.set(id, abort);
      try {
        return await queue.add(async () => {
          if (abort.signal.aborted)
            throw new IngleError('timeout', 'Nobody waits for this recording any more.');
          checkPhrases(phrases, model);
          const samples = await readUpload(sound);
          try {
            const text = await transcribe(samples, phrases, { model, runtime, signal: abort.signal });
            return { text, duration_ms: durationMs(samples) };
          } finally {
            samples.fill(0);
          }
        });
      } finally {
        sound.fill(0);
        running.delete(id);
      }
    },
    stop: (id) => running.get(id)?.abort(),
    isBusy: () => running.size > 0,
  };
}

/** @throws IngleError `not_supported` */
export function languageFrom(lang: string): Language {
  const found = languages.find((l) => l === lang);
  if (!found)
    throw new IngleError('not_supported', `Speech is in ${languages.join(' or ')}.`, {
      lang: lang.slice(0, 20),
    });
  return found;
}
