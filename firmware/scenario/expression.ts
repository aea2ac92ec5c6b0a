// Expressions of scenarios: `vars.x`, `not steps.ask.result`, `$.payload.temp > 20 && hasSlot('lamp')`. Pure: a parsed
// tree that is walked; nothing is ever evaluated as code, and nothing but own members of plain values is reachable.
import { IngleError } from '../protocol/errors.ts';

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

export type Expression =
  | { kind: 'literal'; value: null | boolean | number | string }
  | { kind: 'list'; items: Expression[] }
  | { kind: 'name'; name: string }
  | { kind: 'member'; of: Expression; key: Expression }
  | { kind: 'call'; name: FunctionName; args: Expression[] }
  | { kind: 'not' | 'negative'; of: Expression }
  | { kind: 'binary'; operator: Operator; left: Expression; right: Expression };

type Operator = keyof typeof binding;

/** What names mean: the variable bag, parameters, `$` for the payload of an event. Only own members are seen. */
export type Scope = Readonly<Record<string, unknown>>;

/** Bounds of one expression; texts in characters, work in nodes that are walked. */
export const LIMITS = { source: 2000, depth: 32, nodes: 400, work: 20_000, text: 65_536, items: 4096 };

/** How tightly operators bind; comparisons do not chain. */
const binding = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  in: 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
} as const;
const words: Record<string, Operator> = { or: '||', and: '&&', in: 'in' };

/** Functions by name, with how many arguments each takes. They are pure and take plain values only. */
const functions = {
  hasSlot: [1, 1],
  len: [1, 1],
  lower: [1, 1],
  upper: [1, 1],
  trim: [1, 1],
  number: [1, 1],
  text: [1, 1],
  round: [1, 2],
  min: [1, 8],
  max: [1, 8],
  join: [1, 2],
  contains: [2, 2],
  default: [2, 2],
} as const satisfies Record<string, readonly [least: number, most: number]>;
type FunctionName = keyof typeof functions;

const bad = (says: string, at: number) =>
  new IngleError('invalid_request', `The expression is wrong at character ${at + 1}: ${says}.`, { at });

interface Token {
  at: number;
  kind: 'name' | 'value' | 'operator' | 'end';
  text: string;
  value?: number | string;
}

const tokenForm =
  /\s*(?:(&&|\|\||==|!=|<=|>=|[<>!()[\].,+\-*/%])|([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|\$)|(\d{1,15}(?:\.\d{1,15})?)|'((?:[^'\\]|\\['\\nt])*)'|"((?:[^"\\]|\\["\\nt])*)")/y;
const unescaped = (s: string) => s.replace(/\\(.)/g, (_, c: string) => ({ n: '\n', t: '\t' })[c] ?? c);

function tokensOf(source: string): Token[] {
  if (source.length > LIMITS.source)
    throw bad(`it may have at most ${LIMITS.source} characters`, LIMITS.source);
  const end = source.trimEnd().length;
  const tokens: Token[] = [];
  for (let at = 0; at < end; at = tokenForm.lastIndex) {
    tokenForm.lastIndex = at;
    const m = tokenForm.exec(source);
    if (!m) throw bad('nothing can begin so here', at);
    const text = m[0].trimStart();
    const place = tokenForm.lastIndex - text.length;
    if (m[1] !== undefined) tokens.push({ at: place, kind: 'operator', text });
    else if (m[2] !== undefined) tokens.push({ at: place, kind: 'name', text });
    else if (m[3] !== undefined) tokens.push({ at: place, kind: 'value', text, value: Number(m[3]) });
    else tokens.push({ at: place, kind: 'value', text, value: unescaped(m[4] ?? m[5]!) });
  }
  tokens.push({ at: end, kind: 'end', text: 'the end' });
  return tokens;
}

/**
 * Parses an expression (operators in the order of JavaScript; `not`, `and`, `or` are words for `!`, `&&`, `||`).
 * @throws IngleError `invalid_request` with the place, `details.at`
 */
export function parseExpression(source: string): Expression {
  const tokens = tokensOf(source);
  let at = 0;
  let nodes = 0;
  const is = (text: string) => tokens[at]!.kind === 'operator' && tokens[at]!.text === text;
  const node = (e: Expression): Expression => {
    if (++nodes > LIMITS.nodes) throw bad('it has too many parts', tokens[at]!.at);
    return e;
  };
  const expect = (text: string) => {
    if (!is(text)) throw bad(`"${text}" is missing before ${tokens[at]!.text}`, tokens[at]!.at);
    at++;
  };
  const listed = (close: string, depth: number): Expression[] => {
    const items: Expression[] = [];
    if (!is(close))
      do items.push(binary(1, depth + 1));
      while (is(',') && ++at);
    expect(close);
    return items;
  };
  const operatorHere = (): Operator | undefined => {
    const t = tokens[at]!;
    if (t.kind === 'name') return Object.hasOwn(words, t.text) ? words[t.text] : undefined;
    return t.kind === 'operator' && Object.hasOwn(binding, t.text) ? (t.text as Operator) : undefined;
  };

  function binary(least: number, depth: number): Expression {
    if (depth > LIMITS.depth) throw bad('it nests too deeply', tokens[at]!.at);
    let left = unary(depth);
    for (let op = operatorHere(); op && binding[op] >= least; op = operatorHere()) {
      const { at: place } = tokens[at]!;
      at++;
      const right = binary(binding[op] + 1, depth + 1);
      left = node({ kind: 'binary', operator: op, left, right });
      const next = operatorHere();
      if (binding[op] === 3 && next && binding[next] === 3) throw bad('comparisons do not chain', place);
    }
    return left;
  }
  function unary(depth: number): Expression {
    if (depth > LIMITS.depth) throw bad('it nests too deeply', tokens[at]!.at);
    const t = tokens[at]!;
    if (is('!') || (t.kind === 'name' && t.text === 'not')) {
      at++;
      // As in Python and SQL, the word takes the whole comparison after it; the sign takes what follows at once.
      return node({ kind: 'not', of: t.text === 'not' ? binary(3, depth + 1) : unary(depth + 1) });
    }
    if (is('-')) {
      at++;
      return node({ kind: 'negative', of: unary(depth + 1) });
    }
    return members(primary(depth), depth);
  }
  function members(of: Expression, depth: number): Expression {
    let e = of;
    for (;;)
      if (is('.')) {
        const t = tokens[++at]!;
        if (t.kind !== 'name' || t.text === '$') throw bad('a name is missing after the dot', t.at);
        at++;
        e = node({ kind: 'member', of: e, key: node({ kind: 'literal', value: t.text }) });
      } else if (is('[')) {
        at++;
        const key = binary(1, depth + 1);
        expect(']');
        e = node({ kind: 'member', of: e, key });
      } else return e;
  }
  function primary(depth: number): Expression {
    const t = tokens[at++]!;
    if (t.kind === 'value') return node({ kind: 'literal', value: t.value! });
    if (t.kind === 'operator' && t.text === '(') {
      const e = binary(1, depth + 1);
      expect(')');
      return e;
    }
    if (t.kind === 'operator' && t.text === '[') return node({ kind: 'list', items: listed(']', depth) });
    if (t.kind !== 'name' || Object.hasOwn(words, t.text))
      throw bad(`a value is missing before ${t.text}`, t.at);
    if (t.text === 'true' || t.text === 'false') return node({ kind: 'literal', value: t.text === 'true' });
    if (t.text === 'null') return node({ kind: 'literal', value: null });
    if (!is('(')) return node({ kind: 'name', name: t.text });
    if (!Object.hasOwn(functions, t.text)) throw bad(`there is no function ${t.text}`, t.at);
    at++;
    const args = listed(')', depth);
    const name = t.text as FunctionName;
    const [least, most] = functions[name];
    if (args.length < least || args.length > most)
      throw bad(`${name} takes ${least === most ? least : `${least} to ${most}`} arguments`, t.at);
    return node({ kind: 'call', name, args });
  }

  const e = binary(1, 0);
  if (tokens[at]!.kind !== 'end') throw bad(`nothing may follow before ${tokens[at]!.text}`, tokens[at]!.at);
  return e;
}

/** What holds: everything but null, false, 0, '' and what is empty. */
export function holds(value: Value): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value !== null && typeof value === 'object') return Object.keys(value).length > 0;
  return Boolean(value);
}

/** A value as text: lists and objects as JSON, nothing for null. */
export const textOf = (value: Value): string =>
  value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** An own member of a plain value; null where there is none. */
function memberOf(of: unknown, key: Value): Value {
  if (of === null || typeof of !== 'object') return null;
  if (Array.isArray(of)) {
    const i =
      typeof key === 'number' ? key : typeof key === 'string' && /^\d{1,9}$/.test(key) ? Number(key) : -1;
    return Number.isInteger(i) && i >= 0 && i < of.length ? plain(of[i]) : null;
  }
  if (typeof key !== 'string' || key === '__proto__' || !Object.hasOwn(of, key)) return null;
  return plain((of as Record<string, unknown>)[key]);
}

/** What is no JSON is nothing. */
const plain = (v: unknown): Value => {
  if (typeof v === 'number') return Number.isFinite(v) ? v : null;
  return v === undefined || typeof v === 'function' || typeof v === 'symbol' || typeof v === 'bigint'
    ? null
    : (v as Value);
};

const equal = (a: Value, b: Value): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b));
const isOrdered = (a: Value, b: Value): boolean =>
  (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');

const bounded = (text: string): string => {
  if (text.length > LIMITS.text)
    throw new IngleError('too_large', `A text of an expression may have at most ${LIMITS.text} characters.`);
  return text;
};
const numberOr = (v: Value): number | null => {
  if (typeof v === 'number') return v;
  if (typeof v !== 'string' || !/^\s*-?\d{1,15}([.,]\d{1,15})?\s*$/.test(v)) return null;
  return Number(v.replace(',', '.'));
};

function compute(op: Operator, a: Value, b: Value): Value {
  if (op === '==') return equal(a, b);
  if (op === '!=') return !equal(a, b);
  if (op === 'in') return contains(b, a);
  if (op === '<') return isOrdered(a, b) && a! < b!;
  if (op === '<=') return isOrdered(a, b) && a! <= b!;
  if (op === '>') return isOrdered(a, b) && a! > b!;
  if (op === '>=') return isOrdered(a, b) && a! >= b!;
  if (op === '+' && (typeof a === 'string' || typeof b === 'string')) return bounded(textOf(a) + textOf(b));
  if (typeof a !== 'number' || typeof b !== 'number') return null;
  if (op === '+') return plain(a + b);
  if (op === '-') return plain(a - b);
  if (op === '*') return plain(a * b);
  if (op === '/') return plain(a / b);
  return plain(a % b);
}

function contains(where: Value, what: Value): boolean {
  if (typeof where === 'string') return typeof what === 'string' && where.includes(what);
  if (Array.isArray(where)) return where.some((w) => equal(w, what));
  return (
    where !== null && typeof where === 'object' && typeof what === 'string' && Object.hasOwn(where, what)
  );
}

function called(name: FunctionName, args: Value[], scope: Scope): Value {
  const [a = null, b = null] = args;
  const numbers = () => args.flat().filter((n): n is number => typeof n === 'number');
  switch (name) {
    case 'hasSlot':
      return memberOf(scope['slots'], a) !== null;
    case 'len':
      if (typeof a === 'string' || Array.isArray(a)) return a.length;
      return a !== null && typeof a === 'object' ? Object.keys(a).length : 0;
    case 'lower':
      return bounded(textOf(a).toLowerCase());
    case 'upper':
      return bounded(textOf(a).toUpperCase());
    case 'trim':
      return textOf(a).trim();
    case 'number':
      return numberOr(a);
    case 'text':
      return bounded(textOf(a));
    case 'round': {
      const [n, digits] = [numberOr(a), typeof b === 'number' ? Math.min(10, Math.max(0, Math.trunc(b))) : 0];
      return n === null ? null : plain(Math.round(n * 10 ** digits) / 10 ** digits);
    }
    case 'min':
      return numbers().length > 0 ? Math.min(...numbers()) : null;
    case 'max':
      return numbers().length > 0 ? Math.max(...numbers()) : null;
    case 'join':
      return Array.isArray(a) ? bounded(a.map(textOf).join(b === null ? ', ' : textOf(b))) : textOf(a);
    case 'contains':
      return contains(a, b);
    case 'default':
      return a === null || a === '' ? b : a;
  }
}

/**
 * The value of an expression. What is not there is null; no operator throws for a type that does not fit.
 * @throws IngleError `too_large` for more work, text or items than LIMITS allow
 */
export function evaluate(e: Expression, scope: Scope, spent: { work: number } = { work: 0 }): Value {
  if (++spent.work > LIMITS.work)
    throw new IngleError('too_large', 'An expression has too much to do.', { work: LIMITS.work });
  switch (e.kind) {
    case 'literal':
      return e.value;
    case 'list':
      return e.items.map((i) => evaluate(i, scope, spent));
    case 'name':
      return memberOf(scope, e.name);
    case 'member':
      return memberOf(evaluate(e.of, scope, spent), evaluate(e.key, scope, spent));
    case 'not':
      return !holds(evaluate(e.of, scope, spent));
    case 'negative': {
      const n = evaluate(e.of, scope, spent);
      return typeof n === 'number' ? -n : null;
    }
    case 'call':
      return called(
        e.name,
        e.args.map((x) => evaluate(x, scope, spent)),
        scope,
      );
    case 'binary': {
      const left = evaluate(e.left, scope, spent);
      if (e.operator === '&&') return holds(left) ? evaluate(e.right, scope, spent) : left;
      if (e.operator === '||') return holds(left) ? left : evaluate(e.right, scope, spent);
      return compute(e.operator, left, evaluate(e.right, scope, spent));
    }
  }
}

/** Names an expression begins with: what it depends on. */
export function namesOf(e: Expression): string[] {
  switch (e.kind) {
    case 'literal':
      return [];
    case 'list':
      return e.items.flatMap(namesOf);
    case 'name':
      return [e.name];
    case 'member':
      return [...namesOf(e.of), ...namesOf(e.key)];
    case 'call':
      return [...(e.name === 'hasSlot' ? ['slots'] : []), ...e.args.flatMap(namesOf)];
    case 'binary':
      return [...namesOf(e.left), ...namesOf(e.right)];
    default:
      return namesOf(e.of);
  }
}
