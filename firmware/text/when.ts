// Times as scenarios tell them, within a sentence.
import type { Texts } from './i18n.ts';

const en = {
  today: 'today at {time}',
  tomorrow: 'tomorrow at {time}',
  on: 'on {date} at {time}',
};

const ru: Record<keyof typeof en, string> = {
  today: 'сегодня в {time}',
  tomorrow: 'завтра в {time}',
  on: '{date} в {time}',
};

export const whenTexts: Texts<keyof typeof en> = { en, ru };
