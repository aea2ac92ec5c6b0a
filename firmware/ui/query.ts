// RFC 9535 queries by json-p3, bounded: neither a query nor its data can take long, whoever wrote them. Loaded on the
// first use of a query that is no plain path. Pure.
import {
  FunctionExpressionType,
  JSONPathEnvironment,
  JSONPathError,
  type JSONPathQuery,
  type JSONValue,
} from 'json-p3';
import { iregexp } from './iregexp.ts';

/** Looks at data that one query may take; each is about a microsecond. */
const MAX_LOOKS = 50_000;
const MAX_DEPTH = 64;
const MAX_QUERY = 512;
/** Values of one answer. */
const MAX_VALUES = 10_000;

class Spent extends Error {}

let left = 0;
const spend = (looks: number) => {
  left -= looks;
  if (left < 0) throw new Spent();
};

/**
 * Data that counts how often it is looked at and throws when that is too often: whatever way a query goes through it,
 * this bounds its time. Only own properties are seen.
 */
function counted(value: unknown): unknown {
  const made = new WeakMap<object, object>();
  const wrap = (v: unknown): unknown => {
    if (v === null || typeof v !== 'object') return v;
    const known = made.get(v);
    if (known) return known;
    const proxy = new Proxy(v, {
      get(target, key) {
        spend(1);
        if (Object.hasOwn(target, key)) return wrap((target as Record<PropertyKey, unknown>)[key]);
        // What the library asks of arrays by itself.
        return key === Symbol.iterator && Array.isArray(target)
          ? Array.prototype[Symbol.iterator]
          : undefined;
      },
      has: (target, key) => {
        spend(1);
        return Object.hasOwn(target, key);
      },
      ownKeys(target) {
        const keys = Reflect.ownKeys(target);
        spend(keys.length);
        return keys;
      },
    });
    made.set(v, proxy);
    origin.set(proxy, v);
    return proxy;
  };
  return wrap(value);
}
const origin = new WeakMap<object, object>();
const plain = (v: unknown) => (v !== null && typeof v === 'object' ? (origin.get(v) ?? v) : v);

const patterns = new Map<string, ReturnType<typeof iregexp>>();
function test(whole: boolean) {
  return {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call(text: unknown, pattern: unknown): boolean {
      if (typeof text !== 'string' || typeof pattern !== 'string') return false;
      if (!patterns.has(pattern)) {
        if (patterns.size >= 50) patterns.clear();
        patterns.set(pattern, iregexp(pattern));
      }
      return patterns.get(pattern)?.(text, whole, spend) ?? false;
    },
  };
}

const environment = new JSONPathEnvironment({ maxRecursionDepth: MAX_DEPTH });
environment.functionRegister.set('match', test(true));
environment.functionRegister.set('search', test(false));

const compiled = new Map<string, JSONPathQuery | string>();
function compile(query: string): JSONPathQuery | string {
  const known = compiled.get(query);
  if (known !== undefined) return known;
  let made: JSONPathQuery | string;
  if (query.length > MAX_QUERY) made = `is longer than ${MAX_QUERY} characters`;
  else
    try {
      made = environment.compile(query);
    } catch (e) {
      if (!(e instanceof JSONPathError || e instanceof RangeError)) throw e;
      made = e instanceof JSONPathError ? e.message : 'nests too deep';
    }
  if (compiled.size >= 200) compiled.clear();
  compiled.set(query, made);
  return made;
}

/** Why a text is no query of RFC 9535, as a sentence's end; null where it is one. */
export function queryFault(query: string): string | null {
  const made = compile(query);
  return typeof made === 'string' ? made : null;
}

/**
 * The values of the nodes a query finds, in its order.
 * @param query RFC 9535, at most 512 characters
 * @param shared looks that are left to all queries of one drawing; each takes from them
 * @returns none where the query is faulty, or took more than it may
 */
export function runQuery(query: string, value: unknown, shared = { looks: MAX_LOOKS }): unknown[] {
  const made = compile(query);
  if (typeof made === 'string') return [];
  const given = Math.min(MAX_LOOKS, shared.looks);
  left = given;
  try {
    const values: unknown[] = [];
    for (const node of made.query(counted(value) as JSONValue)) {
      if (values.length >= MAX_VALUES) break;
      values.push(plain(node.value));
    }
    return values;
  } catch (e) {
    if (e instanceof Spent || e instanceof JSONPathError || e instanceof RangeError) return [];
    throw e;
  } finally {
    shared.looks -= given - Math.max(0, left);
  }
}
