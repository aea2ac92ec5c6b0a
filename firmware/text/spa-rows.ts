// Texts of tables whose rows come page by page; they come with the first of them.
import type { Text, Texts } from './i18n.ts';

const en = {
  search: 'Search',
  previous: 'Previous',
  next: 'Next',
  range: '{from}–{to} of {total}',
  none_found: 'Nothing found',
  failed: 'The rows could not be asked for: {message}',
} as const;

const ru: Record<keyof typeof en, Text> = {
  search: 'Поиск',
  previous: 'Назад',
  next: 'Дальше',
  range: '{from}–{to} из {total}',
  none_found: 'Ничего не найдено',
  failed: 'Строки не удалось запросить: {message}',
};

export const spaRowsTexts: Texts<keyof typeof en> = { en, ru };
