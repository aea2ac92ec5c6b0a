// Of which type a parameter is, and whether another value may take its place. Pure.
import { below, faultAt, type ScenarioFault } from './fault.ts';

export type ValueType = 'number' | 'text' | 'boolean' | 'list' | 'object' | 'anything';

const isObject = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);
/** A text with an expression has the type of what comes of it, which nobody knows before. */
const isComputed = (v: unknown) => typeof v === 'string' && v.includes('${');

/** The type that a default gives its parameter: null or an expression take any plain value. */
export function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined || isComputed(value)) return 'anything';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return Array.isArray(value) ? 'list' : 'object';
}

function expressionsIn(value: unknown, pointer: string): ScenarioFault[] {
  if (isComputed(value)) return [faultAt(pointer, 'no_expressions')];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, v]) => expressionsIn(v, below(pointer, key)));
}

/** What keeps `value` from standing in the place of a default. Objects have the fields that the default has. */
export function valueFaults(value: unknown, of: unknown, pointer: string): ScenarioFault[] {
  const type = typeOf(of);
  const found = expressionsIn(value, pointer);
  if (found.length > 0 || type === 'anything') return found;
  if (typeOf(value) !== type) return [faultAt(pointer, 'wrong_type', { type })];
  const fields = isObject(of) ? Object.keys(of) : [];
  if (!isObject(value) || fields.length === 0) return [];
  return Object.entries(value).flatMap(([key, v]) =>
    fields.includes(key)
      ? valueFaults(v, (of as Record<string, unknown>)[key], below(pointer, key))
      : [faultAt(below(pointer, key), 'no_field', { fields: fields.join(', ') })],
  );
}

/** `value` over a default: objects field by field, all else whole. */
export function mergedValue(of: unknown, value: unknown): unknown {
  if (!isObject(of) || !isObject(value)) return value;
  const merged = Object.entries(value).map(([key, v]) => [
    key,
    Object.hasOwn(of, key) ? mergedValue(of[key], v) : v,
  ]);
  return { ...of, ...Object.fromEntries(merged) };
}

/**
 * `output.active` and `input.active` are ways that the scenario has: no other way may be set, and none but the default
 * where it names none.
 */
export function settingFaults(
  value: unknown,
  of: unknown,
  name: string,
  io: { input?: readonly string[]; output?: readonly string[] },
  pointer: string,
): ScenarioFault[] {
  const faults = valueFaults(value, of, pointer);
  const way = /^(input|output)\.active$/.exec(name)?.[1] as 'input' | 'output' | undefined;
  if (faults.length > 0 || !way) return faults;
  const options = io[way] ?? [of].flat().filter((w) => typeof w === 'string');
  return [value].flat().every((w) => options.includes(w as string))
    ? []
    : [faultAt(pointer, 'no_output', { options: options.join(', ') })];
}

/** Whether a capability is a part of another: the same, or it and a dot and more. */
export const isPartOf = (cap: string, of: string): boolean => cap === of || cap.startsWith(`${of}.`);
