// Charts of lines and of bars: an inline SVG with its words for who does not see it, and the same values as a table.
import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { translator } from '../firmware/text/i18n.ts';
import { spaChartTexts } from '../firmware/text/spa-chart.ts';
import { barPath, type Chart, linePath, readChart } from '../firmware/ui/chart.ts';
import { type Drawing, type Of, say } from './drawing.ts';
import { failed } from './entrance.ts';
import { app } from './store.ts';
import { shown } from './text.ts';

const t = (key: keyof (typeof spaChartTexts)['en'], values?: Record<string, string | number>) =>
  translator(spaChartTexts, app().language)(key, values);
const W = 600;
const H = 160;
let ids = 0;

function atText(chart: Chart, x: number): string {
  if (chart.names.length > 0) return shown(chart.names[x]);
  if (!chart.time) return shown(x);
  const long = chart.x[1] - chart.x[0] > 86_400_000;
  return new Intl.DateTimeFormat(app().language, {
    ...(long ? { day: 'numeric', month: 'short' } : {}),
    hour: 'numeric',
    minute: '2-digit',
    ...(chart.x[1] - chart.x[0] < 600_000 ? { second: '2-digit' } : {}),
  }).format(x);
}

export function ChartOf({ n, d }: { n: Of<'chart'>; d: Drawing }) {
  const title = say(n.title, d);
  const [id] = useState(() => `chart-${++ids}`);
  const chart = useMemo(() => {
    const all = readChart(n.series, d.scope, n.kind, n.max);
    return { ...all, lines: all.lines.filter((l) => l.points.length > 0) };
  }, [n, d.scope.state, d.scope.row]);
  const lines = chart.lines.map((l) => ({ ...l, label: shown(l.label) }));
  const [table, setTable] = useState(false);
  // What reads it comes with the first approach.
  const [more, setMore] = useState<(typeof import('./chart-read.ts').reading & { from?: number }) | null>(
    null,
  );
  const load = async (from?: number) => {
    const { sheet, reading } = await import('./chart-read.ts');
    await sheet;
    setMore({ ...reading, from });
  };
  const approach = (e: { clientX?: number }) => more ?? load(e.clientX).catch(() => {});
  if (lines.length === 0)
    return html`<div class="v-chart"><div class="v-empty">${t('chart_empty')}</div></div>`;
  const words = lines
    .map((l) => {
      const ys = l.points.map((p) => p.y);
      return t('chart_desc', {
        name: l.label || t('chart_of', { names: '' }),
        n: ys.length,
        min: shown(Math.min(...ys)),
        max: shown(Math.max(...ys)),
        last: shown(ys.at(-1)),
      });
    })
    .join(' ');
  const names = lines.map((l) => l.label).join(', ');
  const share = (y: number) => H - ((y - chart.y[0]) / (chart.y[1] - chart.y[0] || 1)) * H;
  return html`<figure class=${`v-chart ${n.kind === 'bar' ? 'bars' : ''}`} onFocusIn=${approach}>
    ${
      lines.length > 1 || lines[0]!.label
        ? html`<ul class="legend" aria-hidden="true">${lines.map((l, i) => html`<li class=${`l${i % 4}`}>${l.label} <strong>${shown(l.points.at(-1)!.y)}</strong></li>`)}</ul>`
        : null
    }
    <div class="frame" onPointerOver=${approach}>
      <div class="ys axis" aria-hidden="true">${chart.ticks.map((y) => html`<span>${shown(y)}</span>`)}</div>
      <svg viewBox=${`0 0 ${W} ${H}`} preserveAspectRatio="none" role="img" aria-labelledby=${`${id}-t ${id}-d`}>
        <title id=${`${id}-t`}>${title || t(n.kind === 'bar' ? 'bars_of' : 'chart_of', { names })}</title>
        <desc id=${`${id}-d`}>${words}</desc>
        ${chart.ticks.map((y) => html`<line x1="0" x2=${W} y1=${share(y)} y2=${share(y)} />`)}
        ${lines.map((l, i) => html`<path class=${`l${i % 4}`} d=${n.kind === 'bar' ? barPath(l, chart, [i, lines.length], W, H) : linePath(l, chart, W, H)} />`)}
      </svg>
      <div class="xs axis" aria-hidden="true"><span>${atText(chart, chart.x[0])}</span><span>${atText(chart, chart.x[1])}</span></div>
      ${more && html`<${more.Reader} chart=${chart} kind=${n.kind} from=${more.from} at=${atText} />`}
    </div>
    <details onToggle=${(e: Event & { currentTarget: HTMLDetailsElement }) => {
      setTable(e.currentTarget.open);
      more ?? load().catch(failed);
    }}>
      <summary>${t('chart_table')}</summary>
      ${table && more && html`<${more.ValueTable} chart=${chart} name=${t('chart_table')} at=${atText} />`}
    </details>
  </figure>`;
}
