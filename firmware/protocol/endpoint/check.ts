// Data from outside against a JSON Schema (2020-12, by TypeBox): every fault at once, in words, with its pointer.
import type { Static, TObject, TSchema } from 'typebox';
import { Check, Compile, Errors } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { IngleError } from '../errors.ts';

export interface Fault {
  /** JSON pointer (RFC 6901) of what is wrong. */
  pointer: string;
  /** Goes on after the name of the field: "is missing". */
  says: string;
}

/** A fault before it is put into words. */
export interface Found {
  pointer: string;
  /** The keyword that is broken. A field that is not known breaks `additionalProperties`. */
  keyword: string;
  /** The schema that has the keyword: the object's for `required` and `additionalProperties`. */
  schema: Record<string, unknown>;
  /** What stands at the pointer. */
  value: unknown;
}

/**
 * What a person reads where a schema's keyword does not say enough; any schema may carry it: one sentence, or one for
 * each keyword that needs its own.
 */
export const SAYS = 'x-says';

/** Faults told in one answer; of those beyond it only the number. */
const MAX_FAULTS = 64;

// TypeBox stops at 8. What comes is bounded by now, and this bounds the list.
Settings.Set({ maxErrors: 1000 });

const isObject = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);
const escaped = (name: string) => name.replace(/~/g, '~0').replace(/\//g, '~1');
const steps = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));
const step = (at: unknown, name: string): unknown =>
  at !== null && typeof at === 'object' && Object.hasOwn(at, name)
    ? (at as Record<string, unknown>)[name]
    : undefined;
const valueAt = (value: unknown, pointer: string): unknown => steps(pointer).reduce(step, value);

/** The schema at `#/properties/a/...` of another, through its references. */
function schemaAt(schema: TSchema, path: string): Record<string, unknown> {
  const target = (at: unknown): unknown => {
    const ref = isObject(at) ? at['$ref'] : undefined;
    return typeof ref === 'string' ? valueAt(schema, ref) : at;
  };
  const at = steps(path).reduce<unknown>((s, name) => target(step(s, name)), target(schema));
  return isObject(at) ? at : {};
}

/** What only tells that something below or beside it is wrong. */
const hollow = ['additionalProperties', 'propertyNames', 'allOf', 'if'];

/** Errors as TypeBox has them, each at its own place. */
function found(schema: TSchema, value: unknown): Found[] {
  const all: Found[] = [];
  for (const e of Errors(schema, value)[1]) {
    const params = e.params as Record<string, unknown>;
    const [, parent, last] = /^(.*)\/([^/]*)$/.exec(e.schemaPath) ?? [];
    const here = (path: string) => schemaAt(schema, path);
    const at = (pointer: string, keyword: string, path = e.schemaPath) =>
      all.push({ pointer, keyword, schema: here(path), value: valueAt(value, pointer) });
    if (e.keyword === 'required')
      for (const name of params['requiredProperties'] as string[])
        at(`${e.instancePath}/${escaped(name)}`, 'required');
    else if (e.keyword === 'uniqueItems')
      for (const i of params['duplicateItems'] as number[]) at(`${e.instancePath}/${i}`, 'uniqueItems');
    else if (e.keyword === 'boolean' && last === 'additionalProperties')
      at(e.instancePath, 'additionalProperties', parent);
    else if (!hollow.includes(e.keyword)) at(e.instancePath, e.keyword);
  }
  return all;
}

/** Fields that are not there or not known come first, then the choice that nothing met, then what the schema says on. */
const rank = (f: Found) =>
  ['required', 'additionalProperties'].includes(f.keyword)
    ? 0
    : f.keyword === 'anyOf' && choices(f.schema)
      ? 1
      : 2;

/** Looks at a schema's values before it becomes a function, which is sixty times as fast and memory for good. */
const COMPILE_AFTER = 20;
const looks = new WeakMap<TSchema, number | { Check(value: unknown): boolean }>();

/**
 * A schema that takes the same values: of a closed object whose fields are not all required, TypeBox would look at each
 * name by a regular expression, and it has none where `propertyNames` lists them.
 */
function quick(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(quick);
  if (!isObject(schema)) return schema;
  const { const: only, enum: some, ...rest } = schema;
  const same = Object.fromEntries(Object.entries(rest).map(([k, v]) => [k, quick(v)]));
  const { properties, required, additionalProperties } = schema;
  const names = isObject(properties) ? Object.keys(properties) : [];
  const isSlow =
    additionalProperties === false &&
    names.length > 0 &&
    !schema['patternProperties'] &&
    !schema['propertyNames'] &&
    (required as string[] | undefined)?.length !== names.length;
  return {
    ...same,
    ...('const' in schema ? { const: only } : {}),
    ...('enum' in schema ? { enum: some } : {}),
    ...(isSlow ? { additionalProperties: true, propertyNames: { enum: names } } : {}),
  };
}

function fits(schema: TSchema, value: unknown): boolean {
  const known = looks.get(schema) ?? 0;
  if (typeof known !== 'number') return known.Check(value);
  looks.set(schema, known < COMPILE_AFTER ? known + 1 : Compile(quick(schema) as TSchema));
  return Check(schema, value);
}

/**
 * Everything that is wrong with `value`, each pointer once.
 * @param words puts a fault into words; `spoken` where it is not given
 */
export function faultsOf(schema: TSchema, value: unknown, words: (f: Found) => string = spoken): Fault[] {
  if (fits(schema, value)) return [];
  const told = new Map<string, string>();
  for (const f of found(schema, value).sort((a, b) => rank(a) - rank(b)))
    if (!told.has(f.pointer)) told.set(f.pointer, words(f));
  if (told.size === 0) told.set('', 'has the wrong form');
  return [...told].map(([pointer, says]) => ({ pointer, says }));
}

/** The values of a union of constants. */
function choices(here: Record<string, unknown>): unknown[] | undefined {
  if (Array.isArray(here['enum'])) return here['enum'];
  const values = (here['anyOf'] as Record<string, unknown>[] | undefined)?.map((s) => s['const']);
  return values?.every((v) => v !== undefined) ? values : undefined;
}

const article = (type: string) => `must be ${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;

/** A fault in our own words, or in those of its schema. */
export function spoken({ keyword, schema }: Found): string {
  const own = schema[SAYS];
  const says = isObject(own) ? own[keyword] : own;
  if (keyword === 'additionalProperties') return 'is not known here';
  if (keyword === 'required') return isObject(own) && typeof says === 'string' ? says : 'is missing';
  if (typeof says === 'string') return says;
  const one = choices(schema);
  if (one) return `must be one of ${one.join(', ')}`;
  if (keyword === 'type') return article(String(schema['type']));
  if (keyword === 'const') return `must be ${JSON.stringify(schema['const'])}`;
  if (keyword === 'pattern') return 'has a form that is not allowed here';
  if (keyword === 'maxLength') return `may have at most ${schema['maxLength']} characters`;
  if (keyword === 'minLength') return `must have at least ${schema['minLength']} characters`;
  if (keyword === 'maxItems') return `may have at most ${schema['maxItems']} items`;
  if (keyword === 'minItems') return `must have at least ${schema['minItems']} items`;
  if (keyword === 'uniqueItems') return 'is there twice';
  if (keyword === 'minimum') return `must be at least ${schema['minimum']}`;
  if (keyword === 'maximum') return `may be at most ${schema['maximum']}`;
  return 'has the wrong form';
}

/**
 * Faults as one error: `details.pointer` is the first's pointer, `details.faults` holds all of several, up to 64, and
 * `details.more` is the number of those beyond.
 * @param message for a person; without it, the faults in a row behind `head`
 */
export function refusal(faults: readonly Fault[], head: string, message?: string): IngleError {
  const more = Math.max(0, faults.length - MAX_FAULTS);
  const some = faults.slice(0, MAX_FAULTS);
  const row = some.map((f) => `${f.pointer} ${f.says}`.trim()).join('; ');
  return new IngleError('invalid_request', message ?? `${head} ${row}${more ? `; and ${more} more` : ''}.`, {
    pointer: some[0]?.pointer ?? '',
    ...(some.length > 1 ? { faults: some } : {}),
    ...(more ? { more } : {}),
  });
}

function withoutNulls(schema: TObject, value: Record<string, unknown>): Record<string, unknown> {
  const isLeftOut = (k: string) =>
    value[k] === null && !(schema.required as string[] | undefined)?.includes(k);
  if (!Object.keys(value).some(isLeftOut)) return value;
  return Object.fromEntries(Object.entries(value).filter(([k]) => !isLeftOut(k)));
}

/**
 * `value` as the schema has it. An optional field that is null is left out.
 * @throws IngleError `invalid_request`: a sentence on the first fault; its details as `refusal` has them.
 */
export function checked<S extends TObject>(schema: S, value: unknown): Static<S> {
  const given = isObject(value) ? withoutNulls(schema, value) : value;
  const faults = faultsOf(schema, given);
  const [first] = faults;
  if (!first) return given as Static<S>;
  const name = steps(first.pointer).join('/');
  throw refusal(faults, '', `${name ? `"${name}"` : 'The message'} ${first.says}.`);
}
