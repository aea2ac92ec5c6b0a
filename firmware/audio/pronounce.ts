// How a word sounds that the recogniser's dictionary does not have: espeak-ng's IPA in the phones of its English model. Pure.

/** IPA of espeak-ng's voice en-us to ARPAbet, as the CMU dictionary writes it; the longer come first. */
const phones: readonly (readonly [ipa: string, phone: string])[] = Object.entries({
  ...{ eɪ: 'EY', aɪ: 'AY', ɔɪ: 'OY', aʊ: 'AW', oʊ: 'OW', əʊ: 'OW', tʃ: 'CH', dʒ: 'JH', oɹ: 'AO R' },
  ...{ ɑ: 'AA', æ: 'AE', a: 'AE', ʌ: 'AH', ə: 'AH', ɐ: 'AH', ɔ: 'AO', ɒ: 'AA', o: 'OW', ɛ: 'EH', e: 'EH' },
  ...{ ɜ: 'ER', ɚ: 'ER', ɪ: 'IH', ᵻ: 'IH', i: 'IY', ʊ: 'UH', u: 'UW', y: 'UW', ø: 'ER', œ: 'ER' },
  ...{ b: 'B', d: 'D', ð: 'DH', f: 'F', ɡ: 'G', h: 'HH', j: 'Y', k: 'K', l: 'L', m: 'M', n: 'N', ŋ: 'NG' },
  ...{ p: 'P', ɹ: 'R', r: 'R', s: 'S', ʃ: 'SH', t: 'T', ɾ: 'T', θ: 'TH', v: 'V', w: 'W', x: 'HH', z: 'Z' },
  ...{ ʒ: 'ZH' },
});
/** Stress, length and joins: the model has no phones for them. */
const marks = /[ˈˌːˑ.‿ʰ_-]|\u0361|\u0329|\u0303|\u200d/gu;

/** The phones of a word in IPA, blanks between; undefined when it has a sound without one. */
export function arpabet(ipa: string): string | undefined {
  const out: string[] = [];
  for (let rest = ipa.replace(marks, '').trim(); rest !== ''; ) {
    const found = phones.find(([mark]) => rest.startsWith(mark));
    if (!found) return undefined;
    out.push(found[1]);
    rest = rest.slice(found[0].length);
  }
  return out.length > 0 ? out.join(' ') : undefined;
}
