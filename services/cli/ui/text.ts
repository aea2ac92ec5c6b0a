// How `ingle ui` speaks.
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { previewTexts } from '../../../firmware/text/preview.ts';

export const previewTextOf = (language: Language) => translator(previewTexts, language);
export type PreviewText = ReturnType<typeof previewTextOf>;
