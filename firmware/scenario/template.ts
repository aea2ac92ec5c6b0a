// Values with expressions in them: `"It is ${steps.weather.result.temp} degrees"`, in texts, lists and objects. Pure.
import { IngleError } from '../protocol/errors.ts';
import {
  type Expression,
  evaluate,
  LIMITS,
  namesOf,
  parseExpression,
  type Scope,
  textOf,
  type Value,
} from './expression.ts';

/** A value to be filled in. A text that is one expression and nothing else keeps the expression's type. */
export type Template =
  | { kind: 'value'; value: Value }
  | { kind: 'expression'; of: Expression }
  | { kind: 'text'; parts: (string | Expression)[] }
  | { kind: 'list'; items: Template[] }
  | { kind: 'object'; entries: [string, Template][] };

const MOST_PARTS = 64;
const MOST_DEPTH = 16;
const MOST_VALUES = 2000;

/** The end of an expression that begins at `from`: the `}` outside of its texts. */
function closing(text: string, from: number): number {
  let quote = '';
  for (let i = from; i < text.length; i++) {
    const c = text[i]!;
    if (quote) {
      if (c === '\\') i++;
      else if (c === quote) quote = '';
    } else if (c === "'" || c === '"') quote = c;
    else if (c === '}') return i;
  }
  throw new IngleError('invalid_request', 'An expression is not closed: "}" is missing.', { at: from });
}

function textTemplate(text: string): Template {
  const parts: (string | Expression)[] = [];
  let plain = '';
  let at = 0;
  while (at < text.length) {
    const next = text.indexOf('${', at);
    if (next < 0) break;
    if (next > 0 && text[next - 1] === '$') {
      // `$${` is `${` as it stands.
      plain += text.slice(at, next - 1) + '${';
      at = next + 2;
      continue;
    }
    plain += text.slice(at, next);
    const end = closing(text, next + 2);
    if (plain) parts.push(plain);
    plain = '';
    parts.push(parseExpression(text.slice(next + 2, end)));
    if (parts.length > MOST_PARTS)
      throw new IngleError('invalid_request', `A text may have at most ${MOST_PARTS} parts.`);
    at = end + 1;
  }
  plain += text.slice(at);
  if (plain) parts.push(plain);
  if (parts.length === 1 && typeof parts[0] === 'object') return { kind: 'expression', of: parts[0] };
  return parts.every((p) => typeof p === 'string')
    ? { kind: 'value', value: parts.join('') }
    : { kind: 'text', parts };
}

/**
 * A value of a scenario with its expressions parsed.
 * @throws IngleError `invalid_request` with the JSON pointer of what is wrong, `details.pointer`
 */
export function templateOf(value: unknown, pointer = '', depth = 0, count = { of: 0 }): Template {
  if (depth > MOST_DEPTH || ++count.of > MOST_VALUES)
    throw new IngleError('invalid_request', 'A value nests too deeply or has too many parts.', { pointer });
  if (typeof value === 'string')
    try {
      return textTemplate(value);
    } catch (e) {
      throw new IngleError('invalid_request', (e as Error).message, {
        ...(e instanceof IngleError ? e.details : {}),
        pointer,
      });
    }
  if (Array.isArray(value)) {
    const items = value.map((v, i) => templateOf(v, `${pointer}/${i}`, depth + 1, count));
    return items.every((i) => i.kind === 'value')
      ? { kind: 'value', value: items.map((i) => (i as { value: Value }).value) }
      : { kind: 'list', items };
  }
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([key, v]): [string, Template] => {
      const at = `${pointer}/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`;
      if (key === '__proto__')
        throw new IngleError('invalid_request', '"__proto__" is no name of a field.', { pointer: at });
      return [key, templateOf(v, at, depth + 1, count)];
    });
    return entries.every(([, v]) => v.kind === 'value')
      ? {
          kind: 'value',
          value: Object.fromEntries(entries.map(([k, v]) => [k, (v as { value: Value }).value])),
        }
      : { kind: 'object', entries };
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === null)
    return { kind: 'value', value };
  throw new IngleError('invalid_request', 'A value must be JSON.', { pointer });
}

/** A condition: a text that is an expression, with or without `${}` around it. @throws IngleError `invalid_request` */
export function conditionOf(text: string, pointer = ''): Expression {
  const inner = /^\s*\$\{([\s\S]*)\}\s*$/.exec(text);
  try {
    return parseExpression(inner ? inner[1]! : text);
  } catch (e) {
    throw new IngleError('invalid_request', (e as Error).message, { pointer });
  }
}

/** The value of a template. @throws IngleError `too_large` */
export function fill(t: Template, scope: Scope, spent: { work: number } = { work: 0 }): Value {
  switch (t.kind) {
    case 'value':
      return t.value;
    case 'expression':
      return evaluate(t.of, scope, spent);
    case 'text': {
      const text = t.parts
        .map((p) => (typeof p === 'string' ? p : textOf(evaluate(p, scope, spent))))
        .join('');
      if (text.length > LIMITS.text)
        throw new IngleError('too_large', `A text may have at most ${LIMITS.text} characters.`);
      return text;
    }
    case 'list':
      return t.items.map((i) => fill(i, scope, spent));
    case 'object':
      return Object.fromEntries(t.entries.map(([key, v]) => [key, fill(v, scope, spent)]));
  }
}

/** Names that a template depends on. */
export function namesIn(t: Template): string[] {
  switch (t.kind) {
    case 'value':
      return [];
    case 'expression':
      return namesOf(t.of);
    case 'text':
      return t.parts.flatMap((p) => (typeof p === 'string' ? [] : namesOf(p)));
    case 'list':
      return t.items.flatMap(namesIn);
    case 'object':
      return t.entries.flatMap(([, v]) => namesIn(v));
  }
}
