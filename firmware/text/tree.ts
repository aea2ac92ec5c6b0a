// Words a render tree has and its document does not: where a renderer lacks something, or a document says no word.
// The same for every reader, so each has all languages.
import { localizer, type Texts } from './i18n.ts';

const en = {
  main: 'Overview',
  aside: 'More',
  send: 'Send',
  open: 'Open',
  close: 'Close',
  dialog: 'Dialog',
  listen: 'Listen',
  watch: 'Watch',
  nothing: 'There is nothing here yet.',
} as const;
const ru: Record<keyof typeof en, string> = {
  main: 'Главное',
  aside: 'Ещё',
  send: 'Отправить',
  open: 'Открыть',
  close: 'Закрыть',
  dialog: 'Диалог',
  listen: 'Слушать',
  watch: 'Смотреть',
  nothing: 'Здесь пока ничего нет.',
};
export const treeTexts: Texts<keyof typeof en> = { en, ru };
export const treeText = localizer(treeTexts);
