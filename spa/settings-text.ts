// Words of settings, search, notifications and questions.
import { translator } from '../firmware/text/i18n.ts';
import { spaSettingsTexts } from '../firmware/text/spa-settings.ts';
import { app } from './store.ts';

export const say = (key: keyof (typeof spaSettingsTexts)['en'], values?: Record<string, string | number>) =>
  translator(spaSettingsTexts, app().language)(key, values);
