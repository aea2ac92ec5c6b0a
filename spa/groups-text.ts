// Words of changes of the desktop.
import { translator } from '../firmware/text/i18n.ts';
import { spaGroupsTexts } from '../firmware/text/spa-groups.ts';
import { app } from './store.ts';

export const say = (text: keyof typeof spaGroupsTexts.en, values?: Record<string, string | number>) =>
  translator(spaGroupsTexts, app().language)(text, values);
