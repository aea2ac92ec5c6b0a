// The word of a list that was most likely meant. Pure.

const MAX_WORD = 32;

/** Edits between two short words (Levenshtein, 1965): one letter put in, left out or changed each. */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row.push(Math.min(row[j - 1]! + 1, above[j]! + 1, above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    above = row;
  }
  return above[b.length]!;
}

/** The word of `known` at most a third of its letters away, rounded up; undefined when none is that near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  const far = (w: string) => distance(word.toLowerCase(), w.toLowerCase());
  const best = known.reduce<[string, number] | undefined>((b, w) => {
    const d = far(w);
    return b && b[1] <= d ? b : [w, d];
  }, undefined);
  return best && best[1] <= Math.ceil(best[0].length / 3) ? best[0] : undefined;
}
