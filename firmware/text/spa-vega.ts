// Texts of charts in Vega-Lite, which come with the first of them.
import type { Text, Texts } from './i18n.ts';

const en = {
  of: 'Chart of {names}',
  some: 'Drawn are the first {rows} of {total} rows.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  of: 'Диаграмма: {names}',
  some: 'Показаны первые строки: {rows} из {total}.',
};

export const spaVegaTexts: Texts<keyof typeof en> = { en, ru };
