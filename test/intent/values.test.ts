// Numbers, times, dates and durations as they are said in English and Russian.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { localOf } from '../../firmware/intent/dates.ts';
import { type SlotValue, slotTypes, type TypeName } from '../../firmware/intent/kinds.ts';
import { tokensOf } from '../../firmware/intent/normal.ts';
import { spell } from '../../firmware/intent/number-words.ts';
import { readings, sentenceOf } from '../../firmware/intent/reading.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { languages } from '../../firmware/text/i18n.ts';

const test = suite('values in words');
/** A Wednesday evening. */
const now = '2026-11-25T20:04';

/** The value of a text that is one as a whole. */
function valueIn(type: TypeName, text: string, at = now): SlotValue | undefined {
  const tokens = tokensOf(text);
  const whole = readings(slotTypes[type].kind, sentenceOf(tokens, localOf(at)), 0).find(
    (r) => r.next === tokens.length,
  );
  return whole && slotTypes[type].tell(whole.value);
}

type Rows = Record<string, SlotValue | undefined>;
const reads = (type: TypeName, rows: Rows) => {
  const got = Object.fromEntries(Object.keys(rows).map((text) => [text, valueIn(type, text)]));
  assert.equal(got, rows);
};

test('numbers in English', () =>
  reads('number', {
    zero: 0,
    seven: 7,
    twelve: 12,
    'twenty five': 25,
    'Twenty-five': 25,
    'a hundred': 100,
    'one hundred and five': 105,
    'two hundred twenty two': 222,
    'twelve hundred': 1200,
    'a thousand and one': 1001,
    'two thousand and twenty six': 2026,
    'three million two hundred thousand': 3_200_000,
    '2.5 million': 2_500_000,
    '1,000': 1000,
    '1.5': 1.5,
    '-3': -3,
    'minus five': -5,
    'three point one four': 3.14,
    'one and a half': 1.5,
    'five twenty': undefined,
    'twenty eleven': undefined,
    'hundred five': undefined,
    and: undefined,
    a: undefined,
    '1234567890123': undefined,
  }));

test('numbers in Russian, in the cases they are said in', () =>
  reads('number', {
    ноль: 0,
    один: 1,
    одну: 1,
    двух: 2,
    тремя: 3,
    пяти: 5,
    одиннадцать: 11,
    'двадцать пять': 25,
    'двадцати пяти': 25,
    'двадцатью пятью': 25,
    сорока: 40,
    'пятьдесят одна': 51,
    'девяносто девять': 99,
    сто: 100,
    'двухсот сорока': 240,
    'пятьсот пятьдесят пять': 555,
    тысяча: 1000,
    'тысяча двести': 1200,
    'две тысячи двадцать шесть': 2026,
    'пять миллионов': 5_000_000,
    'минус десять': -10,
    '1,5': 1.5,
    полтора: 1.5,
    'два с половиной': 2.5,
    'пять целых три десятых': 5.3,
    'ноль целых двадцать пять сотых': 0.25,
    'пять двадцать': undefined,
    'сто двести': undefined,
    половина: undefined,
  }));

test('every number below a thousand is read as it is spelt', () => {
  for (const language of languages)
    for (let n = 0; n < 1000; n++) assert.is(valueIn('number', spell(n, language)), n, spell(n, language));
});

test('times of day in English', () =>
  reads('time', {
    seven: '07:00',
    "seven o'clock": '07:00',
    'at seven o’clock': '07:00',
    'seven thirty': '07:30',
    'seven oh five': '07:05',
    'half past seven': '07:30',
    'quarter past seven': '07:15',
    'a quarter to eight': '07:45',
    'ten past six': '06:10',
    'five minutes to nine': '08:55',
    'quarter to one in the afternoon': '12:45',
    '7:30': '07:30',
    '7.30': '07:30',
    '7.5': undefined,
    '7:30 pm': '19:30',
    '7pm': '19:00',
    '7 a.m.': '07:00',
    '12 am': '00:00',
    '12:30 p.m.': '12:30',
    'eight in the evening': '20:00',
    'eleven at night': '23:00',
    'two at night': '02:00',
    'nineteen thirty': '19:30',
    noon: '12:00',
    midnight: '00:00',
    'in ten minutes': '20:14',
    'in half an hour': '20:34',
    'in five hours': '01:04',
    '25:00': undefined,
    '19:00 am': undefined,
    'half past': undefined,
    'in two days': undefined,
  }));

test('times of day in Russian', () =>
  reads('time', {
    семь: '07:00',
    'в семь': '07:00',
    'к семи часам': '07:00',
    'семь часов': '07:00',
    'семь тридцать': '07:30',
    'семь часов пять минут': '07:05',
    'семь ноль пять': '07:05',
    'половина восьмого': '07:30',
    'в половине восьмого': '07:30',
    полвосьмого: '07:30',
    'пол-восьмого': '07:30',
    'половина первого': '00:30',
    'половина первого дня': '12:30',
    'четверть восьмого': '07:15',
    'десять минут восьмого': '07:10',
    'без пятнадцати восемь': '07:45',
    'без пятнадцати минут восемь': '07:45',
    'без четверти восемь': '07:45',
    'без пяти час': '00:55',
    'в семь утра': '07:00',
    'семь вечера': '19:00',
    'час дня': '13:00',
    'два часа ночи': '02:00',
    'двенадцать ночи': '00:00',
    'одиннадцать ночи': '23:00',
    'двенадцать дня': '12:00',
    'три часа дня': '15:00',
    '19:05': '19:05',
    'в полдень': '12:00',
    'в полночь': '00:00',
    'через час': '21:04',
    'через полчаса': '20:34',
    'через полтора часа': '21:34',
    'без восьми': undefined,
    'тридцать часов': undefined,
  }));

test('dates in English', () =>
  reads('date', {
    today: '2026-11-25',
    tomorrow: '2026-11-26',
    yesterday: '2026-11-24',
    'the day after tomorrow': '2026-11-27',
    friday: '2026-11-27',
    'on Friday': '2026-11-27',
    wednesday: '2026-12-02',
    'this friday': '2026-11-27',
    'next friday': '2026-12-04',
    'on next monday': '2026-11-30',
    'may 5th': '2027-05-05',
    'May fifth': '2027-05-05',
    'the fifth of may': '2027-05-05',
    '5 may': '2027-05-05',
    'november 25': '2026-11-25',
    'december twenty first': '2026-12-21',
    'may 5 2030': '2030-05-05',
    'the third of june twenty thirty': '2030-06-03',
    'the 1st': '2026-12-01',
    'the thirty first': '2026-12-31',
    'in two days': '2026-11-27',
    'in a week': '2026-12-02',
    'next week': '2026-12-02',
    'in three weeks': '2026-12-16',
    'in a month': '2026-12-25',
    '2026-12-31': '2026-12-31',
    'february 29': '2028-02-29',
    'february 30': undefined,
    'may 5 1700': undefined,
    '2026-13-01': undefined,
    may: undefined,
  }));

test('dates in Russian', () =>
  reads('date', {
    сегодня: '2026-11-25',
    завтра: '2026-11-26',
    послезавтра: '2026-11-27',
    вчера: '2026-11-24',
    'в пятницу': '2026-11-27',
    'во вторник': '2026-12-01',
    среда: '2026-12-02',
    'в эту пятницу': '2026-11-27',
    'в следующую пятницу': '2026-12-04',
    'на следующее воскресенье': '2026-12-06',
    '5 мая': '2027-05-05',
    'пятого мая': '2027-05-05',
    'пятое мая': '2027-05-05',
    '5-го мая': '2027-05-05',
    'двадцать первое декабря': '2026-12-21',
    'тридцать первого декабря': '2026-12-31',
    'третьего июня две тысячи тридцатого года': '2030-06-03',
    '5 мая 2030 года': '2030-05-05',
    '25.12': '2026-12-25',
    '01.02.2027': '2027-02-01',
    'пятого числа': '2026-12-05',
    'через два дня': '2026-11-27',
    'через день': '2026-11-26',
    'через неделю': '2026-12-02',
    'через три недели': '2026-12-16',
    'через месяц': '2026-12-25',
    'через пять месяцев': '2027-04-25',
    'тридцатое февраля': undefined,
    мая: undefined,
  }));

test('durations in English', () =>
  reads('duration', {
    'ten minutes': 600,
    'a minute': 60,
    'an hour': 3600,
    'half an hour': 1800,
    'half a minute': 30,
    'a half hour': 1800,
    'an hour and a half': 5400,
    'one and a half hours': 5400,
    'two and a half hours': 9000,
    'a quarter of an hour': 900,
    'three quarters of an hour': 2700,
    'two hours and five minutes': 7500,
    'one hour ten minutes and thirty seconds': 4230,
    'a couple of minutes': 120,
    '90s': 90,
    '1h30m': 5400,
    '1.5 hours': 5400,
    '2 days': 172_800,
    'a week': 604_800,
    'five minutes and two hours': undefined,
    'minus five minutes': undefined,
    minutes: undefined,
    'a million days': undefined,
  }));

test('durations in Russian', () =>
  reads('duration', {
    'десять минут': 600,
    минуту: 60,
    час: 3600,
    полчаса: 1800,
    полминуты: 30,
    'полтора часа': 5400,
    'полторы минуты': 90,
    'около часа': undefined,
    'час с половиной': 5400,
    'два с половиной часа': 9000,
    'четверть часа': 900,
    'три четверти часа': 2700,
    'час двадцать минут': 4800,
    'два часа и пять минут': 7500,
    'пару минут': 120,
    '20 мин': 1200,
    '1 ч 30 мин': 5400,
    '1,5 часа': 5400,
    сутки: 86_400,
    'две недели': 1_209_600,
    'двадцати пяти минут': 1500,
    часов: undefined,
    'минута час': undefined,
  }));

test('a date is counted from the local day, over the end of a year and of February', () => {
  assert.is(valueIn('date', 'tomorrow', '2026-12-31T23:59'), '2027-01-01');
  assert.is(valueIn('date', 'in a month', '2027-01-31T00:00'), '2027-02-28');
  assert.is(valueIn('date', 'через день', '2028-02-28T12:00:30.5'), '2028-02-29');
  assert.is(valueIn('date', 'monday', '2026-11-23T00:00'), '2026-11-30');
  assert.is(valueIn('time', 'in an hour', '2026-12-31T23:30'), '00:30');
});

test('a local time that is none is refused', () => {
  for (const at of ['', '2026-11-25', '2026-02-30T10:00', '2026-11-25T24:00', '25.11.2026 20:04'])
    assert.throws(
      () => localOf(at),
      (e: IngleError) => e.code === 'invalid_request',
    );
});

test.run();
