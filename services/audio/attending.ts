// Waiting for a phrase: a voice detector before the recogniser, so that silence costs nothing, and one utterance at a
// time in memory.
import { grammarHash, phraseGrammar, wordsOf } from '../../firmware/audio/grammar.ts';
import { exponentialSweep } from '../../firmware/audio/probe.ts';
import { VAD_FRAME, VAD_RATE, voiceDetector } from '../../firmware/audio/vad.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Grammars } from './grammars.ts';
import type { AudioParts, Methods } from './parts.ts';
import { isPhrase } from './recognition.ts';
import { languageFrom } from './recognizer.ts';
import { capture, play } from './sound.ts';
import { samplesFrom } from './telling.ts';

/** What is kept from before the moment at which a voice is sure, samples: 0.7 s. */
const BEFORE = 0.7 * VAD_RATE;
/** Who speaks for longer says something else, samples: 3 s and the pause that ends it. */
const MOST = 3.6 * VAD_RATE;
const MOST_WAIT_S = 600;

/** @param grammars those of phrases, one a language */
export function attending(p: AudioParts, grammars: Grammars): Methods<'AwaitPhrase'> {
  const { job, choice, models, runtime } = p;
  /** The call that waits. */
  let last: { ended: AbortController; gone: Promise<unknown> } | undefined;
  /** Calls so far: one that a later call has overtaken opens no microphone. */
  let calls = 0;

  async function keptOf(lang: string, phrase: string) {
    const language = languageFrom(lang);
    const grammar = phraseGrammar([phrase], language);
    const model = models(language);
    const find = () => ({ kept: grammars.find(language, grammarHash(language, grammar)), model });
    try {
      return find();
    } catch {
      // It is another phrase than the last one, or the first.
    }
    const { unknown } = await grammars.keep({ lang: language, grammar, words: wordsOf([phrase]) });
    if (unknown.length > 0)
      throw new IngleError(
        'invalid_request',
        `Nobody knows how "${unknown[0]}" is pronounced. Choose another phrase as "speech.wake.${language}" in /etc/ingle/config.json.`,
        { pointer: '/phrase' },
      );
    return find();
  }
  return {
    async AwaitPhrase({ source_id, sink_id, lang, phrase, timeout_s }) {
      if (!(timeout_s >= 0 && timeout_s <= MOST_WAIT_S))
        throw new IngleError('invalid_request', `A phrase is awaited for at most ${MOST_WAIT_S} seconds.`, {
          pointer: '/timeout_s',
        });
      const call = ++calls;
      last?.ended.abort();
      await last?.gone;
      if (phrase === '') return { heard: false };
      const how = await keptOf(lang, phrase);
      const { device: source } = await choice.source(source_id);
      if (timeout_s === 0 || call !== calls) return { heard: false };
      const ended = new AbortController();
      const waiting = job.patiently(ended.signal, async (signal) => {
        const heard = await heardIn(source.id, signal, (s) =>
          isPhrase(s, how.kept, { model: how.model, runtime, signal }),
        );
        if (heard) await cue(sink_id, signal);
        return heard;
      });
      const mine = { ended, gone: waiting.catch(() => {}) };
      last = mine;
      const timer = setTimeout(() => ended.abort(), timeout_s * 1000);
      try {
        return { heard: (await waiting) ?? false };
      } finally {
        clearTimeout(timer);
        if (last === mine) last = undefined;
      }
    },
  };

  /** The hub has heard its phrase, and listens. One without a speaker listens all the same. */
  async function cue(sink_id: string, signal: AbortSignal): Promise<void> {
    try {
      const { device } = await choice.sink(sink_id);
      const tone = exponentialSweep(device.rate, 660, 990, 0.16).map((v) => v * 0.12);
      await play(device.id, tone, device.rate, signal);
    } catch (error) {
      p.log.info('the phrase is answered by no tone', { error: error as Error });
    }
  }
}

/**
 * Listens until one utterance is what is meant.
 * @returns false when it was ended @throws IngleError `unavailable` when the microphone is gone
 */
async function heardIn(
  source: string,
  signal: AbortSignal,
  isMeant: (samples: Int16Array) => Promise<boolean>,
): Promise<boolean> {
  const detector = await voiceDetector();
  let kept = samplesFrom(VAD_RATE);
  /** Since a voice was sure, samples. */
  let spoken = 0;
  /** What waits until the utterance before has been looked at: the newest, as a phrase may follow other talk. */
  let pending: Int16Array | undefined;
  let isBusy = false;
  let over: (heard: boolean | IngleError) => void = () => {};
  const answer = new Promise<boolean | IngleError>((resolve) => (over = resolve));

  async function weigh(): Promise<void> {
    isBusy = true;
    for (let samples = pending; samples; samples = pending) {
      pending = undefined;
      try {
        if (await isMeant(samples)) over(true);
      } catch (e) {
        if (!signal.aborted) over(e as IngleError);
      } finally {
        samples.fill(0);
      }
    }
    isBusy = false;
  }
  function take(frame: Int16Array): void {
    detector.feed(frame);
    if (detector.spoken) {
      if (spoken === 0) kept.from(BEFORE);
      spoken += frame.length;
    }
    if (spoken > MOST) kept.erase();
    if (!detector.ended) return;
    if (spoken <= MOST) {
      pending?.fill(0);
      pending = kept.all();
      if (!isBusy) void weigh();
    }
    kept.erase();
    kept = samplesFrom(VAD_RATE);
    spoken = 0;
    detector.again();
  }
  const c = capture(source, VAD_RATE, (samples) => {
    // One at a time: what is erased of a longer piece would come to the detector as silence.
    for (let at = 0; at < samples.length; at += VAD_FRAME)
      for (const frame of kept.take(samples.subarray(at, at + VAD_FRAME))) take(frame);
    samples.fill(0);
  });
  const ended = () => over(false);
  signal.addEventListener('abort', ended, { once: true });
  if (signal.aborted) ended();
  void c.ended.then(() => over(new IngleError('unavailable', 'The microphone is gone. Connect one again.')));
  try {
    const said = await answer;
    if (typeof said !== 'boolean') throw said;
    return said;
  } finally {
    signal.removeEventListener('abort', ended);
    await c.stop();
    kept.erase();
    pending?.fill(0);
    pending = undefined;
    detector.free();
  }
}
