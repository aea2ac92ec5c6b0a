// Texts of charts, which come with the first of them.
import type { Text, Texts } from './i18n.ts';

const en = {
  chart_of: 'Line chart of {names}',
  bars_of: 'Bar chart of {names}',
  chart_desc: {
    by: 'n',
    one: '{name}: one value, {last}.',
    other: '{name}: {n} values, lowest {min}, highest {max}, now {last}.',
  },
  chart_empty: 'No values yet',
  chart_table: 'Show as table',
} as const;

const ru: Record<keyof typeof en, Text> = {
  chart_of: 'Линейный график: {names}',
  bars_of: 'Столбчатая диаграмма: {names}',
  chart_desc: {
    by: 'n',
    one: '{name}: {n} значение, наименьшее {min}, наибольшее {max}, сейчас {last}.',
    few: '{name}: {n} значения, наименьшее {min}, наибольшее {max}, сейчас {last}.',
    other: '{name}: {n} значений, наименьшее {min}, наибольшее {max}, сейчас {last}.',
  },
  chart_empty: 'Значений пока нет',
  chart_table: 'Показать таблицей',
};

export const spaChartTexts: Texts<keyof typeof en> = { en, ru };
