// Speech of files that are sent: one at a time, a few that wait, each until it is done or nobody waits for it any more.
import type { Phrases } from '../../firmware/audio/grammar.ts';
import { durationMs, readUpload } from '../../firmware/audio/upload.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import { checkPhrases, transcribe } from './speech.ts';

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

export function recognizer(runtime: string): Recognizer {
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
      if (lang !== 'en')
        throw new IngleError('not_supported', 'This hub recognises English only. Send "lang" as "en".', {
          lang,
        });
      const abort = new AbortController();
      running.set(id, abort);
      try {
        return await queue.add(async () => {
          if (abort.signal.aborted)
            throw new IngleError('timeout', 'Nobody waits for this recording any more.');
          checkPhrases(phrases);
          const samples = await readUpload(sound);
          try {
            const text = await transcribe(samples, { phrases, runtime, signal: abort.signal });
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
