// Durations: how long, in seconds. Pure.
import { numberKind, rangeKind } from './numbers.ts';
import { type Form, type Kind, kindOfForms, kindOfPhrases, type Phrase } from './reading.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The longest duration there is, seconds. */
export const MAX_DURATION = 1000 * DAY;

/** Units in all their forms; those behind the bar are written and not spoken. */
const units: readonly (readonly [number, string, string])[] = [
  [1, 'second seconds | sec secs s', 'секунда секунды секунд секунду секунде секундам секундами | сек с'],
  [
    MINUTE,
    'minute minutes | min mins m',
    'минута минуты минут минуту минуте минутам минутами минутку | мин м',
  ],
  [HOUR, 'hour hours | hr hrs h', 'час часа часов часу часам часами | ч'],
  [DAY, 'day days | d', 'день дня дней дню дням днями сутки суток'],
  [7 * DAY, 'week weeks', 'неделя недели недель неделю неделе неделям неделями'],
];
/** What stands for one of a unit without a number before it. */
const single: readonly (readonly [number, string])[] = [
  [1, 'секунда секунду секунды секунде'],
  [MINUTE, 'минута минуту минуты минуте минутку'],
  [HOUR, 'час часа часу'],
  [DAY, 'день дня сутки суток'],
  [7 * DAY, 'неделя неделю недели'],
];

const phrases = (value: number, language: 'en' | 'ru', said: string): Phrase[] => {
  const [spoken = '', written = ''] = said.split(' | ');
  const of = (text: string, more: Partial<Phrase>) =>
    text.split(' ').flatMap((w): Phrase[] => (w ? [{ said: w, value, ...more }] : []));
  return [...of(spoken, { language }), ...of(written, {})];
};

const unit = kindOfPhrases(
  'unit',
  units.flatMap(([value, en, ru]) => [...phrases(value, 'en', en), ...phrases(value, 'ru', ru)]),
);
const one = kindOfPhrases(
  'one_unit',
  single.flatMap(([value, ru]) => phrases(value, 'ru', ru)),
);

/** A number of one unit. */
const part = kindOfForms(
  'duration_part',
  { number: numberKind, count: rangeKind('count', 1, 99), unit, one },
  {
    written: [['{n:number} {u:unit}', ({ n, u }) => n! * u!]],
    en: [
      ['{n:count} {u:unit}', ({ n, u }) => n! * u!],
      ['(a|an|one) {u:unit}', ({ u }) => u!],
      ['[(a|an|one)] {u:unit} and a half', ({ u }) => 1.5 * u!],
      ['{n:count} {u:unit} and a half', ({ n, u }) => (n! + 0.5) * u!],
      ['{n:count} and a half {u:unit}', ({ n, u }) => (n! + 0.5) * u!],
      ['[a] half [(a|an)] {u:unit}', ({ u }) => u! / 2],
      ['[a] quarter of an {u:unit}', ({ u }) => u! / 4],
      ['three quarters of an {u:unit}', ({ u }) => (3 * u!) / 4],
      ['[a] couple [of] {u:unit}', ({ u }) => 2 * u!],
    ],
    ru: [
      ['{n:count} {u:unit}', ({ n, u }) => n! * u!],
      ['{u:one}', ({ u }) => u!],
      ['{u:one} с половиной', ({ u }) => 1.5 * u!],
      ['{n:count} с половиной {u:unit}', ({ n, u }) => (n! + 0.5) * u!],
      ['(полтора|полторы|полутора) {u:unit}', ({ u }) => 1.5 * u!],
      ['(полчаса|получаса|полчасика)', () => HOUR / 2],
      ['(полминуты|полминутки)', () => MINUTE / 2],
      ['(полдня)', () => DAY / 2],
      ['(полсуток)', () => DAY / 2],
      ['(половину|половина) {u:one}', ({ u }) => u! / 2],
      ['(четверть|четверти) {u:one}', ({ u }) => u! / 4],
      ['три четверти {u:one}', ({ u }) => (3 * u!) / 4],
      ['(пару|пара|пары) {u:unit}', ({ u }) => 2 * u!],
    ],
  },
  [0, MAX_DURATION],
);

const inRow =
  (...names: string[]) =>
  (v: Record<string, number>): number | undefined =>
    names.every((name, i) => i === 0 || v[name]! < v[names[i - 1]!]!)
      ? names.reduce((sum, name) => sum + v[name]!, 0)
      : undefined;
/** Rows that are spoken go from the larger to the smaller unit; read is any such row. */
const hours = kindOfForms(
  'hours',
  { n: rangeKind('hours_of_day', 1, 23) },
  {
    en: [['({n:n}|an) (hour|hours)', ({ n = 1 }) => n * HOUR]],
    ru: [['{n:n} (час|часа|часов)', ({ n }) => n! * HOUR]],
  },
);
const minutes = kindOfForms(
  'minutes_of_hour',
  { n: rangeKind('minutes_below_60', 1, 59) },
  {
    en: [['{n:n} (minute|minutes)', ({ n }) => n! * MINUTE]],
    ru: [['{n:n} (минута|минуты|минуту|минут)', ({ n }) => n! * MINUTE]],
  },
);
const rows = (and: string): Form[] => [
  ['{a:part}', ({ a }) => a],
  [`{a:hours} [${and}] {b:minutes}`, ({ a, b }) => a! + b!],
];

/** "half an hour", "1 h 30 min", "полтора часа": parts from the largest to the smallest. Value: seconds, of 0.001 s. */
export const durationKind: Kind = kindOfForms(
  'duration',
  { part, hours, minutes },
  {
    written: [
      ['{a:part} [(and|и)] {b:part}', inRow('a', 'b')],
      ['{a:part} [(and|и)] {b:part} [(and|и)] {c:part}', inRow('a', 'b', 'c')],
    ],
    en: rows('and'),
    ru: rows('и'),
  },
  [0, MAX_DURATION],
);

const soonRows = (and: string, more: Form[]): Form[] => [
  ['{a:hours}', ({ a }) => a],
  ['{b:minutes}', ({ b }) => b],
  [`{a:hours} [${and}] {b:minutes}`, ({ a, b }) => a! + b!],
  ...more,
];
/** A duration of less than a day. */
export const soonKind: Kind = kindOfForms(
  'soon',
  { duration: durationKind, hours, minutes },
  {
    written: [['{d:duration}', ({ d }) => d]],
    en: soonRows('and', [
      ['half an hour', () => HOUR / 2],
      ['an hour and a half', () => 1.5 * HOUR],
    ]),
    ru: soonRows('и', [
      ['(час|часик)', () => HOUR],
      ['минуту', () => MINUTE],
      ['полчаса', () => HOUR / 2],
      ['полтора часа', () => 1.5 * HOUR],
    ]),
  },
  [0, DAY - 1],
);
