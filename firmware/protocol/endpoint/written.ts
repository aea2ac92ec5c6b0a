// JSON of what an endpoint declares to answer: the same text as JSON.stringify's, but for the order of the fields.
import type { TSchema } from 'typebox';

/** Undefined for what JSON has no text for. */
type Write = (value: unknown) => string | undefined;

/** The longest text of an object that is kept, characters. */
const MAX_KEPT = 2048;

interface Field {
  name: string;
  write: Write;
  /** The value that was written last; instead of an object, which may be another within, what no value is. */
  value: unknown;
  said: string | undefined;
  /** `"name":value`, or nothing. */
  text: string;
}
const blank = { value: undefined, said: undefined, text: '' };

/**
 * What is asked for again and again has mostly the fields it had: each keeps the text of its last value, and the object
 * that of all of them.
 */
function object(properties: Record<string, TSchema>): Write {
  const fields = Object.entries(properties).map(
    ([name, schema]): Field => ({ name, write: writerOf(schema), ...blank }),
  );
  let whole = '';
  return (value) => {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    const given = value as Record<string, unknown>;
    let written = 0;
    for (const f of fields) {
      const now = given[f.name];
      if (now !== f.value || typeof now === 'object') {
        const said = f.write(now);
        if (said !== f.said) {
          f.said = said;
          f.text = said === undefined ? '' : `${JSON.stringify(f.name)}:${said}`;
          whole = '';
        }
        f.value = typeof now === 'object' ? f : now;
      }
      if (f.said !== undefined) written++;
    }
    // With a field that is not declared, it is another object than this one writes. `in`, as keys would be an array each.
    let there = 0;
    for (const _ in given) there++;
    if (written === 0 || there !== written) return JSON.stringify(value);
    if (whole !== '') return whole;
    let text = '';
    for (const f of fields) if (f.text !== '') text += (text === '' ? '{' : ',') + f.text;
    text += '}';
    if (text.length <= MAX_KEPT) whole = text;
    else for (const f of fields) Object.assign(f, blank);
    return text;
  };
}

const list =
  (write: Write): Write =>
  (value) =>
    Array.isArray(value)
      ? `[${value.map((item) => write(item) ?? 'null').join(',')}]`
      : JSON.stringify(value);

/**
 * Writes values of a schema as JSON. What is not as declared is written, too, as JSON.stringify does.
 * Its text is the faster the less has changed since the last.
 */
export function writerOf(schema: TSchema): Write {
  const { properties, items, anyOf } = schema as {
    properties?: Record<string, TSchema>;
    items?: TSchema;
    anyOf?: TSchema[];
  };
  if (properties) return object(properties);
  if (items) return list(writerOf(items));
  const some = anyOf?.filter((s) => (s as { type?: string }).type !== 'null') ?? [];
  return some.length === 1 ? writerOf(some[0]!) : JSON.stringify;
}
