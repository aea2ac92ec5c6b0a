// Reading a chart at a place. Pure.
import type { Chart } from './chart.ts';

/** What a chart says at one place: `at` is how far along it that is, 0 to 1; a value for each line that has a point there. */
export interface Reading {
  x: number;
  at: number;
  ys: (number | undefined)[];
}

/** The places where a chart has points, from left to right. */
export function readings(chart: Pick<Chart, 'lines' | 'x'>, kind: 'line' | 'bar'): Reading[] {
  const byX = chart.lines.map((l) => new Map(l.points.map((p) => [p.x, p.y])));
  const xs = [...new Set(byX.flatMap((m) => [...m.keys()]))].sort((a, b) => a - b);
  const [first, last] = chart.x;
  const along = (x: number) =>
    kind === 'bar' ? (x + 0.5) / (last + 1) : last > first ? (x - first) / (last - first) : 0;
  return xs.map((x) => ({ x, at: along(x), ys: byX.map((m) => m.get(x)) }));
}

/** Which of these is nearest. @param at 0 to 1 */
export function nearest(all: readonly Pick<Reading, 'at'>[], at: number): number {
  const next = all.findIndex((r) => r.at >= at);
  if (next <= 0) return next < 0 ? all.length - 1 : 0;
  return at - all[next - 1]!.at < all[next]!.at - at ? next - 1 : next;
}
