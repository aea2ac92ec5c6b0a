// Vega-Lite specifications as a document may have them: a copy of what is known and bounded, or why there is none. The
// hub asks it when it compiles, a browser before it draws. Pure.
import { isPlainExpression } from './vega-expression.ts';

type Json = Readonly<Record<string, unknown>>;

export const vegaBounds = {
  /** Values of one specification, those of its own data too. */
  values: 5000,
  depth: 12,
  /** Elements of a list that is not data. */
  list: 100,
  /** Characters of a text. */
  text: 300,
  /** Marks in all layers, from which follows how many rows are drawn. */
  marks: 6000,
  rows: 2000,
  layers: 8,
  transforms: 8,
  calculated: 3,
  /** Of a font, a line or a gap. */
  pixels: 4000,
} as const;

export type SafeSpec =
  /** `left` are the keys that were left out, `rows` how many rows of data it may draw. */
  { spec: Record<string, unknown>; left: string[]; rows: number } | { refused: string };

/** Names of an address: the rest is drawn without. So are those that `view` does not know, as settings of ours are. */
const leftOut = new Set(['$schema', 'url', 'href', 'cursor', '__proto__']);
/** What would be worked out from text as the drawing goes on, or grows without bound. */
const never = new Set(
  'signal expr param params select selection bind impute bins base repeat projection encode encoding constructor prototype'.split(
    ' ',
  ),
);
/** Marks, and in how many simple ones each may end. */
const marks: Record<string, number> = {
  ...{ arc: 1, area: 3, bar: 1, circle: 1, line: 3, point: 1, rect: 1, rule: 1, square: 1, text: 1, tick: 1 },
  ...{ trail: 1, boxplot: 6, errorband: 4, errorbar: 4 },
};
const channels = new Set(
  'x y x2 y2 xError xError2 yError yError2 xOffset yOffset theta theta2 radius radius2 color fill stroke opacity fillOpacity strokeOpacity strokeWidth strokeDash size angle shape order detail text tooltip description'.split(
    ' ',
  ),
);
const operations = new Set(
  'count sum mean average median min max q1 q3 stdev stdevp variance variancep valid missing distinct stderr product row_number rank dense_rank percent_rank cume_dist lag lead first_value last_value'.split(
    ' ',
  ),
);
/** The transforms there are, each with all that it may have: none of them makes rows but `fold`, which is counted. */
const transforms: Record<string, readonly string[]> = {
  aggregate: ['aggregate', 'groupby'],
  bin: ['bin', 'field', 'as'],
  calculate: ['calculate', 'as'],
  filter: ['filter'],
  fold: ['fold', 'as'],
  joinaggregate: ['joinaggregate', 'groupby'],
  stack: ['stack', 'groupby', 'offset', 'sort', 'as'],
  timeUnit: ['timeUnit', 'field', 'as'],
  window: ['window', 'frame', 'ignorePeers', 'groupby', 'sort'],
};

const isObject = (v: unknown): v is Json => v !== null && typeof v === 'object' && !Array.isArray(v);
const isCount = (v: unknown, most: number) => typeof v === 'number' && v >= 0 && v <= most;
/** What is counted in pixels: labels of a billion of them take seconds to be measured. A point's "size" is its area. */
const isSize = /(.size|width|height|padding|offset|radius|limit|spacing|thickness|length)$/i;
/** Of lines, or of a channel that chooses among our own: a pattern finer than a pixel is drawn for ever. */
const isDash = (v: unknown) =>
  (isObject(v) && !['value', 'scale', 'condition'].some((k) => Object.hasOwn(v, k))) ||
  (Array.isArray(v) && v.every((n) => typeof n === 'number' && n >= 1 && n <= 100));

/** What stands under a name has to be; an axis with ten million ticks would hold the page up. */
const rules: Record<string, (v: unknown) => boolean> = {
  aggregate: (v) =>
    Array.isArray(v) ||
    operations.has(String(isObject(v) ? Object.keys(v)[0]?.replace(/^arg(?=min|max)/, '') : v)),
  op: (v) => typeof v === 'string' && operations.has(v),
  bin: (v) =>
    v === null ||
    v === 'binned' ||
    typeof v === 'boolean' ||
    (isObject(v) && Object.entries(v).every(([k, n]) => k === 'maxbins' && isCount(n, 100) && Number(n) > 1)),
  timeUnit: (v) => typeof v === 'string' && /^[a-z]{1,40}$/i.test(v),
  extent: (v) => typeof v === 'number' || /^(stderr|stdev|iqr|min-max)$/.test(String(v)),
  format: (v) => typeof v === 'string' && v.length <= 30 && !/\d{3}/.test(v),
  formatType: (v) => v === 'number' || v === 'time' || v === 'utc',
  tickCount: (v) => isCount(v, 50),
  symbolLimit: (v) => isCount(v, 50),
  columns: (v) => Number.isInteger(v) && isCount(v, 50) && v !== 0,
  nice: (v) => typeof v === 'boolean' || isCount(v, 50),
  scale: isObject,
  scheme: (v) => typeof v === 'string',
  strokeDash: isDash,
  gridDash: isDash,
  domainDash: isDash,
  tickDash: isDash,
  labelExpr: isPlainExpression,
  test: (v) => isPredicate(v, 0),
  filter: (v) => isPredicate(v, 0),
  calculate: isPlainExpression,
};

/** A condition on a row: an expression, a comparison of a field, or several of these. */
function isPredicate(v: unknown, depth: number): boolean {
  if (typeof v === 'string') return isPlainExpression(v);
  if (!isObject(v) || depth > 4) return false;
  const { and, or, not, ...rest } = v;
  const some = and ?? or;
  if (some === undefined && not === undefined) return typeof v['field'] === 'string';
  if (Object.keys(rest).length > 0 || (and !== undefined && or !== undefined)) return false;
  if (some !== undefined)
    return Array.isArray(some) && not === undefined && some.every((one) => isPredicate(one, depth + 1));
  return isPredicate(not, depth + 1);
}

/**
 * Names that every object has. Vega keeps fields and values as keys of plain objects, so one of these would reach what
 * all objects of the page share.
 */
const shared = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

/** A value as data may have it: a text of bounded length, and none that Vega would take for a shared name. */
export function safeText(v: unknown): unknown {
  if (typeof v !== 'string') return v;
  return shared.has(v) ? `\u200b${v}` : v.slice(0, vegaBounds.text);
}

/** How large a number may be, so that sums of all rows are numbers still. */
const LARGEST = 1e16;
/** Fields of a row. */
const FIELDS = 50;

/** A row as it is drawn: plain values, objects of them in few levels. */
export function safeRow(row: unknown, depth = 0): unknown {
  if (typeof row === 'number') return Math.abs(row) <= LARGEST ? row : null;
  if (typeof row === 'string') return safeText(row);
  if (row === null || typeof row !== 'object') return row ?? null;
  if (depth > 2 || Array.isArray(row)) return null;
  const entries = Object.entries(row).filter(([k]) => !shared.has(k));
  return Object.fromEntries(entries.slice(0, FIELDS).map(([k, v]) => [k, safeRow(v, depth + 1)]));
}

const refuse = (says: string): never => {
  throw new RangeError(says);
};

/** Copies a specification; @throws RangeError with what is wrong, for its author */
function copier() {
  const left = new Set<string>();
  const count = { values: 0, layers: 0, transforms: 0, calculated: 0, marks: 0, fold: 1 };
  const bounded = (what: keyof typeof count, most: number, n = 1): void => {
    count[what] += n;
    if (count[what] > most) refuse(`A chart has at most ${most} ${what}.`);
  };

  const plain = (v: unknown, depth: number): unknown => {
    bounded('values', vegaBounds.values);
    if (depth > vegaBounds.depth) refuse(`A chart is at most ${vegaBounds.depth} levels deep.`);
    if (typeof v === 'number' && !(Math.abs(v) <= LARGEST)) refuse('A number in a chart is below 1e16.');
    if (typeof v === 'string') {
      // What CSS reads as an address, also where it is written with escapes.
      if (/\\|url\s*\(/i.test(v)) refuse('A text in a chart has no "\\" and no "url(".');
      if (v.match(/\w+/g)?.some((word) => shared.has(word)))
        refuse('A name in a chart is one of all objects.');
      return v.slice(0, vegaBounds.text);
    }
    if (v === null || typeof v !== 'object') return v;
    if (Array.isArray(v)) {
      if (v.length > vegaBounds.list) refuse(`A list in a chart has at most ${vegaBounds.list} elements.`);
      return v.map((one) => plain(one, depth + 1));
    }
    return known(v as Json, depth);
  };
  const known = (v: Json, depth: number): Record<string, unknown> => {
    const entries: [string, unknown][] = [];
    for (const [key, value] of Object.entries(v)) {
      if (never.has(key) || (shared.has(key) && key !== '__proto__'))
        refuse(`"${key}" is not for charts of documents.`);
      const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
      if (leftOut.has(key)) {
        if (key !== '$schema') left.add(key);
      } else if (rule && !rule(value)) refuse(`This "${key}" is not for charts of documents.`);
      else if (isSize.test(key) && Math.abs(Number(value)) > vegaBounds.pixels)
        refuse(`"${key}" of a chart is at most ${vegaBounds.pixels} pixels.`);
      else entries.push([key, plain(value, depth + 1)]);
    }
    return Object.fromEntries(entries);
  };

  const dataOf = (v: unknown): unknown => {
    if (v === null) return null;
    const { values, ...rest } = isObject(v) ? v : {};
    for (const key of Object.keys(rest)) left.add(key);
    if (!Array.isArray(values)) return undefined;
    return {
      values: values.map((row) => {
        bounded('values', vegaBounds.values, isObject(row) ? Object.keys(row).length + 1 : 1);
        return safeRow(row);
      }),
    };
  };
  const markOf = (v: unknown): unknown => {
    const type = isObject(v) ? v['type'] : v;
    if (typeof type !== 'string' || !Object.hasOwn(marks, type))
      refuse(`"${String(type).slice(0, 40)}" is no mark here; "bar" is.`);
    count.marks += marks[type as string]!;
    return plain(v, 1);
  };
  const transformOf = (v: unknown): unknown => {
    const name = isObject(v) ? Object.keys(transforms).find((t) => Object.hasOwn(v, t)) : undefined;
    if (name === undefined || !Object.keys(v as Json).every((key) => transforms[name]!.includes(key)))
      refuse(`A transform of a chart is one of ${Object.keys(transforms).join(', ')}.`);
    bounded('transforms', vegaBounds.transforms);
    if (name === 'calculate') bounded('calculated', vegaBounds.calculated);
    const { fold } = v as Json;
    if (Array.isArray(fold)) count.fold *= Math.max(1, fold.length);
    return plain(v, 2);
  };
  const encodingOf = (v: unknown): unknown => {
    if (!isObject(v)) return refuse('"encoding" is an object of channels.');
    const of: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(v))
      if (channels.has(key)) Object.assign(of, known({ [key]: value }, 1));
      else left.add(key);
    return of;
  };
  const listOf = (v: unknown, what: string, of: (one: unknown) => unknown): unknown =>
    Array.isArray(v) ? v.slice(0, vegaBounds.list).map(of) : refuse(`"${what}" is a list.`);

  const parts: Record<string, (v: unknown, depth: number) => unknown> = {
    data: dataOf,
    mark: markOf,
    encoding: encodingOf,
    transform: (v) => listOf(v, 'transform', transformOf),
    layer: (v, depth) =>
      listOf(v, 'layer', (one) => {
        bounded('layers', vegaBounds.layers);
        if (depth > 1) refuse('Layers of a chart are at most two levels deep.');
        return view(one, depth + 1);
      }),
    ...{ title: plain, description: plain, width: plain, height: plain, resolve: plain },
  };
  const view = (v: unknown, depth: number): Record<string, unknown> => {
    if (!isObject(v)) return refuse('A layer is an object with a mark.');
    const entries: [string, unknown][] = [];
    for (const [key, value] of Object.entries(v)) {
      const read = Object.hasOwn(parts, key) ? parts[key] : undefined;
      const kept = read?.(value, depth);
      if (kept !== undefined) entries.push([key, kept]);
      else if (!read && key !== '$schema') left.add(key);
    }
    const spec = Object.fromEntries(entries);
    if (Object.hasOwn(spec, 'mark') === Object.hasOwn(spec, 'layer'))
      refuse('A chart has a mark, or layers.');
    return spec;
  };
  return { view, left, count };
}

/** A specification with nothing in it that leads out of the page or has no bound; the same again where it is one already. */
export function safeSpec(vega: unknown): SafeSpec {
  const { view, left, count } = copier();
  try {
    const spec = view(vega, 0);
    const rows = Math.floor(vegaBounds.marks / (Math.max(1, count.marks) * count.fold));
    return { spec, left: [...left], rows: Math.min(vegaBounds.rows, rows) };
  } catch (e) {
    if (e instanceof RangeError) return { refused: e.message };
    throw e;
  }
}

const day = /^\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?$/;

/** A type of Vega-Lite for a field, by the first value it has. */
function typeOf(field: string, rows: readonly unknown[]): string | undefined {
  for (const row of rows) {
    const v = isObject(row) && Object.hasOwn(row, field) ? row[field] : undefined;
    if (typeof v === 'number') return 'quantitative';
    if (typeof v === 'string') return day.test(v) ? 'temporal' : 'nominal';
  }
  return undefined;
}

/**
 * The specification with a type for each channel that says none: Vega-Lite would take every x and y for a number. What
 * gets one keeps the order of the rows, as in a plain chart.
 * @param safe what `safeSpec` gave
 */
export function withTypes(safe: Json, rows: readonly unknown[]): Record<string, unknown> {
  const typed = (def: unknown): unknown => {
    if (!isObject(def) || typeof def['field'] !== 'string') return def;
    if (['type', 'bin', 'timeUnit', 'aggregate'].some((key) => Object.hasOwn(def, key))) return def;
    const type = typeOf(def['field'], rows);
    if (type === undefined) return def;
    return type === 'nominal' ? { sort: null, ...def, type } : { ...def, type };
  };
  const { encoding, layer } = safe;
  return {
    ...safe,
    ...(isObject(encoding)
      ? { encoding: Object.fromEntries(Object.entries(encoding).map(([key, def]) => [key, typed(def)])) }
      : {}),
    ...(Array.isArray(layer) ? { layer: layer.map((one) => withTypes(one as Json, rows)) } : {}),
  };
}
