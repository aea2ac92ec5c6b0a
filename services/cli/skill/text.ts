// How `ingle skill` speaks.
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { packageTexts } from '../../../firmware/text/package.ts';

export const textOf = (language: Language) => translator(packageTexts, language);
export type Text = ReturnType<typeof textOf>;
