// Curves as SVG, for the figures of a bench that are a course and not a number.

export interface Curve {
  name: string;
  /** x and y, in the order of x. */
  points: [number, number][];
}
export interface Chart {
  title: string;
  x: string;
  y: string;
  curves: Curve[];
}

const WIDTH = 440;
const HEIGHT = 300;
const AREA = { left: 60, top: 40, right: 20, bottom: 70 };
const colours = ['#2563eb', '#d97706', '#059669'];

/** A round number at or above `n`: 1, 2, 2.5 or 5 times a power of ten. */
function round(n: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(n, 1e-9)));
  return power * (([1, 2, 2.5, 5, 10].find((m) => m * power >= n) as number) ?? 10);
}
const short = (n: number) => String(Number(n.toPrecision(3)));

function chart(c: Chart, left: number): string {
  const all = c.curves.flatMap((k) => k.points);
  const most = [0, 1].map((axis) => round(Math.max(...all.map((p) => p[axis]!), 0)));
  const [w, h] = [WIDTH - AREA.left - AREA.right, HEIGHT - AREA.top - AREA.bottom];
  const x = (v: number) => (left + AREA.left + (v / most[0]!) * w).toFixed(1);
  const y = (v: number) => (AREA.top + h - (v / most[1]!) * h).toFixed(1);
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const lines = ticks.map(
    (t) =>
      `<path d="M${x(0)} ${y(t * most[1]!)}H${x(most[0]!)}" stroke="#8884"/>` +
      `<text x="${Number(x(0)) - 6}" y="${Number(y(t * most[1]!)) + 4}" text-anchor="end">${short(t * most[1]!)}</text>` +
      `<text x="${x(t * most[0]!)}" y="${AREA.top + h + 16}" text-anchor="middle">${short(t * most[0]!)}</text>`,
  );
  const curves = c.curves.map((k, i) => {
    const colour = colours[i % colours.length];
    const points = k.points.map(([a, b]) => `${x(a)},${y(b)}`).join(' ');
    const at = left + AREA.left + i * 130;
    return (
      `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      `<path d="M${at} ${HEIGHT - 14}h18" stroke="${colour}" stroke-width="2"/>` +
      `<text x="${at + 24}" y="${HEIGHT - 10}">${k.name}</text>`
    );
  });
  return [
    `<text x="${left + AREA.left}" y="20" font-weight="bold">${c.title}</text>`,
    `<text x="${left + AREA.left}" y="34">${c.y}</text>`,
    `<text x="${left + WIDTH - AREA.right}" y="${AREA.top + h + 32}" text-anchor="end">${c.x}</text>`,
    ...lines,
    ...curves,
  ].join('\n');
}

/** Charts side by side, readable on light and dark pages. */
export function svg(charts: Chart[], says: string): string {
  const width = WIDTH * charts.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-label="${says}" font-family="sans-serif" font-size="12" fill="#777">
${charts.map((c, i) => chart(c, i * WIDTH)).join('\n')}
</svg>
`;
}
