// Geometry of charts: points, round ticks, an SVG path. Pure.
import type { Series, Value } from './tree.ts';
import { evaluate, type Scope, toNumber } from './value.ts';

/** `gap`: between it and the point before nothing is known, so no line leads there. */
export interface Point {
  x: number;
  y: number;
  gap?: true;
}
export interface Line {
  /** As the document has it; a text in several languages is its reader's to choose. */
  label: unknown;
  /** In the order given; `x` in milliseconds since 1970 when `time`, else as given. */
  points: Point[];
}
export interface Chart {
  lines: Line[];
  time: boolean;
  x: [number, number];
  y: [number, number];
  ticks: number[];
  /** Of bars: what stands below each place 0, 1, 2 on the axis, as the document has it. */
  names: unknown[];
}

/** Bars a chart keeps, of all its series. */
const MAX_BARS = 100;
/** Points a line keeps; more are thinned, since a phone has no more pixels. */
const MAX_POINTS = 600;

const listed = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);

/** Bars stand by their order; what their x says is their name. */
function readBars(series: readonly Series[], scope: Scope): Chart {
  let names: unknown[] = [];
  const lines = series.map((s): Line => {
    const ys = listed(evaluate(s.y, scope)).slice(0, MAX_BARS);
    const xs = s.x === undefined ? [] : listed(evaluate(s.x, scope)).slice(0, ys.length);
    if (xs.length > names.length) names = xs;
    const points = ys.flatMap((value, x) => {
      const y = toNumber(value);
      return Number.isFinite(y) ? [{ x, y }] : [];
    });
    return { label: evaluate(s.label, scope), points };
  });
  const all = lines.flatMap((l) => l.points.map((p) => p.y));
  const ticks = niceTicks(Math.min(0, ...all), Math.max(0, ...all));
  const last = Math.max(0, ...lines.flatMap((l) => l.points.map((p) => p.x)));
  return { lines, time: false, x: [0, last], y: [ticks[0]!, ticks.at(-1)!], ticks, names };
}

/**
 * Reads the series of a chart out of the scope. Points whose `y` is no finite number are left out, and the line with
 * them; without `x` points count 0, 1, 2. ISO dates and Unix times (s or ms) on `x` make it a time axis.
 * @param max where the axis ends, unless a point is higher; it then begins at 0 or below
 */
export function readChart(
  series: readonly Series[],
  scope: Scope,
  kind: 'line' | 'bar' = 'line',
  max?: Value,
): Chart {
  if (kind === 'bar') return readBars(series, scope);
  let time = false;
  const lines = series.map((s): Line => {
    const [ys, xs] = [listed(evaluate(s.y, scope)), s.x === undefined ? null : listed(evaluate(s.x, scope))];
    let isGap = false;
    const points = ys.flatMap((value, i): Point[] => {
      const y = toNumber(value);
      const given = xs ? xs[i] : i;
      let x = toNumber(given);
      if (!Number.isFinite(x) && typeof given === 'string') x = Date.parse(given);
      if (typeof given === 'string' && Number.isNaN(Number(given)) && Number.isFinite(x)) time = true;
      else if (xs && x > 1e9 && x < 1e11) {
        time = true;
        x *= 1000;
      } else if (xs && x > 1e12 && x < 1e14) time = true;
      if (!Number.isFinite(x) || !Number.isFinite(y)) {
        isGap = true;
        return [];
      }
      const point: Point = isGap ? { x, y, gap: true } : { x, y };
      isGap = false;
      return [point];
    });
    const every = Math.ceil(points.length / MAX_POINTS);
    const kept =
      every > 1 ? points.filter((p, i) => p.gap || i % every === 0 || i === points.length - 1) : points;
    return { label: evaluate(s.label, scope), points: kept };
  });
  const all = lines.flatMap((l) => l.points);
  const end = toNumber(evaluate(max, scope));
  const highest = Math.max(...all.map((p) => p.y), ...(Number.isFinite(end) ? [end] : []));
  const ticks = niceTicks(Math.min(0, ...all.map((p) => p.y)), highest);
  return {
    lines,
    time,
    x: all.length ? [Math.min(...all.map((p) => p.x)), Math.max(...all.map((p) => p.x))] : [0, 1],
    y: [ticks[0]!, ticks.at(-1)!],
    ticks,
    names: [],
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
    .map(({ x, y, gap }, i) => {
      const px = ((x - chart.x[0]) / dx) * w;
      const py = h - ((y - chart.y[0]) / dy) * h;
      const to = `${px.toFixed(1)} ${py.toFixed(1)}`;
      // A point alone between two gaps is a dot.
      return i && gap ? `M${to}L${to}` : `${i ? 'L' : 'M'}${to}`;
    })
    .join('');
}

/** The SVG path of a series of bars: the `i`th of `n` that share each place of the axis, in the same box. */
export function barPath(
  line: Line,
  chart: Pick<Chart, 'x' | 'y'>,
  at: [i: number, n: number],
  w: number,
  h: number,
): string {
  const dy = chart.y[1] - chart.y[0] || 1;
  const place = w / (chart.x[1] + 1);
  const width = (place * 0.8) / at[1];
  const level = (y: number) => h - ((y - chart.y[0]) / dy) * h;
  return line.points
    .map(({ x, y }) => {
      const left = x * place + place * 0.1 + at[0] * width;
      return `M${left.toFixed(1)} ${level(0).toFixed(1)}V${level(y).toFixed(1)}h${width.toFixed(1)}V${level(0).toFixed(1)}Z`;
    })
    .join('');
}
