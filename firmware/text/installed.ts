// How a skill from a package stands on the hub, for the command and the application.
import type { Text, Texts } from './i18n.ts';

const en = {
  state_image: 'part of the system',
  state_prepared: 'not installed',
  state_trial: 'being tried',
  state_active: 'in use',
  state_returning: 'going back',
  state_removing: 'being removed',
  reason_timeout: 'it did not start in time',
  reason_broken: 'it does not start',
  reason_no_room: 'the hub has no place left for a skill; remove one first',
  reason_storage: 'the hub could not write it down; look at its storage',
} as const;

const ru: Record<keyof typeof en, Text> = {
  state_image: 'часть системы',
  state_prepared: 'не установлен',
  state_trial: 'проверяется',
  state_active: 'работает',
  state_returning: 'возвращается прежний',
  state_removing: 'удаляется',
  reason_timeout: 'он не запустился вовремя',
  reason_broken: 'он не запускается',
  reason_no_room: 'на хабе нет места для ещё одного навыка; сначала удалите какой-нибудь',
  reason_storage: 'хаб не смог это записать; проверьте его накопитель',
};

export const installedTexts: Texts<keyof typeof en> = { en, ru };
