// Geometry of chart.line: points, round ticks, an SVG path. Pure.
import { evaluate, type Scope } from './binding.ts';
import type { Series } from './schema.ts';

export interface Line {
  /** As the document has it; a text in several languages is its reader's to choose. */
  label: unknown;
  /** In the order given; `x` in milliseconds since 1970 when `time`, else as given. */
  points: { x: number; y: number }[];
}
export interface Chart {
  lines: Line[];
  time: boolean;
  x: [number, number];
  y: [number, number];
  ticks: number[];
}

/** Points a line keeps; more are thinned, since a phone has no more pixels. */
const MAX_POINTS = 600;

function toNumber(v: unknown): number {
  if (typeof v === 'number') return v;
  return typeof v === 'string' && v.trim() !== '' ? Number(v) : Number.NaN;
}

function column(series: Series, axis: 'x' | 'y', rows: unknown, scope: Scope): unknown[] | undefined {
  const text = series[axis];
  if (text === undefined) return undefined;
  if (Array.isArray(rows) && !text.includes('{{'))
    return rows.map((r) =>
      r !== null && typeof r === 'object' && Object.hasOwn(r, text) ? r[text] : undefined,
    );
  const value = evaluate(text, scope);
  return Array.isArray(value) ? value : undefined;
}

/**
 * Reads the series of a chart out of the scope. Points whose `y` is no finite number are left out; without
 * `x` points count 0, 1, 2. ISO dates and Unix times (s or ms) on `x` make it a time axis.
 */
export function readChart(series: readonly Series[], scope: Scope): Chart {
  let time = false;
  const lines = series.map((s): Line => {
    const rows = s.data === undefined ? undefined : evaluate(s.data, scope);
    const ys = column(s, 'y', rows, scope) ?? (Array.isArray(rows) ? rows : []);
    const xs = column(s, 'x', rows, scope);
    const points = ys.flatMap((value, i) => {
      const y = toNumber(value);
      const given = xs ? xs[i] : i;
      let x = toNumber(given);
      if (!Number.isFinite(x) && typeof given === 'string') x = Date.parse(given);
      if (typeof given === 'string' && Number.isNaN(Number(given)) && Number.isFinite(x)) time = true;
      else if (xs && x > 1e9 && x < 1e11) {
        time = true;
        x *= 1000;
      } else if (xs && x > 1e12 && x < 1e14) time = true;
      return Number.isFinite(x) && Number.isFinite(y) ? [{ x, y }] : [];
    });
    const every = Math.ceil(points.length / MAX_POINTS);
    const kept = every > 1 ? points.filter((_, i) => i % every === 0 || i === points.length - 1) : points;
    return { label: evaluate(s.label ?? '', scope), points: kept };
  });
  const all = lines.flatMap((l) => l.points);
  const ticks = niceTicks(Math.min(0, ...all.map((p) => p.y)), Math.max(...all.map((p) => p.y)));
  return {
    lines,
    time,
    x: all.length ? [Math.min(...all.map((p) => p.x)), Math.max(...all.map((p) => p.x))] : [0, 1],
    y: [ticks[0]!, ticks.at(-1)!],
    ticks,
  };
}

/** Three to six round numbers that enclose `low..high` (Heckbert, "Nice Numbers for Graph Labels", 1990). */
export function niceTicks(low: number, high: number): number[] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const least = 1e-9 * Math.max(1, Math.abs(low), Math.abs(high));
  // Values that hardly differ get a scale of their own size instead of one full of noise.
  const span = high - low > least ? high - low : Math.max(Math.abs(high), 1);
  const raw = span / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 2.5, 5, 10].find((m) => m * power >= raw) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil((low + span) / step - 1e-9));
  return Array.from({ length: Math.min(12, last - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
}

/** The SVG path of a line in a box of `w` x `h` with its origin at the top left. */
export function linePath(line: Line, chart: Pick<Chart, 'x' | 'y'>, w: number, h: number): string {
  const dx = chart.x[1] - chart.x[0] || 1;
  const dy = chart.y[1] - chart.y[0] || 1;
  return line.points
    .map(({ x, y }, i) => {
      const px = ((x - chart.x[0]) / dx) * w;
      const py = h - ((y - chart.y[0]) / dy) * h;
      return `${i ? 'L' : 'M'}${px.toFixed(1)} ${py.toFixed(1)}`;
    })
    .join('');
}
