// What can be said to the hub: the grammar of its rules, handed to the sound service when it does not have it yet.
import { grammarHash } from '../audio/grammar.ts';
import type { Speech } from '../intent/speech.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Language } from '../text/i18n.ts';

export interface Sayable {
  /**
   * Does something by the grammar of the rules in force. Where the sound service has another, it gets this one first.
   * @throws IngleError `not_supported` where nothing can be said, or the hub has no model
   */
  by<T>(lang: Language, work: (hash: string) => Promise<T>): Promise<T>;
  /** Words of the rules that the recogniser cannot pronounce; patterns with them are not understood when spoken. */
  unknown(lang: Language): readonly string[];
  /** The rules are others now. */
  changed(): void;
}

interface Made {
  hash: string;
  grammar: string;
  words: string[];
  unknown: string[];
}

export function openSayable(o: {
  speech(lang: Language, knows: (word: string) => boolean): Speech;
  send(of: { lang: Language; grammar: string; words: string[] }): Promise<{ unknown: string[] }>;
}): Sayable {
  const made = new Map<Language, Made>();
  const make = (lang: Language, unknown: readonly string[]): Made => {
    const left = new Set(unknown);
    const { grammar, words } = o.speech(lang, (w) => !left.has(w));
    if (grammar === '')
      throw new IngleError('not_supported', 'No rule of this hub can be said in this language.', { lang });
    const next = { grammar, words, unknown: [...left], hash: grammarHash(lang, grammar) };
    made.set(lang, next);
    return next;
  };
  /** Words without a pronunciation fall away, with the patterns that need them. */
  async function send(lang: Language): Promise<Made> {
    const now = made.get(lang) ?? make(lang, []);
    const { unknown } = await o.send({ lang, grammar: now.grammar, words: now.words });
    if (unknown.length === 0) return now;
    const next = make(lang, [...now.unknown, ...unknown]);
    const again = await o.send({ lang, grammar: next.grammar, words: next.words });
    if (again.unknown.length > 0)
      throw new IngleError('internal', 'The recogniser refuses words it was not given before.');
    return next;
  }
  return {
    async by(lang, work) {
      const now = made.get(lang) ?? make(lang, []);
      try {
        return await work(now.hash);
      } catch (e) {
        // A missing device has the same code; then the second try says so.
        if (!(e instanceof IngleError) || e.code !== 'not_found') throw e;
        return work((await send(lang)).hash);
      }
    },
    unknown: (lang) => made.get(lang)?.unknown ?? [],
    changed: () => made.clear(),
  };
}
