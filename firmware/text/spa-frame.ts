// Texts around a skill's own page, which come with the first of them.
import type { Text, Texts } from './i18n.ts';

const en = {
  silent: 'The page of this skill did not start.',
  flood: 'The page of this skill sent too much and was closed.',
  missing: 'The page of this skill could not be loaded.',
  away: 'This page needs the hub.',
  again: 'Load it again',
  untitled: 'A page of the skill',
} as const;

const ru: Record<keyof typeof en, Text> = {
  silent: 'Страница навыка не запустилась.',
  flood: 'Страница навыка прислала слишком много сообщений и закрыта.',
  missing: 'Страницу навыка не удалось загрузить.',
  away: 'Этой странице нужен хаб.',
  again: 'Загрузить снова',
  untitled: 'Страница навыка',
};

export const spaFrameTexts: Texts<keyof typeof en> = { en, ru };
