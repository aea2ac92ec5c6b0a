// How charts in Vega-Lite look: the colours and the font of the page as they are now.
import type { Config } from 'vega-lite';

/** Columns of a legend, by the width it has, CSS pixels. */
const legendColumns = (width: number) => Math.max(1, Math.floor(width / 130));

export function configFor(width: number): Config {
  const css = getComputedStyle(document.documentElement);
  const is = (token: string) => css.getPropertyValue(`--${token}`).trim();
  const [ink, soft, line, accent] = [is('ink'), is('ink-2'), is('line'), is('line-1')];
  const category = [accent, is('line-2'), is('line-3'), is('line-4'), is('ok'), is('warn'), is('edge')];
  const ramp = [is('tint'), accent];
  const words = { labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 } as const;
  return {
    background: 'transparent',
    padding: { left: 0, right: 0, top: 4, bottom: 4 },
    font: getComputedStyle(document.body).fontFamily,
    // What an assistive technology reads is beside the drawing.
    aria: false,
    view: { stroke: null },
    mark: { color: accent },
    line: { strokeWidth: 2 },
    bar: { cornerRadiusEnd: 3 },
    rule: { color: soft },
    text: { color: ink },
    boxplot: { median: { color: is('surface') } },
    axis: {
      ...words,
      ...{ labelColor: soft, titleColor: soft, domainColor: line, tickColor: line, gridColor: line },
    },
    axisXDiscrete: { labelAngle: 0, labelOverlap: 'greedy', labelSeparation: 4 },
    legend: {
      ...words,
      ...{ labelColor: ink, titleColor: soft, orient: 'top', columns: legendColumns(width) },
    },
    title: { color: ink, subtitleColor: soft, fontSize: 14, anchor: 'start' },
    range: { category, ramp, heatmap: ramp, ordinal: ramp, diverging: [is('line-2'), is('sunk'), accent] },
  };
}
