// Reading a chart: its values as a table, and a point at a time, under a finger or the pointer and by the keys of a slider.
import { html } from 'htm/preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { translator } from '../firmware/text/i18n.ts';
import { spaChartReadTexts } from '../firmware/text/spa-chart-read.ts';
import type { Chart } from '../firmware/ui/chart.ts';
import { nearest, type Reading, readings } from '../firmware/ui/chart-read.ts';
import { app } from './store.ts';
import { shown } from './text.ts';

export { sheet } from './chart-read.css';

const t = (key: keyof (typeof spaChartReadTexts)['en']) => translator(spaChartReadTexts, app().language)(key);
const W = 600;
const H = 160;

interface Read {
  chart: Chart;
  /** What stands below a place, in words. */
  at(chart: Chart, x: number): string;
}

/** What each line says there. */
const valuesOf = (chart: Chart, r: Reading) =>
  chart.lines.flatMap((l, i) => (r.ys[i] === undefined ? [] : [{ i, label: shown(l.label), y: r.ys[i] }]));

/** Lies over the chart. @param o.from where the pointer was that brought it, in pixels of the page */
function Reader({ chart, at: words, kind, from }: Read & { kind: 'line' | 'bar'; from?: number }) {
  const all = useMemo(() => readings(chart, kind), [chart, kind]);
  const [place, setPlace] = useState<number | null>(null);
  const [plot, slider] = [useRef<HTMLDivElement>(null), useRef<HTMLInputElement>(null)];
  const under = (x: number) => {
    const box = plot.current!.getBoundingClientRect();
    setPlace(nearest(all, (x - box.left) / box.width));
  };
  useLayoutEffect(() => {
    if (from !== undefined) under(from);
  }, []);
  const last = all.length - 1;
  const at = place === null ? null : Math.min(place, last);
  const r = at === null ? undefined : all[at];
  const values = r ? valuesOf(chart, r) : [];
  const time = r && words(chart, r.x);
  const away = (e: PointerEvent) => {
    // What a finger has read stays until something else is touched.
    if (e.pointerType === 'mouse' && document.activeElement !== slider.current) setPlace(null);
  };
  // A pointer that was gone before the browser saw it over this leaves nothing, as it never came.
  useLayoutEffect(() => {
    if (place === null) return;
    const moved = (e: PointerEvent) => {
      if (!plot.current?.contains(e.target as Element)) away(e);
    };
    addEventListener('pointermove', moved);
    return () => removeEventListener('pointermove', moved);
  }, [place === null]);
  const down = (e: PointerEvent) => {
    slider.current!.focus({ preventScroll: true });
    under(e.clientX);
  };
  const share = (y: number) => H - ((y - chart.y[0]) / (chart.y[1] - chart.y[0] || 1)) * H;
  const x = r && r.at * W;
  return html`<div class="plot" ref=${plot} onPointerDown=${down} onPointerMove=${(e: PointerEvent) => under(e.clientX)} onPointerLeave=${away}>
    <input type="range" class="read" ref=${slider} aria-label=${t('chart_read')} min="0" max=${last} step="1" value=${at ?? last}
      aria-valuetext=${r && `${time}: ${values.map((v) => `${v.label} ${shown(v.y)}`.trim()).join(', ')}`}
      onFocus=${() => setPlace((p) => p ?? last)} onBlur=${() => setPlace(null)}
      onInput=${(e: Event) => setPlace(Number((e.target as HTMLInputElement).value))} />
    ${
      r &&
      html`<svg viewBox=${`0 0 ${W} ${H}`} preserveAspectRatio="none" aria-hidden="true">
        <line class="mark" x1=${x} x2=${x} y1="0" y2=${H} />
        ${kind === 'line' && values.map((v) => html`<path class=${`dot l${v.i % 4}`} d=${`M${x} ${share(v.y)}h0`} />`)}
      </svg>
      <div class="tip" aria-hidden="true" style=${{ left: `${r.at * 100}%`, transform: `translateX(${r.at < 0.5 ? '0.75rem' : 'calc(-100% - 0.75rem)'})` }}>
        <strong>${time}</strong>
        <ul>${values.map((v) => html`<li class=${`l${v.i % 4}`}>${v.label} ${shown(v.y)}</li>`)}</ul></div>`
    }
  </div>`;
}

function ValueTable({ chart, at, name }: Read & { name: string }) {
  const { lines } = chart;
  const xs = [...new Set(lines.flatMap((l) => l.points.map((p) => p.x)))].sort((a, b) => b - a).slice(0, 100);
  const byX = lines.map((l) => new Map(l.points.map((p) => [p.x, p.y])));
  return html`<div class="v-table" tabindex="0" role="region" aria-label=${name}><table>
    <thead><tr><th scope="col">${chart.time ? t('chart_time') : 'x'}</th>${lines.map((l) => html`<th scope="col">${shown(l.label)}</th>`)}</tr></thead>
    <tbody>${xs.map((x) => html`<tr><td class="n">${at(chart, x)}</td>${byX.map((m) => html`<td class="n">${shown(m.get(x))}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

export const reading = { Reader, ValueTable };
