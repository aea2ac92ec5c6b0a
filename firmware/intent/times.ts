// Times of day, in minutes since midnight. Pure.
import { halfWords, underWay } from './calendar-words.ts';
import { soonKind } from './durations.ts';
import { rangeKind } from './numbers.ts';
import { type Kind, kindOfForms, kindOfPhrases, type Local, type Reading, type Sentence } from './reading.ts';

const LAST = 24 * 60 - 1;
const clock = (h: number, m: number): number => (((h * 60 + m) % 1440) + 1440) % 1440;

/** "7:30", "7.30", "19:05"; "24:00" is midnight. */
const written: Kind = {
  name: 'written_time',
  parts: {},
  spoken: { en: undefined, ru: undefined },
  starts: (token) => /^\d.*\d$/.test(token),
  read({ tokens }: Sentence, at): Reading[] {
    const [, h, m] = /^(\d{1,2})[:.](\d{2})$/.exec(tokens[at]!) ?? [];
    const hour = Number(h);
    const isTime = h !== undefined && (hour < 24 || (hour === 24 && m === '00')) && Number(m) < 60;
    return isTime ? [{ next: at + 1, value: clock(hour, Number(m)) }] : [];
  },
};

const twelve = rangeKind('hour_of_12', 1, 12);
const shared = {
  half_day_hour: twelve,
  tens: rangeKind('minutes', 10, 59),
  ones: rangeKind('ones', 1, 9),
  to: rangeKind('minutes_to', 1, 29),
  under_way: kindOfPhrases('under_way', underWay),
  half_word: kindOfPhrases('half_word', halfWords),
  written,
};
/** A time as the clock shows it. Without a word about the half of the day it is of 24 hours: "seven" is 07:00. */
const clockKind = (name: string, hour: Kind): Kind =>
  kindOfForms(
    name,
    { hour, ...shared },
    {
      written: [['{t:written}', ({ t }) => t]],
      en: [
        ["{h:hour} [o'clock]", ({ h }) => clock(h!, 0)],
        ['{h:hour} {m:tens}', ({ h, m }) => clock(h!, m!)],
        ['{h:hour} (oh|o|zero) {m:ones}', ({ h, m }) => clock(h!, m!)],
        ['half past {h:half_day_hour}', ({ h }) => clock(h!, 30)],
        ['[a] quarter past {h:half_day_hour}', ({ h }) => clock(h!, 15)],
        ['[a] quarter to {h:half_day_hour}', ({ h }) => clock(h!, -15)],
        ['{m:to} [(minute|minutes)] past {h:half_day_hour}', ({ h, m }) => clock(h!, m!)],
        ['{m:to} [(minute|minutes)] to {h:half_day_hour}', ({ h, m }) => clock(h!, -m!)],
      ],
      ru: [
        ['{h:hour} [(час|часа|часов|часам)]', ({ h }) => clock(h!, 0)],
        ['{h:hour} [(час|часа|часов)] {m:tens} [(минута|минуты|минут)]', ({ h, m }) => clock(h!, m!)],
        ['{h:hour} [(час|часа|часов)] ноль {m:ones} [(минута|минуты|минут)]', ({ h, m }) => clock(h!, m!)],
        ['{h:hour} (час|часа|часов) {m:ones} (минута|минуты|минут)', ({ h, m }) => clock(h!, m!)],
        ['(половина|половине|половину) {h:under_way}', ({ h }) => clock(h! - 1, 30)],
        ['{t:half_word}', ({ t }) => t],
        ['(четверть|четверти) {h:under_way}', ({ h }) => clock(h! - 1, 15)],
        ['{m:to} (минута|минуты|минут|минуту) {h:under_way}', ({ h, m }) => clock(h! - 1, m!)],
        ['{m:to} {h:under_way}', ({ h, m }) => clock(h! - 1, m!)],
        ['без {m:to} [(минуты|минут)] {h:half_day_hour}', ({ h, m }) => clock(h!, -m!)],
        ['без четверти {h:half_day_hour}', ({ h }) => clock(h!, -15)],
        ['без {m:to} [(минуты|минут)] час', ({ m }) => clock(1, -m!)],
        ['без четверти час', () => clock(1, -15)],
      ],
    },
    [0, LAST],
  );

const shown = clockKind('clock', rangeKind('hour', 0, 24));
/** What a word about the half of the day follows; "19:00" may be written before it. */
const half = clockKind('clock_of_12', twelve);

/** Of the first half of the day; "12:30 am" is half past midnight. */
const before = (t: number): number | undefined => (t >= 780 ? undefined : t % 720);
/** Of the second half; what is written of 24 hours stays. */
const after = (t: number): number => (t < 720 ? t + 720 : t);
/** Of the night: "eleven at night" is 23:00, "two at night" 02:00, "twelve" midnight. */
const night = (t: number): number => (t >= 780 ? t : t >= 720 ? t - 720 : t >= 6 * 60 ? t + 720 : t);
/** Of the Russian day, which begins before noon: "одиннадцать дня" is 11:00, "двенадцать дня" 12:00, "два дня" 14:00. */
const daily = (t: number): number => (t < 9 * 60 ? t + 720 : t);

const later = (seconds: number, { minute }: Local): number => clock(0, minute + Math.round(seconds / 60));

/** "quarter past seven", "7:30 pm", "половина восьмого", "в семь утра", "через полчаса". Value: minutes since midnight. */
export const timeKind: Kind = kindOfForms(
  'time',
  { clock: shown, half, soon: soonKind },
  {
    en: [
      ['[(at|by)] {t:clock}', ({ t }) => t],
      ['[(at|by)] {t:half} (am|a m|in the morning)', ({ t }) => before(t!)],
      ['[(at|by)] {t:half} (pm|p m|in the afternoon|in the evening)', ({ t }) => after(t!)],
      ['[(at|by)] {t:half} at night', ({ t }) => night(t!)],
      ['[(at|by)] (noon|midday)', () => 720],
      ['[(at|by)] midnight', () => 0],
      ['in {d:soon}', ({ d }, now) => later(d!, now)],
    ],
    ru: [
      ['[(в|во|к|на)] {t:clock}', ({ t }) => t],
      ['[(в|во|к|на)] {t:half} утра', ({ t }) => before(t!)],
      ['[(в|во|к|на)] {t:half} дня', ({ t }) => daily(t!)],
      ['[(в|во|к|на)] {t:half} вечера', ({ t }) => after(t!)],
      ['[(в|во|к|на)] {t:half} ночи', ({ t }) => night(t!)],
      ['[(в|во|к|на)] час дня', () => 13 * 60],
      ['[(в|во|к|на)] час ночи', () => 60],
      ['[(в|к|на)] (полдень|полудню)', () => 720],
      ['[(в|к|на)] (полночь|полуночи)', () => 0],
      ['через {d:soon}', ({ d }, now) => later(d!, now)],
    ],
  },
  [0, LAST],
);

/** `HH:MM` of minutes since midnight. */
export const timeText = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((n) => String(n).padStart(2, '0')).join(':');
