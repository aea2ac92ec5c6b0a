// Arguments of directives, action links and form fields: `id=order title="Your order" required`. Pure.

export interface Args {
  /** `key=value` and `key="value"`. */
  named: ReadonlyMap<string, string>;
  /** All that has no key, in its order. */
  bare: readonly string[];
}

const argument =
  /([A-Za-z][\w-]{0,63})=(?:"([^"]*)"|((?:\{\{[^{}]*\}\}|[^\s,"{}])*))|"([^"]*)"|([^\s,="{}]+)|[^\s]/g;
const MAX_ARGS = 64;

/** Reads arguments that blanks (or commas) part; braces around all of them, as other dialects write, are left out. */
export function argsOf(text: string): Args {
  const named = new Map<string, string>();
  const bare: string[] = [];
  let left = MAX_ARGS;
  for (const m of text.matchAll(argument)) {
    if (left-- <= 0) break;
    if (m[1] !== undefined) named.set(m[1], m[2] ?? m[3] ?? '');
    else if (m[4] !== undefined || m[5] !== undefined) bare.push((m[4] ?? m[5])!);
  }
  return { named, bare };
}
