import { languages, type Texts } from './i18n.ts';

/** Words that a compiled screen has and its document does not. */
export const uiFrontsText = {
  en: { send: 'Send', open: 'Open', close: 'Close', listen: 'Listen', watch: 'Watch' },
  ru: { send: 'Отправить', open: 'Открыть', close: 'Закрыть', listen: 'Слушать', watch: 'Смотреть' },
} as const satisfies Texts<string>;

/** A word of the table in all languages, as a tree has it. */
export const inAll = (key: keyof typeof uiFrontsText.en) => ({
  i18n: Object.fromEntries(languages.map((l) => [l, uiFrontsText[l][key]])),
});
