// What a skill keeps, as one text: the version it was written by, values by scope and key, timers. Pure.
import { checkJson } from '../documents/content.ts';
import { IngleError } from '../protocol/errors.ts';

/** Bounds of a skill's storage: bytes of a value's JSON, keys of all scopes, bytes of all keys and values. */
export const KEPT = { value: 64 * 1024, keys: 4096, total: 2 * 1024 * 1024 } as const;
export const MAX_TIMERS = 64;
const MAX_NAME = 128;
const sizeOf = (text: string) => Buffer.byteLength(text);

/** A stored timer: when it is due next, and the milliseconds between two of it. */
export interface StoredTimer {
  due: number;
  every?: number;
}

/** Immutable: a change makes a new one, which takes the old one's place once it is stored. */
export interface Kept {
  /** The skill's version that wrote it last. */
  version: string;
  /** JSON texts by scope (`''`: the skill's own, else an owner's id) and key. */
  values: ReadonlyMap<string, ReadonlyMap<string, string>>;
  timers: ReadonlyMap<string, StoredTimer>;
  /** Keys and bytes of all values. */
  size: { keys: number; bytes: number };
}

const nothing = { keys: 0, bytes: 0 };
export const nothingKept = (version: string): Kept => ({
  version,
  values: new Map(),
  timers: new Map(),
  size: nothing,
});
export const isEmpty = (k: Kept): boolean => k.timers.size === 0 && k.values.size === 0;

/** @throws IngleError `invalid_request` */
export function checkName(name: unknown): asserts name is string {
  if (typeof name !== 'string' || name.length === 0 || name.length > MAX_NAME)
    throw new IngleError('invalid_request', `A key or a timer's name has 1 to ${MAX_NAME} characters.`);
}

/** A value as it is kept. @throws IngleError `invalid_request`, `too_large` */
export function textOfValue(key: string, value: unknown): string {
  checkJson(value);
  const text = JSON.stringify(value);
  const size = sizeOf(text);
  if (size > KEPT.value)
    throw new IngleError(
      'too_large',
      `The value of "${key}" has ${size} bytes; at most ${KEPT.value} are kept. Split it over several keys.`,
    );
  return text;
}

/**
 * With one value set (or, undefined, taken away).
 * @throws IngleError `too_large` when it would be over the bounds
 */
export function withValue(k: Kept, scope: string, key: string, text: string | undefined): Kept {
  const mine = new Map(k.values.get(scope));
  const before = mine.get(key);
  if (text === undefined) mine.delete(key);
  else mine.set(key, text);
  const values = new Map(k.values);
  if (mine.size === 0) values.delete(scope);
  else values.set(scope, mine);
  const part = (t: string | undefined) =>
    t === undefined ? nothing : { keys: 1, bytes: sizeOf(key) + sizeOf(t) };
  const [old, fresh] = [part(before), part(text)];
  const keys = k.size.keys + fresh.keys - old.keys;
  const bytes = k.size.bytes + fresh.bytes - old.bytes;
  if (bytes > k.size.bytes || keys > k.size.keys)
    if (keys > KEPT.keys || bytes > KEPT.total)
      throw new IngleError(
        'too_large',
        `The storage is full: at most ${KEPT.keys} keys and ${KEPT.total} bytes. Delete what is not needed first.`,
      );
  return { ...k, values, size: { keys, bytes } };
}

/** @throws IngleError `too_large` when there are too many */
export function withTimer(k: Kept, name: string, timer: StoredTimer | undefined): Kept {
  const timers = new Map(k.timers);
  if (timer) timers.set(name, timer);
  else timers.delete(name);
  if (timers.size > MAX_TIMERS)
    throw new IngleError('too_large', `A skill may have at most ${MAX_TIMERS} timers. Clear one first.`);
  return { ...k, timers };
}

export function printKept({ version, values, timers }: Kept): string {
  const object = <V>(map: ReadonlyMap<string, V>, print: (v: V) => string) =>
    `{${[...map].map(([key, v]) => `${JSON.stringify(key)}:${print(v)}`).join(',')}}`;
  const texts = object(values, (scope) => object(scope, (text) => text));
  return `{"version":${JSON.stringify(version)},"values":${texts},"timers":${object(timers, (t) => JSON.stringify(t))}}\n`;
}

const objectIn = (v: unknown): Record<string, unknown> => {
  if (v === null || typeof v !== 'object' || Array.isArray(v)) throw new Error('is no object');
  return v as Record<string, unknown>;
};
const isTime = (v: unknown): v is number => typeof v === 'number' && Number.isFinite(v);

/** @throws Error for anything `printKept` has not made */
export function parseKept(text: string): Kept {
  const { version, values, timers } = objectIn(JSON.parse(text));
  if (typeof version !== 'string' || version === '') throw new Error('has no version');
  let kept = nothingKept(version);
  for (const [scope, all] of Object.entries(objectIn(values)))
    for (const [key, v] of Object.entries(objectIn(all)))
      kept = withValue(kept, scope, key, JSON.stringify(v));
  for (const [name, t] of Object.entries(objectIn(timers))) {
    const { due, every } = objectIn(t);
    if (!isTime(due) || !(every === undefined || (isTime(every) && every > 0)))
      throw new Error('has a timer that is none');
    kept = withTimer(kept, name, every === undefined ? { due } : { due, every });
  }
  return kept;
}
