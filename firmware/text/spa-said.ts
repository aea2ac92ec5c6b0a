// The way to what a skill tells of; it comes with the first word of one.
import type { Texts } from './i18n.ts';

const en = { open: 'Open' } as const;
const ru: Record<keyof typeof en, string> = { open: 'Открыть' };

export const spaSaidTexts: Texts<keyof typeof en> = { en, ru };
