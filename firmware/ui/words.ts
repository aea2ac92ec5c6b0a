// A name as words. Pure.

/** A name as words, where nobody gave a label: `first_name` is "First name". */
export function asWords(name: string): string {
  const words = name.replace(/[_-]+/g, ' ').trim() || name;
  return words === '' ? '' : words[0]!.toUpperCase() + words.slice(1);
}
