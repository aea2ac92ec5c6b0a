// Text as it is said or typed, to the words that rules are made of. Pure.

/** Longest text that is looked at, characters, and the most words of it. */
export const MAX_TEXT = 500;
export const MAX_WORDS = 100;

/**
 * In this order: dates (2026-12-25, 25.12.2026), times (7:30), ordinals (5th, 5-го), numbers (1.5, 1,5, -3), words with
 * apostrophes inside, and the signs that are said.
 */
const form =
  /\d{4}-\d{2}-\d{2}(?!\d)|\d{1,2}\.\d{1,2}\.\d{4}(?!\d)|\d{1,2}:\d{2}(?![\d:])|\d+(?:st|nd|rd|th|-?(?:ого|го|ое|е|й|я))(?!\p{L})|(?:(?<![\p{L}\p{N}.)])[-−])?\d+(?:[.,]\d+)*|\p{L}[\p{L}\p{M}]*(?:'\p{L}[\p{L}\p{M}]*)*|[°%]/gu;

/** "1,5" and "1.5" are one and a half; "1,000" is a thousand. */
function numeral(token: string): string {
  const plain = token.replace('−', '-');
  if (/^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(plain)) return plain.replaceAll(',', '');
  return plain.replace(',', '.');
}

/**
 * The words of a text: NFKC, lower case, ё as е, no punctuation; "7pm" is two words, "twenty-five" as well.
 * A text that is too long has none.
 */
export function tokensOf(text: string): string[] {
  if (text.length > MAX_TEXT) return [];
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFC')
    .replaceAll('ё', 'е')
    .replace(/[’‘ʼ`´]/g, "'");
  if (plain.length > 2 * MAX_TEXT) return [];
  const tokens = plain.match(form) ?? [];
  if (tokens.length > MAX_WORDS) return [];
  return tokens.map((t) =>
    /^[-−]?\d+[.,\d]*$/.test(t) && !/^\d+\.\d+\.\d+$/.test(t)
      ? numeral(t)
      : t.replace(/^(\d+)-(?=\p{L})/u, '$1'),
  );
}
