// Vega-Lite specifications of documents: a copy without anything that would be loaded, and a plain chart instead. Pure.
import type { Node, Path, Value } from '../tree.ts';
import { isObject, type Json, own } from './page.ts';

/** Values and depth of one specification. */
const MAX_VALUES = 5000;
const MAX_DEPTH = 24;

/** What names an address: data, images, links. */
const loads = ['url', 'href', 'usermeta', '$schema', 'loader', '__proto__'];

/**
 * A specification with nothing in it that leads out of the page.
 * @returns null where it is too large; `left` are the keys that were left out
 */
export function safeSpec(vega: Json): { spec: Record<string, unknown>; left: string[] } | null {
  let count = 0;
  const left = new Set<string>();
  const copy = (v: unknown, depth: number): unknown => {
    if (++count > MAX_VALUES || depth > MAX_DEPTH) throw new RangeError();
    if (Array.isArray(v)) return v.map((one) => copy(one, depth + 1));
    if (v === null || typeof v !== 'object') return typeof v === 'string' ? v.slice(0, 4000) : v;
    const entries: [string, unknown][] = [];
    for (const [key, value] of Object.entries(v))
      if (loads.includes(key)) {
        if (key !== '$schema') left.add(key);
      } else entries.push([key, copy(value, depth + 1)]);
    return Object.fromEntries(entries);
  };
  try {
    return { spec: copy(vega, 0) as Record<string, unknown>, left: [...left] };
  } catch (e) {
    if (e instanceof RangeError) return null;
    throw e;
  }
}

const fieldOf = (channel: unknown): string | undefined => {
  const field = isObject(channel) ? own(channel, 'field') : undefined;
  return typeof field === 'string' && /^[\w-]{1,64}$/.test(field) ? field : undefined;
};

/** The line or bar chart that a simple specification is, for who has no Vega-Lite. */
export function plainChart(vega: Json, data: Path | undefined, title?: Value): Node | undefined {
  const mark = own(vega, 'mark');
  const kind = String(isObject(mark) ? own(mark, 'type') : mark);
  const encoding = own(vega, 'encoding');
  if (!data || !isObject(encoding) || !['line', 'area', 'point', 'bar'].includes(kind)) return undefined;
  const [x, y] = [fieldOf(own(encoding, 'x')), fieldOf(own(encoding, 'y'))];
  if (!y) return undefined;
  const of = (field: string): Path => ({ path: [...data.path, null, field] });
  return {
    is: 'chart',
    kind: kind === 'bar' ? 'bar' : 'line',
    ...(title === undefined ? {} : { title }),
    series: [{ label: y, ...(x ? { x: of(x) } : {}), y: of(y) }],
  };
}
