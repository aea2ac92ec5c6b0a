// Text as it is said or typed, to the words that rules are made of. Pure.

/** Longest text that is looked at, characters, and the most words of it. */
export const MAX_TEXT = 500;
export const MAX_WORDS = 100;

/**
 * In this order: dates (2026-12-25, 25.12.2026), times (7:30), ordinals (5th, 5-го), numbers (1.5, 1,5, -3), words with
 * apostrophes inside, and the signs that are said.
 */
const form =
  /\d{4}-\d{2}-\d{2}(?!\d)|\d{1,2}\.\d{1,2}\.\d{4}(?!\d)|\d{1,2}:\d{2}(?![\d:])|\d+(?:st|nd|rd|th|-?(?:ого|го|ое|е|й|я))(?!\p{L})|(?:(?<![\p{L}\p{N}.)])[-−])?\d+(?:[.,]\d+)*|\p{L}[\p{L}\p{M}]*(?:'\p{L}[\p{L}\p{M}]*)*|[°%]/giu;

/** "1,5" and "1.5" are one and a half; "1,000" is a thousand. */
function numeral(token: string): string {
  const plain = token.replace('−', '-');
  if (/^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(plain)) return plain.replaceAll(',', '');
  // All of them, so that words that are read once more stay as they are.
  return plain.replaceAll(',', '.');
}

/** A word, and where it stands in the text it is of. */
export interface Token {
  word: string;
  from: number;
  to: number;
}

function wordOf(said: string): string {
  const low = said.toLowerCase().normalize('NFC').replaceAll('ё', 'е');
  const isNumber = /^[-−]?\d+[.,\d]*$/.test(low) && !/^\d+\.\d+\.\d+$/.test(low);
  return isNumber ? numeral(low) : low.replace(/^(\d+)-(?=\p{L})/u, '$1');
}

/**
 * A text's words with their places in `plain`, which is the text in NFKC, as its writer has it otherwise. A text that is
 * too long has none.
 */
export function readText(text: string): { plain: string; tokens: Token[] } {
  const none = { plain: '', tokens: [] };
  if (text.length > MAX_TEXT) return none;
  const plain = text.normalize('NFKC').replace(/[’‘ʼ`´]/g, "'");
  if (plain.length > 2 * MAX_TEXT) return none;
  const found = [...plain.matchAll(form)];
  if (found.length > MAX_WORDS) return none;
  const tokens = found.map(({ 0: said, index: from }) => ({
    word: wordOf(said),
    from,
    to: from + said.length,
  }));
  return { plain, tokens };
}

/** The words of a text: small letters, ё as е, no punctuation; "7pm" is two words, "twenty-five" as well. */
export const tokensOf = (text: string): string[] => readText(text).tokens.map((t) => t.word);
