// Which entries a search finds, the best first. Pure.

export interface Entry {
  title: string;
  /** Other words it is found by. */
  also?: readonly string[];
}

const plain = (text: string) =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/ё/g, 'е');

/** How well one word stands in a title: at its beginning, at that of a word, within one; 0: not at all. */
function fits(word: string, title: string): number {
  if (title.startsWith(word)) return 4;
  const at = title.indexOf(word);
  if (at < 0) return 0;
  return /[\s/_-]/.test(title[at - 1] ?? '') ? 3 : 1;
}

/** Every word must stand somewhere; what the title itself says counts more. */
function score(entry: Entry, words: readonly string[]): number {
  const title = plain(entry.title);
  const also = (entry.also ?? []).map(plain);
  let sum = 0;
  for (const word of words) {
    const best = Math.max(2 * fits(word, title), ...also.map((a) => fits(word, a)));
    if (best === 0) return 0;
    sum += best;
  }
  return sum / words.length;
}

/** Without words all stand in their order, as do those that fit equally well. */
export function ranked<E extends Entry>(entries: readonly E[], text: string): E[] {
  const words = plain(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...entries];
  return entries
    .map((entry) => ({ entry, by: score(entry, words) }))
    .filter(({ by }) => by > 0)
    .sort((a, b) => b.by - a.by)
    .map(({ entry }) => entry);
}
