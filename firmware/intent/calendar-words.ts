// Months, days of the week and days of a month, with the forms they take. Pure.
import type { Language } from '../text/i18n.ts';
import type { Phrase } from './reading.ts';

/** Value and forms in English, then in Russian; the form first that stands alone. */
export const months: readonly (readonly [number, string, string])[] = [
  [1, 'january jan', 'январь января январе январю'],
  [2, 'february feb', 'февраль февраля феврале февралю'],
  [3, 'march mar', 'март марта марте марту'],
  [4, 'april apr', 'апрель апреля апреле апрелю'],
  [5, 'may', 'май мая мае маю'],
  [6, 'june jun', 'июнь июня июне июню'],
  [7, 'july jul', 'июль июля июле июлю'],
  [8, 'august aug', 'август августа августе августу'],
  [9, 'september sep sept', 'сентябрь сентября сентябре сентябрю'],
  [10, 'october oct', 'октябрь октября октябре октябрю'],
  [11, 'november nov', 'ноябрь ноября ноябре ноябрю'],
  [12, 'december dec', 'декабрь декабря декабре декабрю'],
];

/** 1 is Monday (ISO 8601). */
export const weekdays: readonly (readonly [number, string, string])[] = [
  [1, 'monday', 'понедельник понедельника понедельнику'],
  [2, 'tuesday', 'вторник вторника вторнику'],
  [3, 'wednesday', 'среда среду среды среде'],
  [4, 'thursday', 'четверг четверга четвергу'],
  [5, 'friday', 'пятница пятницу пятницы пятнице'],
  [6, 'saturday', 'суббота субботу субботы субботе'],
  [7, 'sunday', 'воскресенье воскресенья воскресенью'],
];

const enOrdinals =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth'.split(
    ' ',
  );
/** Stems; "пят" is пятое, пятого, пятому. "третье" goes its own way. */
const ruStems =
  'перв втор трет четверт пят шест седьм восьм девят десят одиннадцат двенадцат тринадцат четырнадцат пятнадцат шестнадцат семнадцат восемнадцат девятнадцат'.split(
    ' ',
  );

/** Forms of a Russian ordinal of 1 to 19, or of its tens: neuter nominative, genitive, dative. */
function ruForms(stem: string): string[] {
  const endings = stem === 'трет' ? ['ье', 'ьего', 'ьему'] : ['ое', 'ого', 'ому'];
  return endings.map((e) => stem + e);
}

function ruOrdinals(n: number): string[] {
  if (n < 20) return ruForms(ruStems[n - 1]!);
  const [tens, stem] = n < 30 ? ['двадцать', 'двадцат'] : ['тридцать', 'тридцат'];
  return n % 10 === 0 ? ruForms(stem) : ruForms(ruStems[(n % 10) - 1]!).map((w) => `${tens} ${w}`);
}

function enOrdinal(n: number): string {
  if (n < 20) return enOrdinals[n - 1]!;
  const [tens, round] = n < 30 ? ['twenty', 'twentieth'] : ['thirty', 'thirtieth'];
  return n % 10 === 0 ? round : `${tens} ${enOrdinals[(n % 10) - 1]}`;
}

/** Days of a month as ordinals, 1 to 31; "5th" and "5-го" are written. */
export const dayPhrases: readonly Phrase[] = Array.from({ length: 31 }, (_, i) => i + 1).flatMap((value) => [
  { said: enOrdinal(value), value, language: 'en' },
  ...ruOrdinals(value).map((said): Phrase => ({ said, value, language: 'ru' })),
  ...['st', 'nd', 'rd', 'th', 'е', 'ое', 'го', 'ого'].map((end) => ({ said: `${value}${end}`, value })),
]);

/** "восьмого" of "половина восьмого" is the hour that is under way, 1 to 12. */
export const underWay: readonly Phrase[] = ruStems.slice(0, 12).map((stem, i) => ({
  said: ruForms(stem)[1]!,
  value: i + 1,
  language: 'ru',
}));
/** "полвосьмого": half past seven in one word, minutes since midnight. */
export const halfWords: readonly Phrase[] = underWay.flatMap(({ said, value }) =>
  [`пол${said}`, `пол-${said}`].map((word) => ({
    said: word,
    value: ((value + 11) % 12) * 60 + 30,
    language: 'ru' as const,
  })),
);

/** Phrases of a table of words; short forms of English months are written only. */
export const phrasesOf = (table: readonly (readonly [number, string, string])[]): Phrase[] =>
  table.flatMap(([value, en, ru]) => [
    ...en.split(' ').map((said, i): Phrase => ({ said, value, ...(i === 0 ? { language: 'en' } : {}) })),
    ...ru.split(' ').map((said): Phrase => ({ said, value, language: 'ru' as Language })),
  ]);
