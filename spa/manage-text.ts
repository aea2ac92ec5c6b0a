// Words of the page of installed skills.
import { translator } from '../firmware/text/i18n.ts';
import { installedTexts } from '../firmware/text/installed.ts';
import { spaSkillsTexts } from '../firmware/text/spa-skills.ts';
import { app } from './store.ts';

type Key = keyof (typeof spaSkillsTexts)['en'];

export const say = (key: Key, values?: Record<string, string | number>) =>
  translator(spaSkillsTexts, app().language)(key, values);
export const stateText = (key: keyof (typeof installedTexts)['en']) =>
  translator(installedTexts, app().language)(key);
