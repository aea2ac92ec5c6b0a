// Conditions of `when`: `$.cart.items`, `!$.busy`, `$row.left < 3 && $route.tab == 'all'`. Pure.
import { expression, type Names } from './expression.ts';
import type { Condition, Value } from './tree.ts';

const token =
  /\s*(?:(&&|\|\||==|!=|<=|>=|<|>|!|\(|\))|'([^'\\]*)'|"([^"\\]*)"|(-?\d{1,15}(?:\.\d{1,15})?)|(true|false|null)\b|(\$[^\s&|=!<>()]*))/y;
type Token = { op: string } | { value: Value };
const MAX_TOKENS = 100;
const MAX_DEPTH = 8;

function tokensOf(text: string, names: Names): Token[] | null {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at = token.lastIndex) {
    token.lastIndex = at;
    const m = token.exec(text);
    if (!m || tokens.length >= MAX_TOKENS) return null;
    if (m[1]) tokens.push({ op: m[1] });
    else if (m[4] !== undefined) tokens.push({ value: Number(m[4]) });
    else if (m[5]) tokens.push({ value: JSON.parse(m[5]) as boolean | null });
    else if (m[6]) {
      const value = expression(m[6], names);
      if (value === null) return null;
      tokens.push({ value });
    } else tokens.push({ value: m[2] ?? m[3] ?? '' });
  }
  return tokens;
}

const comparisons = { '==': '=', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const;

/**
 * A condition in words as one of the tree: paths and literals with `!`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&`, `||` and
 * parentheses, which bind as in JavaScript. A path alone holds where it is something.
 * @returns null where the text is no condition
 */
export function conditionOf(text: string, names: Names): Condition | null {
  if (text.length > 1000) return null;
  const tokens = tokensOf(text, names);
  if (!tokens) return null;
  let at = 0;
  const isOp = (op: string) => {
    const t = tokens[at];
    return t !== undefined && 'op' in t && t.op === op;
  };
  const list = (op: string, depth: number, one: (depth: number) => Condition | null) => {
    const all: Condition[] = [];
    do {
      const c = one(depth);
      if (!c) return null;
      all.push(c);
    } while (isOp(op) && ++at);
    return all;
  };
  const either = (depth: number): Condition | null => {
    const any = list('||', depth, both);
    return any && (any.length === 1 ? any[0]! : { any });
  };
  const both = (depth: number): Condition | null => {
    const all = list('&&', depth, single);
    return all && (all.length === 1 ? all[0]! : { all });
  };
  const single = (depth: number): Condition | null => {
    if (depth > MAX_DEPTH) return null;
    if (isOp('!')) {
      at++;
      const not = single(depth + 1);
      return not && { not };
    }
    if (isOp('(')) {
      at++;
      const inner = either(depth + 1);
      return inner && isOp(')') && ++at ? inner : null;
    }
    const left = tokens[at++];
    if (!left || !('value' in left)) return null;
    const next = tokens[at];
    if (!next || !('op' in next) || !Object.hasOwn(comparisons, next.op)) return { is: left.value };
    const right = tokens[at + 1];
    if (!right || !('value' in right)) return null;
    at += 2;
    return {
      compare: comparisons[next.op as keyof typeof comparisons],
      left: left.value,
      right: right.value,
    };
  };
  const condition = either(0);
  return at === tokens.length ? condition : null;
}
