// Data from outside against a JSON Schema (2020-12, by TypeBox): every fault at once, in words, with its pointer.
import type { Static, TObject, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { IngleError } from '../errors.ts';

export interface Fault {
  /** JSON pointer (RFC 6901) of what is wrong. */
  pointer: string;
  /** Goes on after the name of the field: "is missing". */
  says: string;
}

/** What a person reads where a schema's keyword does not say enough; any schema may carry it. */
export const SAYS = 'x-says';

const escaped = (name: string) => name.replace(/~/g, '~0').replace(/\//g, '~1');
const isObject = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);

/** The schema at `#/properties/a/...` of another. */
function schemaAt(schema: TSchema, path: string): Record<string, unknown> {
  let at: unknown = schema;
  for (const part of path.split('/').slice(1))
    at = (at as Record<string, unknown> | undefined)?.[part.replace(/~1/g, '/').replace(/~0/g, '~')];
  return isObject(at) ? at : {};
}

const article = (type: string) => `must be ${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;

/** Everything that is wrong with `value`, in the order of the schema; each pointer once. */
export function faultsOf(schema: TSchema, value: unknown): Fault[] {
  const [valid, errors] = Check(schema, value) ? [true, []] : Errors(schema, value);
  const found = new Map<string, string>();
  const note = (pointer: string, says: string) => {
    if (!found.has(pointer)) found.set(pointer, says);
  };
  for (const e of errors) {
    const p = e.params as Record<string, unknown>;
    if (e.keyword === 'additionalProperties')
      for (const name of p['additionalProperties'] as string[])
        note(`${e.instancePath}/${escaped(name)}`, 'is not known here');
    if (e.keyword === 'required')
      for (const name of p['requiredProperties'] as string[])
        note(`${e.instancePath}/${escaped(name)}`, 'is missing');
  }
  for (const e of errors) {
    const values = choices(schemaAt(schema, e.schemaPath));
    if (e.keyword === 'anyOf' && values) note(e.instancePath, `must be one of ${values.join(', ')}`);
  }
  for (const e of errors) {
    if (['additionalProperties', 'required', 'boolean'].includes(e.keyword)) continue;
    const here = schemaAt(schema, e.schemaPath);
    note(e.instancePath, typeof here[SAYS] === 'string' ? here[SAYS] : saysOf(e.keyword, here, e.message));
  }
  if (!valid && found.size === 0) note('', 'has the wrong form');
  return [...found].map(([pointer, says]) => ({ pointer, says }));
}

/** The values of a union of constants. */
function choices(here: Record<string, unknown>): unknown[] | undefined {
  const values = (here['anyOf'] as Record<string, unknown>[] | undefined)?.map((s) => s['const']);
  return values?.every((v) => v !== undefined) ? values : undefined;
}

function saysOf(keyword: string, here: Record<string, unknown>, message: string): string {
  if (keyword === 'type') return article(String(here['type']));
  if (keyword === 'const') return `must be ${JSON.stringify(here['const'])}`;
  if (keyword === 'enum') return `must be one of ${(here['enum'] as unknown[]).join(', ')}`;
  if (keyword === 'pattern') return 'has a form that is not allowed here';
  return message;
}

/**
 * `value` as the schema has it. An optional field that is null is left out.
 * @throws IngleError `invalid_request`: a sentence on the first fault; `details.pointer` is its pointer and
 * `details.faults` holds all of them.
 */
export function checked<S extends TObject>(schema: S, value: unknown): Static<S> {
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const given = isObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([k, v]) => v !== null || required.has(k)))
    : value;
  const faults = faultsOf(schema, given);
  const [first] = faults;
  if (!first) return given as Static<S>;
  const name = first.pointer.slice(1).replace(/~1/g, '/').replace(/~0/g, '~');
  throw new IngleError('invalid_request', `${name ? `"${name}"` : 'The message'} ${first.says}.`, {
    pointer: first.pointer,
    ...(faults.length > 1 ? { faults: faults.slice(0, MAX_FAULTS) } : {}),
  });
}

/** Faults told in one answer. */
const MAX_FAULTS = 20;
