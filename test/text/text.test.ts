// Texts for people: the same keys and values in every language, and words that fit their number.
import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  inLanguage,
  languages,
  localizer,
  type Plural,
  type Text,
  type Texts,
  translator,
} from '../../firmware/text/i18n.ts';

const test = suite('text');
const folder = new URL('../../firmware/text/', import.meta.url);
const tables: [string, Texts<string>][] = [];
for (const file of readdirSync(folder))
  for (const [name, value] of Object.entries((await import(`../../firmware/text/${file}`)) as object))
    if (value && typeof value === 'object' && languages.some((l) => Object.hasOwn(value, l)))
      tables.push([`${file} ${name}`, value as Texts<string>]);

const forms = (text: Text): string[] =>
  typeof text === 'string'
    ? [text]
    : Object.entries(text).flatMap(([k, v]) => (k === 'by' ? [] : [v as string]));
const marks = (text: Text) =>
  [...new Set(forms(text).flatMap((f) => [...f.matchAll(/\{(\w+)\}/g)].map((m) => m[1])))].sort();

test('every table has the same keys and values in every language', () => {
  assert.ok(tables.length > 10);
  for (const [name, table] of tables)
    for (const l of languages) {
      assert.equal(Object.keys(table[l] ?? {}).sort(), Object.keys(table.en).sort(), `${name} in ${l}`);
      for (const [key, text] of Object.entries(table[l])) {
        for (const m of marks(text))
          assert.ok(marks(table.en[key]!).includes(m), `${name} ${key} in ${l} has {${m}}, English has not`);
        const here = new Set(marks(text));
        const by = (t: Text) => (typeof t === 'string' ? [] : [t.by]);
        for (const m of marks(table.en[key]!))
          assert.ok(here.has(m) || by(text).includes(m!), `${name} ${key} in ${l} misses {${m}}`);
      }
    }
});

test('a counted text has a form for each plural of its language', () => {
  const sample = Array.from({ length: 130 }, (_, n) => n);
  let counted = 0;
  for (const [name, table] of tables)
    for (const l of languages)
      for (const [key, text] of Object.entries(table[l])) {
        if (typeof text === 'string') continue;
        counted++;
        const t = translator(table, l);
        const say = (n: number) => t(key, { [text.by]: n });
        for (const n of sample) assert.not.match(say(n), new RegExp(`\\{${text.by}\\}`), `${name} ${key}`);
        const kinds = new Set(sample.map((n) => new Intl.PluralRules(l).select(n)));
        for (const form of Object.keys(text))
          assert.ok(
            form === 'by' || form === 'other' || kinds.has(form as Intl.LDMLPluralRule),
            `${name} ${form}`,
          );
      }
  assert.ok(counted > 20);
});

test('numbers get their words', () => {
  const files: Plural = { by: 'n', one: '{n} файл', few: '{n} файла', other: '{n} файлов' };
  const t = translator(
    { en: { f: { by: 'n', one: 'one file', other: '{n} files' } }, ru: { f: files } },
    'ru',
  );
  assert.equal(
    [0, 1, 2, 5, 11, 21, 22, 25, 111].map((n) => t('f', { n })),
    [
      '0 файлов',
      '1 файл',
      '2 файла',
      '5 файлов',
      '11 файлов',
      '21 файл',
      '22 файла',
      '25 файлов',
      '111 файлов',
    ],
  );
});

test('a localized text is read in the language of its reader, in English where that is missing', () => {
  const say = localizer({ en: { at: 'at {time}' }, ru: { at: 'в {time}' } });
  const value = say('at', (l) => ({ time: l === 'ru' ? '12.00' : 'noon' }));
  assert.equal(value, { i18n: { en: 'at noon', ru: 'в 12.00' } });
  assert.is(inLanguage(value, 'ru'), 'в 12.00');
  assert.is(inLanguage({ i18n: { en: 'x' } }, 'ru'), 'x');
  assert.is(inLanguage({ i18n: { de: 'nur' } }, 'ru'), 'nur');
  fc.assert(
    fc.property(fc.jsonValue(), (v) => {
      for (const given of [v, { i18n: v }]) {
        const text = inLanguage(given, 'en');
        assert.ok(text === undefined || typeof text === 'string');
      }
    }),
  );
});

test.run();
