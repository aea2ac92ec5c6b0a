// Dates, in days since 1970-01-01. Pure: the caller says what day it is, and no time zone is known here.
import { IngleError } from '../protocol/errors.ts';
import { dayPhrases, months, phrasesOf, weekdays } from './calendar-words.ts';
import { rangeKind } from './numbers.ts';
import {
  type Kind,
  kindOfForms,
  kindOfPhrases,
  type Local,
  longestFirst,
  type Reading,
  readings,
  type Sentence,
} from './reading.ts';

const MS = 86_400_000;
/** Years that are read. */
const FIRST_YEAR = 1900;
const LAST_YEAR = 2999;

/** The day of a date; undefined where the calendar has none, as on 30 February. */
export function dayOf(y: number, m: number, d: number): number | undefined {
  if (y < FIRST_YEAR || y > LAST_YEAR || m < 1 || m > 12 || d < 1) return undefined;
  const at = new Date(Date.UTC(y, m - 1, d));
  return at.getUTCMonth() === m - 1 && at.getUTCDate() === d ? at.getTime() / MS : undefined;
}

const partsOf = (day: number): { y: number; m: number; d: number } => {
  const at = new Date(day * MS);
  return { y: at.getUTCFullYear(), m: at.getUTCMonth() + 1, d: at.getUTCDate() };
};

/** `YYYY-MM-DD` of a day. */
export const dateText = (day: number): string => new Date(day * MS).toISOString().slice(0, 10);

/** What a caller tells of the time: local, as the clock on the wall has it; seconds and a zone are passed over. */
export type Now = string;

/** @throws IngleError `invalid_request` when it is not like 2026-11-25T20:04 */
export function localOf(now: Now): Local {
  const [, y, m, d, h, min] = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d)/.exec(now) ?? [];
  const day = dayOf(Number(y), Number(m), Number(d));
  if (day === undefined)
    throw new IngleError('invalid_request', 'The local time must be like 2026-11-25T20:04.');
  return { day, minute: Number(h) * 60 + Number(min) };
}

/** The day of the week, 1 is Monday. */
const weekdayOf = (day: number): number => ((day + 3) % 7) + 1;
/** The next such day after today. */
const coming = (w: number, { day }: Local): number => day + ((w - weekdayOf(day) + 6) % 7) + 1;
/** That day of a week from this one on, which begins on a Monday. */
const inWeek = (w: number, { day }: Local, weeks: number): number => day - weekdayOf(day) + w + 7 * weeks;

/** The next such date from today on; 29 February waits for its year. */
function nextDate(m: number, d: number, { day }: Local): number | undefined {
  const { y } = partsOf(day);
  for (let year = y; year <= y + 8; year++) {
    const there = dayOf(year, m, d);
    if (there !== undefined && there >= day) return there;
  }
  return undefined;
}

/** The next month from this one on that has such a day, from today on. */
function nextDay(d: number, { day }: Local): number | undefined {
  const { y, m } = partsOf(day);
  for (let i = 0; i < 12; i++) {
    const there = dayOf(y + Math.floor((m - 1 + i) / 12), ((m - 1 + i) % 12) + 1, d);
    if (there !== undefined && there >= day) return there;
  }
  return undefined;
}

/** So many months on, on the last day of a shorter month. */
function monthsOn(n: number, { day }: Local): number | undefined {
  const { y, m, d } = partsOf(day);
  const month = m - 1 + n;
  for (let back = 0; back < 4; back++) {
    const there = dayOf(y + Math.floor(month / 12), (month % 12) + 1, d - back);
    if (there !== undefined) return there;
  }
  return undefined;
}

/** 2026-12-25, 25.12.2026 and 25.12. */
const written: Kind = {
  name: 'written_date',
  parts: {},
  spoken: { en: undefined, ru: undefined },
  starts: (token) => /^\d.*\d$/.test(token),
  read({ tokens, now }: Sentence, at): Reading[] {
    const token = tokens[at]!;
    const iso = /^(\d{4})-(\d\d)-(\d\d)$/.exec(token)?.slice(1).map(Number);
    const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(token)?.slice(1).map(Number);
    const short = /^(\d{1,2})\.(\d{2})$/.exec(token)?.slice(1).map(Number);
    const day = iso
      ? dayOf(iso[0]!, iso[1]!, iso[2]!)
      : dotted
        ? dayOf(dotted[2]!, dotted[1]!, dotted[0]!)
        : short && nextDate(short[1]!, short[0]!, now);
    return day === undefined ? [] : [{ next: at + 1, value: day }];
  },
};

const ordinal = kindOfPhrases('ordinal', dayPhrases);
/** Two thousand and twenty-six, 2026, and "twenty twenty six". */
const plainYear = rangeKind('plain_year', FIRST_YEAR, LAST_YEAR);
const year: Kind = kindOfForms(
  'year',
  {
    century: rangeKind('century', 19, 20),
    rest: rangeKind('year_of_century', 10, 99),
    ordinal,
    plain: plainYear,
  },
  {
    written: [['{y:plain}', ({ y }) => y]],
    en: [['{c:century} {r:rest}', ({ c, r }) => c! * 100 + r!]],
    ru: [['две тысячи {o:ordinal}', ({ o }) => 2000 + o!]],
  },
);
const cardinal = rangeKind('day_number', 1, 31);
const day: Kind = {
  name: 'day',
  parts: {},
  spoken: ordinal.spoken,
  starts: (token) => ordinal.starts(token) || cardinal.starts(token),
  read: (s, at) => longestFirst([...readings(ordinal, s, at), ...readings(cardinal, s, at)]),
};

const on = (v: Record<string, number>, now: Local) =>
  v['y'] === undefined ? nextDate(v['m']!, v['d']!, now) : dayOf(v['y'], v['m']!, v['d']!);

/** "tomorrow", "next friday", "may 5th", "послезавтра", "в пятницу", "через два дня". Value: days since 1970-01-01. */
export const dateKind: Kind = kindOfForms(
  'date',
  {
    day,
    ordinal,
    year,
    month: kindOfPhrases('month', phrasesOf(months)),
    weekday: kindOfPhrases('weekday', phrasesOf(weekdays)),
    count: rangeKind('days', 1, 999),
    written,
  },
  {
    written: [['{t:written}', ({ t }) => t]],
    en: [
      ['today', (_, now) => now.day],
      ['tomorrow', (_, now) => now.day + 1],
      ['yesterday', (_, now) => now.day - 1],
      ['[the] day after tomorrow', (_, now) => now.day + 2],
      ['[the] day before yesterday', (_, now) => now.day - 2],
      ['[on] {w:weekday}', ({ w }, now) => coming(w!, now)],
      ['[on] this {w:weekday}', ({ w }, now) => inWeek(w!, now, 0)],
      ['[on] next {w:weekday}', ({ w }, now) => inWeek(w!, now, 1)],
      ['[on] [the] {d:day} [of] {m:month} [{y:year}]', on],
      ['[on] {m:month} [the] {d:day} [{y:year}]', on],
      ['[on] the {d:ordinal}', ({ d }, now) => nextDay(d!, now)],
      ['in {n:count} (day|days)', ({ n }, now) => now.day + n!],
      ['in a day', (_, now) => now.day + 1],
      ['{n:count} (day|days) from now', ({ n }, now) => now.day + n!],
      ['in {n:count} (week|weeks)', ({ n }, now) => now.day + 7 * n!],
      ['(in a week|next week)', (_, now) => now.day + 7],
      ['in {n:count} (month|months)', ({ n }, now) => monthsOn(n!, now)],
      ['(in a month|next month)', (_, now) => monthsOn(1, now)],
    ],
    ru: [
      ['[на] сегодня', (_, now) => now.day],
      ['[на] завтра', (_, now) => now.day + 1],
      ['вчера', (_, now) => now.day - 1],
      ['[на] послезавтра', (_, now) => now.day + 2],
      ['позавчера', (_, now) => now.day - 2],
      ['[(в|во|на|ко|к)] {w:weekday}', ({ w }, now) => coming(w!, now)],
      ['[(в|во|на)] (этот|эту|это) {w:weekday}', ({ w }, now) => inWeek(w!, now, 0)],
      [
        '[(в|во|на)] (следующий|следующую|следующее|следующая) {w:weekday}',
        ({ w }, now) => inWeek(w!, now, 1),
      ],
      ['[на] {d:day} {m:month} [{y:year} [(год|года|году)]]', on],
      ['[на] {d:day} (число|числа)', ({ d }, now) => nextDay(d!, now)],
      ['через {n:count} (день|дня|дней)', ({ n }, now) => now.day + n!],
      ['через день', (_, now) => now.day + 1],
      ['через {n:count} (неделю|недели|недель)', ({ n }, now) => now.day + 7 * n!],
      ['(через неделю|на следующей неделе)', (_, now) => now.day + 7],
      ['через {n:count} (месяц|месяца|месяцев)', ({ n }, now) => monthsOn(n!, now)],
      ['(через месяц|в следующем месяце)', (_, now) => monthsOn(1, now)],
    ],
  },
  [-30_000, 400_000],
);
