// A conversation: what can be said, what was said of it, and speech that stops when somebody speaks.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';
import type { AudioParts, Methods } from './parts.ts';
import { checkPhrases, transcribe, understood } from './recognition.ts';
import { languageFrom } from './recognizer.ts';
import { checkText, checkTimeout } from './speaking.ts';
import { listen, speak, spokenWav } from './speech.ts';
import { tell } from './telling.ts';

export function conversing(p: AudioParts): Methods<'SetGrammar' | 'Hear' | 'Tell'> {
  const { job, choice, log, runtime, models, grammars } = p;

  /** Looks everything over that hearing needs. @returns how a recording is understood */
  function hearing(lang: string, hash: string, phrases: readonly string[]) {
    const language = languageFrom(lang);
    const model = models(language);
    if (phrases.length > 0) {
      checkPhrases(phrases, model);
      return (s: Int16Array, signal: AbortSignal) => transcribe(s, phrases, { model, runtime, signal });
    }
    const kept = grammars.find(language, hash);
    return (s: Int16Array, signal: AbortSignal) => understood(s, kept, { model, runtime, signal });
  }
  return {
    SetGrammar: ({ lang, grammar, words }) => grammars.keep({ lang: languageFrom(lang), grammar, words }),
    async Hear({ source_id, timeout_s, lang, hash }) {
      const understand = hearing(lang, hash, []);
      // A cancel that comes right behind finds the job.
      return job.exclusive('Hear', async (signal) => {
        const { device } = await choice.source(source_id);
        const l = await listen(device.id, checkTimeout(timeout_s), { signal, onLevel: p.level(device.id) });
        try {
          return { heard: l.heard, text: l.heard ? await understand(l.samples, signal) : '' };
        } finally {
          l.samples.fill(0);
        }
      });
    },
    async Tell({ text, lang, sink_id, source_id, hash, phrases }) {
      checkText(text);
      const sink = (await choice.sink(sink_id)).device.id;
      const how = { lang: pickLanguage([lang]), slow: false };
      const ear = await earOf(source_id, () => hearing(lang, hash, phrases));
      return job.queued('Tell', async (signal) => {
        if (!ear) {
          await speak(sink, text, { ...how, signal });
          return { interrupted: false, text: '' };
        }
        const wav = await spokenWav(text, { ...how, signal });
        const said = await tell({ sink, source: ear.source }, wav, signal);
        try {
          return { interrupted: said !== undefined, text: said ? await ear.understand(said, signal) : '' };
        } finally {
          said?.fill(0);
        }
      });
    },
  };

  /** What a hub listens with while it speaks; nothing where it cannot. */
  async function earOf(source_id: string, ready: () => ReturnType<typeof hearing>) {
    try {
      const understand = ready();
      return { source: (await choice.source(source_id)).device.id, understand };
    } catch (e) {
      if (!(e instanceof IngleError) || !['not_found', 'not_supported'].includes(e.code)) throw e;
      log.info('the hub speaks without listening', { error: e });
      return undefined;
    }
  }
}
