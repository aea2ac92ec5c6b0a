// The words of numbers. Russian inflection is a list of forms a word; both languages share one table, as their words
// never meet. Pure.
import type { Language } from '../text/i18n.ts';

const en =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const enTens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** Value and its forms, the nominative first. */
const ru: readonly (readonly [number, string])[] = [
  [0, 'ноль ноля нолю нолем нуль нуля нулю нулем'],
  [1, 'один одна одно одну одного одной одному одним одном'],
  [2, 'два две двух двум двумя'],
  [3, 'три трех трем тремя'],
  [4, 'четыре четырех четырем четырьмя'],
  [5, 'пять пяти пятью'],
  [6, 'шесть шести шестью'],
  [7, 'семь семи семью'],
  [8, 'восемь восьми восемью восьмью'],
  [9, 'девять девяти девятью'],
  [10, 'десять десяти десятью'],
  [11, 'одиннадцать одиннадцати одиннадцатью'],
  [12, 'двенадцать двенадцати двенадцатью'],
  [13, 'тринадцать тринадцати тринадцатью'],
  [14, 'четырнадцать четырнадцати четырнадцатью'],
  [15, 'пятнадцать пятнадцати пятнадцатью'],
  [16, 'шестнадцать шестнадцати шестнадцатью'],
  [17, 'семнадцать семнадцати семнадцатью'],
  [18, 'восемнадцать восемнадцати восемнадцатью'],
  [19, 'девятнадцать девятнадцати девятнадцатью'],
  [20, 'двадцать двадцати двадцатью'],
  [30, 'тридцать тридцати тридцатью'],
  [40, 'сорок сорока'],
  [50, 'пятьдесят пятидесяти пятьюдесятью'],
  [60, 'шестьдесят шестидесяти шестьюдесятью'],
  [70, 'семьдесят семидесяти семьюдесятью'],
  [80, 'восемьдесят восьмидесяти восемьюдесятью'],
  [90, 'девяносто девяноста'],
  [100, 'сто ста'],
  [200, 'двести двухсот двумстам двумястами двухстах'],
  [300, 'триста трехсот тремстам тремястами трехстах'],
  [400, 'четыреста четырехсот четыремстам четырьмястами четырехстах'],
  [500, 'пятьсот пятисот пятистам пятьюстами пятистах'],
  [600, 'шестьсот шестисот шестистам шестьюстами шестистах'],
  [700, 'семьсот семисот семистам семьюстами семистах'],
  [800, 'восемьсот восьмисот восьмистам восемьюстами восьмистах'],
  [900, 'девятьсот девятисот девятистам девятьюстами девятистах'],
];

/** What a word does to the number before it. */
export interface NumberWord {
  value: number;
  /** `times` multiplies what stands before it; the others are added. */
  place: 'zero' | 'one' | 'teen' | 'ten' | 'hundred' | 'times';
}

const placeOf = (v: number): NumberWord['place'] =>
  v === 0 ? 'zero' : v < 10 ? 'one' : v < 20 ? 'teen' : v < 100 ? 'ten' : 'hundred';

export const numberWords: ReadonlyMap<string, NumberWord> = new Map([
  ...en.map((w, v): [string, NumberWord] => [w, { value: v, place: placeOf(v) }]),
  ...enTens.map((w, i): [string, NumberWord] => [w, { value: 20 + 10 * i, place: 'ten' }]),
  ...ru.flatMap(([value, forms]) =>
    forms.split(' ').map((w): [string, NumberWord] => [w, { value, place: placeOf(value) }]),
  ),
  ...(
    [
      [100, 'hundred'],
      [1000, 'thousand тысяча тысячи тысяч тысячу тысяче тысячей тысячам тысячами тысячах'],
      [1_000_000, 'million миллион миллиона миллионов миллиону миллионом миллионам миллионами миллионах'],
    ] as const
  ).flatMap(([value, forms]) =>
    forms.split(' ').map((w): [string, NumberWord] => [w, { value, place: 'times' }]),
  ),
]);

/** One and a half is one word in Russian. */
export const oneAndAHalf: ReadonlySet<string> = new Set(['полтора', 'полторы', 'полутора']);
/** "пять целых три десятых": parts of one. */
export const fractions: ReadonlyMap<string, number> = new Map([
  ['десятая', 10],
  ['десятых', 10],
  ['десятую', 10],
  ['сотая', 100],
  ['сотых', 100],
  ['сотую', 100],
]);
export const wholes: ReadonlySet<string> = new Set(['целых', 'целая', 'целую', 'целой']);

/** A whole number of 0 to 999 as it is said, in the nominative. */
export function spell(n: number, language: Language): string {
  if (language === 'ru') {
    const word = (v: number) => ru.find(([value]) => value === v)![1].split(' ')[0]!;
    const parts = n < 20 ? [n] : [n - (n % 100), n % 100 < 20 ? n % 100 : (n % 100) - (n % 10)];
    if (n >= 20 && n % 100 >= 20) parts.push(n % 10);
    return (n === 0 ? [0] : parts.filter((v) => v > 0)).map(word).join(' ');
  }
  if (n < 20) return en[n]!;
  if (n < 100) return enTens[Math.floor(n / 10) - 2]! + (n % 10 ? ` ${en[n % 10]}` : '');
  return `${en[Math.floor(n / 100)]} hundred` + (n % 100 ? ` and ${spell(n % 100, 'en')}` : '');
}
