// Which of many paths are meant, said in a few lines. Pure.

/**
 * Whether a path is chosen by rules, of which the last that fits decides. A rule is a whole path, `folder/` for all
 * below it, or `start*`; `!` before it takes out again.
 */
export function chosen(path: string, rules: readonly string[]): boolean {
  for (let i = rules.length - 1; i >= 0; i--) {
    const rule = rules[i]!;
    const out = rule.startsWith('!');
    if (fits(path, out ? rule.slice(1) : rule)) return !out;
  }
  return false;
}

function fits(path: string, rule: string): boolean {
  if (rule.endsWith('/')) return path.startsWith(rule);
  if (rule.endsWith('*')) return path.startsWith(rule.slice(0, -1));
  return path === rule;
}

/** Rules written as text: words in any number of lines, `#` begins a remark. */
export function rulesOf(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.replace(/#.*/, '').trim().split(/\s+/))
    .filter(Boolean);
}
