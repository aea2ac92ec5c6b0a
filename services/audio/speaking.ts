// Speech: what the hub says, and what it is told.
import type { Pair } from '../../firmware/audio/score.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import type { Log } from '../../firmware/system/log.ts';
import { type AudioText, audioTexts } from '../../firmware/text/audio.ts';
import { type Language, pickLanguage, translator } from '../../firmware/text/i18n.ts';
import type { AudioParts, Methods } from './parts.ts';
import { checkPhrases, recognise, transcribe } from './recognition.ts';
import { languageFrom, type Recognizer } from './recognizer.ts';
import { listen, speak } from './speech.ts';

export function speaking(
  p: AudioParts,
  recording: Recognizer,
): Methods<'VadListen' | 'Listen' | 'ConfirmYes' | 'Say' | 'Recognize' | 'StopRecognizing'> {
  const { job, choice, log, runtime, models } = p;
  return {
    async VadListen({ source_id, timeout_s }) {
      const { device } = await choice.source(source_id);
      return job.exclusive('VadListen', async (signal) => {
        const l = await listen(device.id, checkTimeout(timeout_s), { signal, onLevel: p.level(device.id) });
        const said = l.heard && l.short ? await yesOf(p, l.samples, signal).catch(muteable(log)) : undefined;
        l.samples.fill(0);
        return { heard: l.heard, phrase: said?.phrase ?? '' };
      });
    },
    async Listen({ source_id, timeout_s, lang, phrases }) {
      const model = models(languageFrom(lang));
      checkPhrases(phrases, model);
      const { device } = await choice.source(source_id);
      return job.exclusive('Listen', async (signal) => {
        const l = await listen(device.id, checkTimeout(timeout_s), { signal, onLevel: p.level(device.id) });
        try {
          return {
            heard: l.heard,
            text: l.heard ? await transcribe(l.samples, phrases, { model, runtime, signal }) : '',
          };
        } finally {
          l.samples.fill(0);
        }
      });
    },
    async ConfirmYes({ sink_id, source_id, lang, timeout_s }) {
      const pair = await choice.pair(sink_id, source_id);
      const timeout = checkTimeout(timeout_s);
      return job.exclusive('ConfirmYes', async (signal) => {
        const a = await askYes(p, pair, pickLanguage([lang]), timeout, signal);
        return { heard: a.heard, yes: a.answer === 'yes', phrase: a.phrase };
      });
    },
    async Say({ text, lang, slow, sink_id }) {
      checkText(text);
      if (sink_id !== '*' && sink_id !== '') await choice.sink(sink_id);
      return job.queued('Say', async (signal) => {
        const sinks =
          sink_id === '*'
            ? (await choice.ranking()).sinks.filter((s) => s.device.connected)
            : [await choice.sink(sink_id)];
        const ids = sinks.map((s) => s.device.id);
        return { spoken: await speakThrough(ids, text, { lang: pickLanguage([lang]), slow, signal }, log) };
      });
    },
    Recognize: (asked) => recording.recognise(asked),
    StopRecognizing({ id }) {
      recording.stop(id);
      return {};
    },
  };
}

/** Speaks through each output in turn. @returns those that spoke @throws IngleError when none did */
async function speakThrough(
  sinks: string[],
  text: string,
  how: Parameters<typeof speak>[2],
  log: Log,
): Promise<string[]> {
  const spoken: string[] = [];
  let fault: unknown;
  for (const sink of sinks) {
    if (how.signal?.aborted) break;
    try {
      await speak(sink, text, how);
      spoken.push(sink);
    } catch (e) {
      // One dead output must not keep the others from speaking.
      fault = e;
      log.warn('an output does not speak', { sink, error: e as Error });
    }
  }
  if (spoken.length === 0)
    throw fault ? toIngleError(fault) : new IngleError('unavailable', 'There is no output to speak through.');
  return spoken;
}

/** Says one of the house's texts through a pair. */
export function sayText(pair: Pair, text: AudioText, lang: Language, signal: AbortSignal): Promise<void> {
  return speak(pair.sink.id, translator(audioTexts, lang)(text), { lang, slow: false, signal });
}

/** Asks for a yes aloud and listens. */
export async function askYes(
  p: AudioParts,
  pair: Pair,
  lang: Language,
  timeoutMs: number,
  signal: AbortSignal,
) {
  await sayText(pair, 'ask_yes', lang, signal);
  const l = await listen(pair.source.id, timeoutMs, { signal, onLevel: p.level(pair.source.id) });
  const said =
    l.heard && l.short ? await yesOf(p, l.samples, signal) : { answer: 'none' as const, phrase: '' };
  l.samples.fill(0);
  return { heard: l.heard, ...said };
}

/** Yes and no are English: every hub has that model. */
const yesOf = async ({ models, runtime }: AudioParts, samples: Int16Array, signal: AbortSignal) =>
  recognise(samples, { model: models('en'), runtime, signal });

/** Missing speech programs leave the hub mute, not broken; anything else is a fault. */
export const muteable =
  (log: Log) =>
  (e: unknown): undefined => {
    const error = toIngleError(e);
    if (error.code !== 'not_supported') throw e;
    log.warn('speech is not installed', { error });
    return undefined;
  };

export function checkTimeout(seconds: number): number {
  if (!(seconds > 0 && seconds <= 30))
    throw new IngleError('invalid_request', 'Listening takes at most 30 seconds.', { pointer: '/timeout_s' });
  return seconds * 1000;
}

export function checkText(text: string): void {
  if (text.trim() === '' || text.length > 1000)
    throw new IngleError('invalid_request', 'A spoken text has 1 to 1000 characters.', { pointer: '/text' });
}
