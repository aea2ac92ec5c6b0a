// The plain chart that a simple specification of Vega-Lite is. Pure.
import type { Node, Path, Value } from '../tree.ts';
import { isObject, type Json, own } from './page.ts';

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
