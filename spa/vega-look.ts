// How charts in Vega-Lite look: the colours and the font of the page as they are now, numbers and dates in the reader's
// language.
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

type Locale = Record<'timeFormat' | 'utcFormat', (pattern: unknown) => (d: Date) => string>;

/** A definition of d3's formats (https://d3js.org/d3-format#formatLocale) out of what the browser knows. */
export function localeOf(language: string) {
  const parts = new Intl.NumberFormat(language).formatToParts(1234567.5);
  const part = (type: string) => parts.find((p) => p.type === type)?.value ?? '';
  const months = (month: 'long' | 'short') =>
    Array.from({ length: 12 }, (_, i) =>
      new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' }).format(Date.UTC(2024, i, 15)),
    );
  const days = (weekday: 'long' | 'short') =>
    // 7 January 2024 was a Sunday.
    Array.from({ length: 7 }, (_, i) =>
      new Intl.DateTimeFormat(language, { weekday, timeZone: 'UTC' }).format(Date.UTC(2024, 0, 7 + i)),
    );
  return {
    number: { decimal: part('decimal'), thousands: part('group'), grouping: [3], currency: ['', ''] },
    time: {
      ...{ dateTime: '%x, %X', date: '%d.%m.%Y', time: '%H:%M:%S', periods: ['AM', 'PM'] },
      ...{
        days: days('long'),
        shortDays: days('short'),
        months: months('long'),
        shortMonths: months('short'),
      },
    },
  };
}

/** Where a day has 24 hours the steps of a time axis have no "AM". */
export function inHours(locale: Locale, language: string): Locale {
  if (new Intl.DateTimeFormat(language, { hour: 'numeric' }).resolvedOptions().hour12) return locale;
  const own = { hours: '%H:%M', minutes: '%H:%M', day: '%d %b', date: '%d %b', week: '%d %b' };
  const of = (format: Locale['timeFormat']) => (pattern: unknown) =>
    format(typeof pattern === 'string' ? pattern : { ...own, ...(pattern as object | undefined) });
  return { ...locale, timeFormat: of(locale.timeFormat), utcFormat: of(locale.utcFormat) };
}
