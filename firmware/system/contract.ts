// How a D-Bus contract is written: once, typed, with its docs. Pure: no bus here.
import type { ErrorCode } from '../protocol/errors.ts';

/** A value with its D-Bus signature, as dbus-next has it. */
export interface Variant {
  signature: string;
  value: unknown;
}

type Basic = {
  s: string;
  o: string;
  g: string;
  b: boolean;
  y: number;
  n: number;
  q: number;
  i: number;
  u: number;
  d: number;
  h: number;
  x: bigint;
  t: bigint;
  v: Variant;
};

/** The TypeScript type of a single complete D-Bus type; `(...)` structs and deeper nests are arrays. */
export type Typed<S extends string> = S extends keyof Basic
  ? Basic[S]
  : S extends 'ay'
    ? Uint8Array
    : S extends `a{${infer K}${infer V}}`
      ? K extends 's' | 'o' | 'q' | 'u' | 'i'
        ? Record<string, Typed<V>>
        : never
      : S extends `a${infer E}`
        ? Typed<E>[]
        : S extends `(${infer M})`
          ? Members<M>
          : unknown;

/** The members of a struct of basic types, as a tuple. */
type Members<M extends string> = M extends ''
  ? []
  : M extends `a{s${infer V}}${infer Rest}`
    ? [Record<string, V extends keyof Basic ? Basic[V] : unknown>, ...Members<Rest>]
    : M extends `a${infer E}${infer Rest}`
      ? [E extends 'y' ? Uint8Array : E extends keyof Basic ? Basic[E][] : unknown, ...Members<Rest>]
      : M extends `${infer B}${infer Rest}`
        ? [B extends keyof Basic ? Basic[B] : unknown, ...Members<Rest>]
        : [];

/** A struct: its fields by name, each with its signature, in the order of the wire, which carries no names. */
export interface Struct {
  readonly [field: string]: string;
}
/**
 * A dictionary (`a{sv}`) whose keys are known: each with the signature of its value, or a dictionary again. A key that
 * ends in `?` may be missing.
 */
export interface Dict {
  readonly dict: Keys;
}
interface Keys {
  readonly [key: string]: string | Dict;
}
/** One complete type: a signature, a dictionary of known keys, a struct whose fields have names, or an array of structs. */
export type Type = string | Dict | Struct | readonly [Struct];
/** The TypeScript type of a `Type`. */
export type Value<T extends Type> = T extends string
  ? Typed<T>
  : T extends { readonly dict: infer K extends Keys }
    ? Entries<K>
    : T extends readonly [infer S extends Struct]
      ? Fields<S>[]
      : T extends Struct
        ? Fields<T>
        : never;
type Entries<K extends Keys> = {
  -readonly [P in keyof K as P extends `${string}?` ? never : P]: Value<K[P]>;
} & {
  -readonly [P in keyof K as P extends `${infer N}?` ? N : never]?: Value<K[P]>;
};
type Fields<S extends Struct> = { -readonly [K in keyof S]: Typed<S[K]> };

/** Arguments by name, in the order of the wire. */
export type Args = Record<string, Type>;
export type Values<A extends Args> = { [K in keyof A]: Value<A[K]> };

export interface Method {
  doc: string;
  in: Args;
  out: Args;
  errors: readonly ErrorCode[];
}
export interface Signal {
  doc: string;
  args: Args;
}
export interface Property {
  doc: string;
  type: string;
}

export interface Contract {
  /** Interface name, ending in a version digit. */
  name: string;
  /** Well-known bus name; where a unit owns several, `%` stands for the instance. */
  bus: string;
  path: string;
  doc: string;
  methods: Record<string, Method>;
  signals: Record<string, Signal>;
  /** Read-only, with PropertiesChanged. */
  properties: Record<string, Property>;
}

/** Gives a contract its literal types. */
export function contract<const C extends Contract>(c: C): C {
  return c;
}

/** What a server of `C` implements: each method takes its arguments by name. */
export type Implementation<C extends Contract> = {
  [M in keyof C['methods']]: (
    args: Values<C['methods'][M]['in']>,
    caller: { sender: string },
  ) => Promise<Values<C['methods'][M]['out']>> | Values<C['methods'][M]['out']>;
};

/** What a caller of `C` has. */
export type Caller<C extends Contract> = {
  [M in keyof C['methods']]: (
    args: Values<C['methods'][M]['in']>,
    timeoutMs?: number,
  ) => Promise<Values<C['methods'][M]['out']>>;
};

const isArray = (t: Type): t is readonly [Struct] => Array.isArray(t);
/** Whether a type is a dictionary of known keys. */
export const isDict = (t: Type): t is Dict =>
  typeof t !== 'string' && typeof (t as Partial<Dict>).dict === 'object';
/** The keys of a dictionary: name, type, and whether it may be missing. */
export const keysOf = (t: Dict): [name: string, type: string | Dict, optional: boolean][] =>
  Object.entries(t.dict).map(([key, type]) => [key.replace(/\?$/, ''), type, key.endsWith('?')]);

/** The D-Bus signature of a type. */
export function signatureOf(t: Type): string {
  if (typeof t === 'string') return t;
  if (isDict(t)) return 'a{sv}';
  return isArray(t) ? `a${signatureOf(t[0])}` : `(${Object.values(t).join('')})`;
}

/**
 * A value as the wire has it: structs in order, without their names; dictionaries with a variant for each known key.
 * @throws TypeError when a dictionary lacks a key it must have
 */
export function toWire(t: Type, value: unknown): unknown {
  if (typeof t === 'string') return value;
  if (isDict(t)) {
    const given = value as Record<string, unknown>;
    const out: Record<string, Variant> = {};
    for (const [name, type, optional] of keysOf(t)) {
      if (given[name] !== undefined)
        out[name] = { signature: signatureOf(type), value: toWire(type, given[name]) };
      else if (!optional) throw new TypeError(`the dictionary has no ${name}`);
    }
    return out;
  }
  if (isArray(t)) return (value as unknown[]).map((v) => toWire(t[0], v));
  return Object.keys(t).map((name) => (value as Record<string, unknown>)[name]);
}

/** A value of the wire, its fields by name. Keys of a dictionary that are not known here are left out. */
export function fromWire(t: Type, value: unknown): unknown {
  if (typeof t === 'string') return value;
  if (isDict(t)) {
    const given = value as Record<string, Variant>;
    const here = keysOf(t).filter(([name]) => Object.hasOwn(given, name));
    return Object.fromEntries(here.map(([name, type]) => [name, fromWire(type, given[name]!.value)]));
  }
  if (isArray(t)) return (value as unknown[]).map((v) => fromWire(t[0], v));
  return Object.fromEntries(Object.keys(t).map((name, i) => [name, (value as unknown[])[i]]));
}

const basic = 'ybnqiuxtdsogvh';

/** Splits a signature into its complete types (D-Bus specification, "Type System"). */
export function splitSignature(signature: string): string[] {
  const out: string[] = [];
  let at = 0;
  while (at < signature.length) {
    const end = skip(signature, at);
    out.push(signature.slice(at, end));
    at = end;
  }
  return out;
}

function skip(s: string, at: number): number {
  const c = s[at];
  if (c === undefined) throw new RangeError(`signature ends early: ${s}`);
  if (basic.includes(c)) return at + 1;
  if (c === 'a') return skip(s, at + 1);
  const close = c === '(' ? ')' : c === '{' ? '}' : undefined;
  if (!close) throw new RangeError(`bad signature: ${s}`);
  let i = at + 1;
  while (s[i] !== close) i = skip(s, i);
  return i + 1;
}

/** JSON to a variant of real D-Bus types; null becomes an empty signature value `g`. */
export function toVariant(value: unknown): Variant {
  if (value === null || value === undefined) return { signature: 'g', value: '' };
  if (typeof value === 'string') return { signature: 's', value };
  if (typeof value === 'boolean') return { signature: 'b', value };
  if (typeof value === 'number') {
    return Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0)
      ? { signature: 'i', value }
      : { signature: 'd', value };
  }
  if (value instanceof Uint8Array) return { signature: 'ay', value };
  if (Array.isArray(value)) return { signature: 'av', value: value.map(toVariant) };
  if (typeof value === 'object')
    return { signature: 'a{sv}', value: toDict(value as Record<string, unknown>) };
  throw new TypeError(`no D-Bus type for ${typeof value}`);
}

/** A JSON object as `a{sv}`. */
export function toDict(value: Record<string, unknown>): Record<string, Variant> {
  // Entry by entry, as a key may be called `__proto__`.
  return Object.fromEntries(
    Object.entries(value).flatMap(([k, v]) => (v === undefined ? [] : [[k, toVariant(v)]])),
  );
}

/** The JSON behind a variant, or behind a container of variants. */
export function fromVariant(value: unknown): unknown {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(fromVariant);
  if (value !== null && typeof value === 'object') {
    const v = value as Partial<Variant>;
    if (typeof v.signature === 'string' && 'value' in v)
      return v.signature === 'g' && v.value === '' ? null : fromVariant(v.value);
    return Object.fromEntries(Object.entries(value).map(([k, x]) => [k, fromVariant(x)]));
  }
  return value;
}

/** Introspection XML of a contract (D-Bus specification, "Introspection Data Format"), docs as annotations. */
export function introspection(c: Contract): string {
  const esc = (t: string) => t.replace(/[<>&"]/g, (x) => `&#${x.charCodeAt(0)};`);
  const args = (a: Args, direction?: string) =>
    Object.entries(a)
      .map(
        ([n, t]) =>
          `<arg name="${n}" type="${signatureOf(t)}"${direction ? ` direction="${direction}"` : ''}/>`,
      )
      .join('');
  const doc = (d: string) => `<annotation name="org.gtk.GDBus.DocString" value="${esc(d)}"/>`;
  const parts = [
    ...Object.entries(c.methods).map(
      ([n, m]) => `<method name="${n}">${doc(m.doc)}${args(m.in, 'in')}${args(m.out, 'out')}</method>`,
    ),
    ...Object.entries(c.signals).map(([n, s]) => `<signal name="${n}">${doc(s.doc)}${args(s.args)}</signal>`),
    ...Object.entries(c.properties).map(
      ([n, p]) => `<property name="${n}" type="${p.type}" access="read">${doc(p.doc)}</property>`,
    ),
  ];
  return `<interface name="${c.name}">${doc(c.doc)}${parts.join('')}</interface>`;
}
