// Numbers and dates of charts in the reader's language.

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
