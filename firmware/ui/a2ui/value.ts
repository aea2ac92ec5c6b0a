// Values of A2UI: literals, pointers into the data model, functions of its basic catalogue. Pure.
import type { Path, Value } from '../tree.ts';
import { isObject, type Json, own, stepsOf } from './messages.ts';

/** Where a component stands: the place of its data model, and whether it is within a template. */
export interface Where {
  root: Path['path'];
  inRow: boolean;
  /** Told once of each function that is not known here. */
  unknown(name: string, pointer: string): void;
}

/** A pointer as a path: from the root where it begins with "/", else from the template's item. */
export function pathAt(pointer: string, where: Where): Path {
  const absolute = pointer.startsWith('/') || !where.inRow;
  return { path: [...(absolute ? where.root : (['row'] as const)), ...stepsOf(pointer)] };
}

const literals = ['literalString', 'literalNumber', 'literalBoolean', 'literalArray'];
const MAX_PARTS = 100;

/** A text with `${/path}`, `${relative}` and `${fn(value: ${/path})}` in it; `\${` is a plain `${`. */
function formatted(text: string, where: Where, pointer: string, depth: number): Value {
  const parts: Value[] = [];
  let plain = '';
  const flush = () => {
    if (plain) parts.push(plain);
    plain = '';
  };
  for (let i = 0; i < text.length; ) {
    if (text.startsWith('\\${', i)) {
      plain += '${';
      i += 3;
      continue;
    }
    if (!text.startsWith('${', i) || parts.length > MAX_PARTS) {
      plain += text[i++];
      continue;
    }
    let end = i + 2;
    for (let open = 1; end < text.length; end++) {
      if (text.startsWith('${', end)) open++;
      else if (text[end] === '}' && --open === 0) break;
    }
    const inner = text.slice(i + 2, end).trim();
    flush();
    const call = /^([A-Za-z]\w{0,63})\s*\((.*)\)$/s.exec(inner);
    if (call) {
      where.unknown(call[1]!, pointer);
      // What would be formatted is shown as it is.
      const argument = /\$\{([^{}]*)\}/.exec(call[2]!)?.[1];
      parts.push(argument ? pathAt(argument.trim(), where) : '');
    } else parts.push(depth < 4 && inner !== '' ? pathAt(inner, where) : inner);
    i = end + 1;
  }
  flush();
  return parts.length === 0 ? '' : parts.length === 1 ? parts[0]! : { join: parts };
}

/** A dynamic value of a property; undefined where the property is not there. */
export function valueAt(v: unknown, where: Where, pointer: string, depth = 0): Value | undefined {
  if (typeof v === 'string') return v.slice(0, 4000);
  if (typeof v === 'number') return Number.isFinite(v) ? v : undefined;
  if (typeof v === 'boolean') return v;
  if (Array.isArray(v))
    return { array: v.slice(0, 200).map((one) => valueAt(one, where, pointer, depth + 1) ?? null) };
  if (!isObject(v) || depth > 8) return undefined;
  const path = own(v, 'path');
  if (typeof path === 'string') return pathAt(path, where);
  const literal = literals.find((l) => Object.hasOwn(v, l));
  if (literal) return valueAt(own(v, literal), where, pointer, depth + 1);
  const call = own(v, 'call');
  if (typeof call !== 'string') return undefined;
  const args = own(v, 'args');
  const value = isObject(args) ? own(args, 'value') : undefined;
  if (call === 'formatString' && typeof value === 'string')
    return formatted(value.slice(0, 4000), where, pointer, depth);
  where.unknown(call, pointer);
  return valueAt(value, where, pointer, depth + 1) ?? '';
}

/** What a button's `context` sends: v0.8 has a list of key and value, later versions an object. */
export function contextOf(context: unknown, where: Where, pointer: string): Value | undefined {
  const entries: [string, unknown][] = Array.isArray(context)
    ? context
        .slice(0, 100)
        .flatMap((e): [string, unknown][] =>
          isObject(e) && typeof own(e, 'key') === 'string' ? [[String(own(e, 'key')), own(e, 'value')]] : [],
        )
    : isObject(context)
      ? Object.entries(context as Json).slice(0, 100)
      : [];
  if (entries.length === 0) return undefined;
  const deep = (v: unknown, depth: number): Value => {
    const value = valueAt(v, where, pointer);
    if (value !== undefined || !isObject(v) || depth > 8) return value ?? null;
    return {
      object: Object.fromEntries(
        Object.entries(v)
          .slice(0, 100)
          .map(([k, one]) => [k, deep(one, depth + 1)]),
      ),
    };
  };
  return { object: Object.fromEntries(entries.map(([k, v]) => [k, deep(v, 0)])) };
}
