// What the hub itself tells its owner, behind the bell and on their browsers.
import type { Text, Texts } from './i18n.ts';

const en = {
  recovering: 'A code for a new passkey was made',
  recovering_body: {
    by: 'minutes',
    one: 'Whoever has it can come in as you for another minute. If you did not ask for it at the hub, choose "Add a phone or computer" in the settings now: a newer code ends this one. Then look at your passkeys and browsers.',
    other:
      'Whoever has it can come in as you for {minutes} minutes. If you did not ask for it at the hub, choose "Add a phone or computer" in the settings now: a newer code ends this one. Then look at your passkeys and browsers.',
  },
  recovering_over:
    'It has expired. If you did not ask for it at the hub, look at your passkeys and browsers in the settings, and remove what is not yours.',
};

const ru: Record<keyof typeof en, Text> = {
  recovering: 'Создан код для нового ключа доступа',
  recovering_body:
    'Тот, у кого он есть, {minutes} мин. может войти как вы. Если вы не просили его у хаба, сейчас же выберите в настройках «Добавить телефон или компьютер»: новый код отменяет прежний. Затем проверьте свои ключи и браузеры.',
  recovering_over:
    'Он уже не действует. Если вы не просили его у хаба, проверьте в настройках свои ключи и браузеры и удалите чужие.',
};

export const noticeTexts: Texts<keyof typeof en> = { en, ru };
