// How `ingle skill` speaks.
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { packageTexts } from '../../../firmware/text/package.ts';
import { skillDevTexts } from '../../../firmware/text/skill-dev.ts';
import { skillHubTexts } from '../../../firmware/text/skill-hub.ts';

export const textOf = (language: Language) => translator(packageTexts, language);
export type Text = ReturnType<typeof textOf>;
/** How it speaks to who writes a skill. */
export const devTextOf = (language: Language) => translator(skillDevTexts, language);
export type DevText = ReturnType<typeof devTextOf>;
/** How it speaks of what is on the hub. */
export const hubTextOf = (language: Language) => translator(skillHubTexts, language);
