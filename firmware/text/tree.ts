// Words a render tree is given where a renderer lacks something. The same for every reader, so each has all languages.
import { localizer, type Texts } from './i18n.ts';

const en = { main: 'Overview', aside: 'More' } as const;
const ru: Record<keyof typeof en, string> = { main: 'Главное', aside: 'Ещё' };
export const treeTexts: Texts<keyof typeof en> = { en, ru };
export const treeText = localizer(treeTexts);
