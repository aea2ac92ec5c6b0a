// Values drawn from a seed: what fits a JSON Schema, nearly, and what is spoilt on purpose.
import fc from 'fast-check';
import { garbage } from './garbage.ts';

/** A source of draws; the same seed gives the same ones. */
export interface Draw {
  /** An integer from 0 to below `n`. */
  below(n: number): number;
  chance(of: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** By the mixing function of splitmix32, so that neighbouring seeds have nothing in common. */
export function drawing(...seeds: number[]): Draw {
  let state = 0;
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  for (const seed of seeds) state = next() ^ seed;
  const below = (n: number) => next() % n;
  return { below, chance: (of) => below(of) === 0, pick: (from) => from[below(from.length)]! };
}

type Schema = Readonly<Record<string, unknown>>;

const matching = new Map<string, string[]>();
/** Texts that match a pattern; the same ones in each run. */
function textsOf(pattern: string): string[] {
  const known = matching.get(pattern);
  if (known) return known;
  const texts = fc.sample(fc.stringMatching(new RegExp(pattern)), { seed: 1, numRuns: 20 });
  matching.set(pattern, texts);
  return texts;
}

/**
 * A value for a schema; most of the time it fits.
 * @param known values by the field's name that mean something to who takes them
 */
export function drawn(
  schema: Schema,
  d: Draw,
  known: Readonly<Record<string, unknown[]>>,
  name = '',
): unknown {
  const meant = known[name];
  if (meant && !d.chance(4)) return d.pick(meant);
  if (d.chance(20)) return d.pick(garbage);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return d.pick(schema['enum']);
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (choices) return drawn(d.pick(choices), d, known, name);
  const number = (key: string, or: number) => (schema[key] as number | undefined) ?? or;
  switch (schema['type']) {
    case 'object': {
      const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
      const required = (schema['required'] ?? []) as string[];
      const taken = fields.filter(([k]) => required.includes(k) || d.chance(2));
      return Object.fromEntries(taken.map(([k, s]) => [k, drawn(s, d, known, k)]));
    }
    case 'array': {
      const n = d.below(4);
      return Array.from({ length: n }, () => drawn((schema['items'] ?? {}) as Schema, d, known));
    }
    case 'boolean':
      return d.chance(2);
    case 'null':
      return null;
    case 'integer':
    case 'number': {
      const least = number('minimum', -2);
      const most = number('maximum', least + 1000);
      return d.pick([
        least,
        most,
        least + d.below(Math.max(1, most - least)),
        least - 1,
        most + 1,
        most + 0.5,
      ]);
    }
    case 'string': {
      const pattern = schema['pattern'] as string | undefined;
      if (pattern) return d.pick(textsOf(pattern));
      return 'x'.repeat(d.pick([number('minLength', 0), 1, 7, Math.min(number('maxLength', 300), 5000)]));
    }
    default:
      return d.pick(garbage);
  }
}

/** A copy with one place of it replaced, taken away or added. */
export function spoilt(value: unknown, d: Draw): unknown {
  if (value === null || typeof value !== 'object' || d.chance(5)) return d.pick(garbage);
  if (Array.isArray(value)) {
    const at = d.below(value.length + 1);
    return [...value.slice(0, at), spoilt(value[at], d), ...value.slice(at + 1)];
  }
  const entries = Object.entries(value);
  const at = d.below(entries.length + 1);
  const [name] = entries[at] ?? [d.pick(['unknown', '__proto__', 'constructor', '', 'toString'])];
  if (entries[at] && d.chance(4)) return Object.fromEntries(entries.filter((_, i) => i !== at));
  return Object.fromEntries([...entries, [name, spoilt(entries[at]?.[1], d)]]);
}
