// Device and factory files against their schemas: each fault by the path of its field and what is allowed there, and
// the file with its defaults. Pure.
import type { Static, TObject } from 'typebox';
import { Default } from 'typebox/value';
import { type Found, faultsOf, SAYS } from '../protocol/endpoint/check.ts';

/** One thing that is wrong: where (`brand.colours.light`, `channels[1]`), and what is allowed there. */
export interface Issue {
  path: string;
  says: string;
}

/** A file in which every field is there. */
export type Complete<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]-?: Complete<T[K]> }
    : T;

type Group = Record<string, unknown>;
const isGroup = (v: unknown): v is Group => v !== null && typeof v === 'object' && !Array.isArray(v);
const shown = (v: unknown) => (JSON.stringify(v) ?? String(v)).slice(0, 60);
const fieldsOf = (schema: Group) => Object.keys((schema['properties'] as Group | undefined) ?? {}).join(', ');

/** What a schema says is allowed. */
function allowed(schema: Group, keyword: string): string {
  const own = schema[SAYS];
  const says = isGroup(own) ? own[keyword] : own;
  if (typeof says === 'string') return says;
  // The first of several patterns says it for a field that is not there.
  const [first] = (schema['allOf'] as Group[] | undefined) ?? [];
  if (first) return allowed(first, keyword);
  const values = schema['enum'] as unknown[] | undefined;
  return values ? `one of ${values.join(', ')}` : 'it has the wrong form';
}

/** A fault in the words of files: what stands there, and what is allowed. */
function words({ pointer, keyword, schema, value }: Found): string {
  const is = `is ${shown(value)}`;
  const name = pointer.slice(pointer.lastIndexOf('/') + 1);
  if (keyword === 'required')
    return `is missing: ${allowed((schema['properties'] as Record<string, Group>)[name] ?? {}, 'pattern')}`;
  if (keyword === 'additionalProperties') return `is not known: allowed are ${fieldsOf(schema)}`;
  if (keyword === 'uniqueItems') return `${is} twice`;
  if (keyword === 'minItems') return `is empty: ${allowed(schema, keyword)}`;
  if (keyword !== 'type') return `${is}: ${allowed(schema, keyword)}`;
  if (pointer === '' && isGroup(schema[SAYS])) return allowed(schema, keyword);
  if (schema['type'] === 'boolean') return `${is}: true or false`;
  if (schema['type'] === 'array') return `${is}, not a list`;
  if (schema['type'] === 'object') return `${is}, not a group of ${fieldsOf(schema)}`;
  return `${is}, not a text: ${allowed(schema, 'pattern')}`;
}

/** YAML's empty value is a field that is not there. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isGroup(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([k, v]) => (v === null ? [] : [[k, withoutNulls(v)]])),
  );
}

/** `channels[1]` for `/channels/1`, and takes what is wrong out of `value`: a list as a whole. */
function cut(value: unknown, pointer: string): string {
  let path = '';
  let at = value;
  let remove: (() => void) | undefined;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replace(/~1/g, '/').replace(/~0/g, '~');
    const group = at;
    if (Array.isArray(group)) path += `[${name}]`;
    else {
      path += path === '' ? name : `.${name}`;
      remove = () => void (isGroup(group) && delete group[name]);
    }
    at = group !== null && typeof group === 'object' ? (group as Group)[name] : undefined;
  }
  remove?.();
  return path;
}

/**
 * Reads the value of a file. What is wrong in it is left out of `file`, so that rules beyond the schema still tell
 * what else is; where `issues` is not empty the file is not to be used.
 */
export function readFields<S extends TObject>(
  schema: S,
  given: unknown,
): { file: Complete<Static<S>>; issues: Issue[] } {
  const value = isGroup(given) ? withoutNulls(given) : given;
  const faults = faultsOf(schema, value, words);
  const issues = faults.map((f) => ({ path: cut(value, f.pointer), says: f.says }));
  const required = Object.fromEntries(((schema.required as string[] | undefined) ?? []).map((k) => [k, '']));
  const file = Default(schema, { ...required, ...(isGroup(value) ? value : {}) });
  return { file: file as Complete<Static<S>>, issues };
}
