// What is said of an act that waits; it comes with the first act.
import type { Texts } from './i18n.ts';

const en = { queued: 'Kept here. It will be sent when the hub answers.' } as const;
const ru: Record<keyof typeof en, string> = { queued: 'Сохранено здесь. Уйдёт, когда хаб ответит.' };

export const spaDoingTexts: Texts<keyof typeof en> = { en, ru };
