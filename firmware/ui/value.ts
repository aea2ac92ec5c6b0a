// Values and conditions of the render tree, over data. Pure, own properties only, and of bounded cost: what a drawing
// has no steps left for is nothing.
import type { Condition, Path, Root, Value } from './tree.ts';

/** Items that one `[*]` or one `zip` may give. */
const MAX_ITEMS = 20_000;
/** Rows of a `zip`. */
const MAX_ROWS = 1000;
const MAX_DEPTH = 32;
/** Characters of a structure that is shown as text. */
const MAX_BRIEF = 2000;

/** What values may see, and what seeing it may cost. */
export interface Scope extends Readonly<Partial<Record<Root, unknown>>> {
  /** Nodes of an RFC 9535 query, once there is a library for it. */
  readonly query?: (text: string, data: unknown) => unknown[];
  /** Steps that are left to all who share it. */
  readonly budget?: { steps: number };
}

function spend(scope: Scope, steps: number): boolean {
  if (!scope.budget) return true;
  scope.budget.steps -= steps;
  return scope.budget.steps >= 0;
}

function walk(from: unknown, path: Path['path'], first: number, scope: Scope): unknown {
  let at = from;
  for (let i = first; i < path.length; i++) {
    const step = path[i]!;
    if (at === null || typeof at !== 'object' || !spend(scope, 1)) return undefined;
    if (path[i] === null)
      return Array.isArray(at)
        ? at.slice(0, MAX_ITEMS).map((item) => walk(item, path, i + 1, scope))
        : undefined;
    // Own properties only: a path never reaches a prototype.
    if (!Object.hasOwn(at, step)) return undefined;
    at = (at as Record<string | number, unknown>)[step];
  }
  return at;
}

/**
 * The data a value stands for; undefined where nothing is.
 * @param show puts the parts of a `join` into words
 */
export function evaluate(
  value: Value | undefined,
  scope: Scope,
  show: (v: unknown) => string = (v) => plainText(v, scope),
  depth = 0,
): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (depth > MAX_DEPTH || !spend(scope, 1)) return undefined;
  const deeper = (v: Value) => evaluate(v, scope, show, depth + 1);
  if ('path' in value) return walk(scope[value.path[0]], value.path, 1, scope);
  if ('join' in value) return value.join.map((part) => show(deeper(part))).join('');
  if ('i18n' in value) return value;
  if ('array' in value) return value.array.map((v) => deeper(v) ?? null);
  if ('object' in value)
    return Object.fromEntries(Object.entries(value.object).map(([k, v]) => [k, deeper(v) ?? null]));
  if ('zip' in value) return rows(value.zip, deeper);
  const found = scope.query?.(value.query, evaluate(value.of, scope));
  return found?.slice(0, MAX_ITEMS);
}

function rows(columns: Readonly<Record<string, Value>>, of: (v: Value) => unknown): unknown[] {
  const all = Object.entries(columns).map(([key, v]) => [key, of(v)] as const);
  const length = Math.max(0, ...all.map(([, v]) => (Array.isArray(v) ? v.length : 0)));
  return Array.from({ length: Math.min(MAX_ROWS, length) }, (_, i) =>
    Object.fromEntries(all.map(([key, v]) => [key, Array.isArray(v) ? v[i] : undefined])),
  );
}

/** A value as text: nothing for nothing, the beginning of the JSON of structures. */
export function plainText(v: unknown, scope: Scope = {}): string {
  if (v === null || v === undefined) return '';
  return typeof v === 'object' ? brief(v, MAX_BRIEF, scope, 0) : String(v);
}

/** Whole structures may be as large as their document, so only as much of one is read as is shown. */
function brief(v: unknown, most: number, scope: Scope, depth: number): string {
  if (v === null || typeof v !== 'object') {
    const text = JSON.stringify(typeof v === 'string' ? v.slice(0, most) : v) ?? 'null';
    return text.length > most ? `${text.slice(0, most)}…` : text;
  }
  const [open, close] = Array.isArray(v) ? ['[', ']'] : ['{', '}'];
  const keys = Array.isArray(v) ? v : Object.keys(v);
  if (depth > MAX_DEPTH || !spend(scope, keys.length)) return `${open}…${close}`;
  let text = open;
  for (const [i, key] of keys.entries()) {
    if (text.length > most) return `${text}…`;
    if (i > 0) text += ',';
    if (!Array.isArray(v)) text += `${JSON.stringify(key)}:`;
    const item = Array.isArray(v) ? key : (v as Record<string, unknown>)[key as string];
    text += brief(item, most - text.length, scope, depth + 1);
  }
  return text + close;
}

/** Whether a condition holds; one that is nested too deep does not. */
export function holds(c: Condition | undefined, scope: Scope, depth = 0): boolean {
  if (c === undefined) return true;
  if (depth > MAX_DEPTH) return false;
  const of = (v: Value) => evaluate(v, scope);
  if ('is' in c) return isSomething(of(c.is));
  if ('not' in c) return !holds(c.not, scope, depth + 1);
  if ('all' in c) return c.all.every((one) => holds(one, scope, depth + 1));
  if ('any' in c) return c.any.some((one) => holds(one, scope, depth + 1));
  const order = compared(of(c.left), of(c.right), scope);
  switch (c.compare) {
    case '=':
      return order === 0;
    case '!=':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    default:
      return order >= 0;
  }
}

/** Whether rows are asked for page by page. */
export function isLazy<T extends object>(rows: Value | T): rows is T {
  return rows !== null && typeof rows === 'object' && 'query' in rows && !('of' in rows);
}

const isSomething = (v: unknown): boolean => Boolean(v) && !(Array.isArray(v) && v.length === 0);

/** A number of JSON, or the text of one as a field gives it. */
export function toNumber(v: unknown): number {
  if (typeof v === 'number') return v;
  return typeof v === 'string' && v.trim() !== '' ? Number(v) : Number.NaN;
}

/** Numbers by size, all else by its text; NaN, which is neither, where one of them is nothing and the other is not. */
function compared(left: unknown, right: unknown, scope: Scope): number {
  const [l, r] = [left ?? null, right ?? null];
  if (l === null || r === null) return l === r ? 0 : Number.NaN;
  const [a, b] = [toNumber(l), toNumber(r)];
  if (!Number.isNaN(a) && !Number.isNaN(b)) return a - b;
  const [x, y] = [plainText(l, scope), plainText(r, scope)];
  return x === y ? 0 : x < y ? -1 : 1;
}
