// What a form says by itself; it comes with the first form.
import type { Texts } from './i18n.ts';

const en = { choose: 'Please choose something.' } as const;
const ru: Record<keyof typeof en, string> = { choose: 'Выберите что-нибудь.' };

export const spaFormTexts: Texts<keyof typeof en> = { en, ru };
