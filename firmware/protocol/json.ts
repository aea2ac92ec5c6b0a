// JSON from outside: bounded in size and depth before anything else sees it.
import { IngleError } from './errors.ts';
import { MAX_BODY, MAX_DEPTH } from './limits.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses a JSON object from outside.
 * @throws IngleError `too_large` over `maxBytes`, `invalid_request` when it is no JSON object or nests deeper than MAX_DEPTH.
 */
export function parseObject(text: string | Uint8Array, maxBytes = MAX_BODY): Record<string, unknown> {
  const value = text.length === 0 ? {} : parseJson(text, maxBytes);
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new IngleError('invalid_request', 'The body must be a JSON object.', { pointer: '' });
  return value as Record<string, unknown>;
}

/**
 * Parses any JSON from outside.
 * @throws IngleError like `parseObject`
 */
export function parseJson(text: string | Uint8Array, maxBytes = MAX_BODY): unknown {
  if (text.length > maxBytes) throw new IngleError('too_large', `A body may have at most ${maxBytes} bytes.`);
  let value: unknown;
  try {
    const source = typeof text === 'string' ? text : utf8.decode(text);
    value = JSON.parse(source);
  } catch {
    throw new IngleError('invalid_request', 'The body is not JSON.', { pointer: '' });
  }
  checkDepth(value, 1);
  return value;
}

/** Goes into nothing but objects and lists, as most of what comes is neither. */
function checkDepth(value: unknown, depth: number): void {
  if (value === null || typeof value !== 'object') return;
  if (depth > MAX_DEPTH)
    throw new IngleError('invalid_request', `The body nests deeper than ${MAX_DEPTH}.`, { pointer: '' });
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') checkDepth(item, depth + 1);
    return;
  }
  const children = value as Record<string, unknown>;
  for (const key in children) {
    const child = children[key];
    if (typeof child === 'object') checkDepth(child, depth + 1);
  }
}

/** What `field` accepts. A trailing `?` makes the field optional. */
type Kind = 'string' | 'number' | 'boolean' | 'object' | 'array';
type Typed = {
  string: string;
  number: number;
  boolean: boolean;
  object: Record<string, unknown>;
  array: unknown[];
};
type Shape = Record<string, Kind | `${Kind}?`>;
type Of<K> = K extends `${infer B extends Kind}?` ? Typed[B] | undefined : K extends Kind ? Typed[K] : never;

/**
 * Checks a parsed object against a flat shape and refuses unknown fields. An optional field that is null is left out.
 * @throws IngleError `invalid_request` with `details.pointer` = the JSON pointer (RFC 6901) of the first bad field.
 */
export function shape<S extends Shape>(value: unknown, s: S): { [K in keyof S]: Of<S[K]> } {
  const bad = (key: string, says: string) =>
    new IngleError('invalid_request', `${key === '' ? 'The message' : `"${key}"`} ${says}.`, {
      pointer: key === '' ? '' : '/' + key.replace(/~/g, '~0').replace(/\//g, '~1'),
    });
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw bad('', 'must be an object');
  const given = value as Record<string, unknown>;
  const checked: Record<string, unknown> = {};
  for (const key of Object.keys(given)) if (!Object.hasOwn(s, key)) throw bad(key, 'is not known here');
  for (const [key, kind] of Object.entries(s)) {
    const optional = kind.endsWith('?');
    const want = optional ? kind.slice(0, -1) : kind;
    const v = given[key];
    if (v === undefined || (v === null && optional)) {
      if (!optional) throw bad(key, 'is missing');
      continue;
    }
    const is = Array.isArray(v) ? 'array' : v === null ? 'null' : typeof v;
    if (is !== want || (is === 'number' && !Number.isFinite(v))) throw bad(key, `must be a ${want}`);
    checked[key] = v;
  }
  return checked as { [K in keyof S]: Of<S[K]> };
}
