// Parameter expressions and templates as values of the tree: `$.path`, `$route.x`, `$row.f`, `{{state.x}}`. Pure.
import type { Path, Root, Value } from './tree.ts';

/** What names mean where an expression stands. */
export interface Names {
  /** Where `$` begins. */
  root: Path['path'];
  /** A bare name is a field of the row: `{{name}}` in a template of rows. */
  row?: boolean;
}

/** Characters of one expression; steps of one path. */
const MAX_EXPRESSION = 512;
const MAX_STEPS = 32;

const step =
  /\.([A-Za-z_\u0080-\uffff][\w\u0080-\uffff-]*)|\[(\d{1,9})\]|\['([^'\\]*)'\]|\["([^"\\]*)"\]|(\[\*\])/y;

/** The steps of a plain path; null where the text is none. */
function stepsOf(text: string): (string | number | null)[] | null {
  const steps: (string | number | null)[] = [];
  step.lastIndex = 0;
  for (let at = 0; at < text.length; at = step.lastIndex) {
    step.lastIndex = at;
    const m = step.exec(text);
    if (!m || steps.length >= MAX_STEPS) return null;
    steps.push(m[5] ? null : m[2] !== undefined ? Number(m[2]) : (m[1] ?? m[3] ?? m[4])!);
  }
  return steps;
}

/**
 * The value an expression names: a plain path becomes a `Path`, any other query of RFC 9535 stays a query over what `$`
 * (or `$row`, `$route`, `$form`) is.
 * @returns null where the text is no expression
 */
export function expression(text: string, names: Names): Value | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX_EXPRESSION) return null;
  const named = /^\$?(route|row|form|state|meta)(?=[.[]|$)(.*)$/s.exec(trimmed);
  if (named) {
    const root = named[1] as Root;
    return pathOrQuery([root], named[2]!);
  }
  if (trimmed.startsWith('$')) return pathOrQuery(names.root, trimmed.slice(1));
  if (!names.row) return null;
  const steps = stepsOf(`.${trimmed}`);
  return steps ? { path: ['row', ...steps] } : null;
}

function pathOrQuery(root: Path['path'], rest: string): Value | null {
  const steps = stepsOf(rest);
  if (steps) return { path: [...root, ...steps] };
  return /^[.[]/.test(rest) ? { query: `$${rest}`, of: { path: root } } : null;
}

/** A path, where the expression is one: what something can be bound to. */
export function pathOf(text: string, names: Names): Path | null {
  const value = expression(text, names);
  return value !== null && typeof value === 'object' && 'path' in value && !value.path.includes(null)
    ? value
    : null;
}

/** A whole text that is an expression: `$.a`, `$['a']`, `$route.x`, `$row.f`. */
const whole = /^\s*\$(?:[.[]|(?:route|row|form)(?:[.[]|\s*$)|\s*$)/;
const mark = /\{\{([^{}]*)\}\}/g;

/**
 * A text with its expressions: one that is an expression as a whole, or has `{{…}}` in it. `$$` at its beginning is a
 * plain `$`. What is no expression stays as it is written.
 * @param fault is told each part that looks like an expression and is none
 */
export function template(text: string, names: Names, fault: (part: string) => void = () => {}): Value {
  if (text.startsWith('$$')) return text.slice(1);
  if (whole.test(text)) {
    const value = expression(text, names);
    if (value === null) fault(text);
    return value ?? text;
  }
  const parts: Value[] = [];
  let last = 0;
  for (const m of text.matchAll(mark)) {
    const value = expression(m[1]!, names);
    if (value === null) fault(m[0]);
    else {
      if (m.index > last) parts.push(text.slice(last, m.index));
      parts.push(value);
      last = m.index + m[0].length;
    }
  }
  if (last < text.length) parts.push(text.slice(last));
  return parts.length === 0 ? '' : parts.length === 1 ? parts[0]! : { join: parts };
}

/** Depth and members of a payload. */
const MAX_PAYLOAD_DEPTH = 12;
const MAX_PAYLOAD = 500;

/** JSON with expressions in its texts as a value; what is deeper or more than a payload may be is left out. */
export function payloadOf(json: unknown, names: Names, fault: (part: string) => void = () => {}): Value {
  let left = MAX_PAYLOAD;
  const walk = (at: unknown, depth: number): Value => {
    if (left-- <= 0 || depth > MAX_PAYLOAD_DEPTH) {
      fault('a payload that is too large');
      return null;
    }
    if (typeof at === 'string') return template(at.slice(0, 4000), names, fault);
    if (typeof at === 'number') return Number.isFinite(at) ? at : null;
    if (typeof at === 'boolean') return at;
    if (Array.isArray(at)) return { array: at.slice(0, MAX_PAYLOAD).map((v) => walk(v, depth + 1)) };
    if (at === null || typeof at !== 'object') return null;
    const entries = Object.entries(at).slice(0, MAX_PAYLOAD);
    return { object: Object.fromEntries(entries.map(([k, v]) => [k, walk(v, depth + 1)])) };
  };
  return walk(json, 0);
}
