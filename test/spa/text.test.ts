// gate: in, values for reading start no program
// How values are written for reading: by the rules of the reader's language, with one formatter for all numbers of it.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { set } from '../../spa/store.ts';
import { ago, shown } from '../../spa/text.ts';

test('numbers, texts in languages, yes and no, and nothing', () => {
  for (const [value, en, ru] of [
    [1234.567, '1,234.57', '1\u00a0234,57'],
    [0, '0', '0'],
    [-0, '0', '0'],
    [-0.00499, '0', '0'],
    [-0.005, '-0.01', '-0,01'],
    [Number.NaN, '–', '–'],
    [Number.POSITIVE_INFINITY, '–', '–'],
    ['', '', ''],
    ['a', 'a', 'a'],
    [true, '✓', '✓'],
    [false, '–', '–'],
    [null, '–', '–'],
    [undefined, '–', '–'],
    [{ i18n: { en: 'Day', ru: 'День' } }, 'Day', 'День'],
    [[1, 'a'], '[1,"a"]', '[1,"a"]'],
    [{ a: 1 }, '{"a":1}', '{"a":1}'],
  ] as const) {
    for (const [language, text] of [
      ['en', en],
      ['ru', ru],
    ] as const) {
      set({ language });
      assert.is(shown(value), text, `${JSON.stringify(value)} ${language}`);
    }
  }
});

test('a table of a thousand numbers makes one formatter for each language', () => {
  const { NumberFormat } = Intl;
  let made = 0;
  const counted = new Proxy(NumberFormat, {
    construct: (of, args) => {
      made++;
      return Reflect.construct(of, args) as object;
    },
  });
  Intl.NumberFormat = counted;
  try {
    for (const language of ['en', 'ru'] as const) {
      set({ language });
      for (let n = 0; n < 1000; n++) shown(n);
    }
  } finally {
    Intl.NumberFormat = NumberFormat;
  }
  assert.ok(made <= 2, `${made} were made`);
});

test('times of the past in the largest whole unit', () => {
  set({ language: 'en' });
  const before = (seconds: number) => ago(Date.now() - seconds * 1000);
  assert.equal([-5, 0, 59, 60, 3599, 3600, 86_399, 86_400, 200_000].map(before), [
    ...['0 seconds ago', '0 seconds ago', '59 seconds ago', '1 minute ago', '59 minutes ago', '1 hour ago'],
    ...['23 hours ago', '1 day ago', '2 days ago'],
  ]);
});

test.run();
