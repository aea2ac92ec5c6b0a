// What the hub itself tells its owner, behind the bell and on their browsers.
import type { Texts } from './i18n.ts';

const en = {
  recovering: 'A code for a new passkey was made',
  recovering_body:
    'Whoever has it can come in as you for {minutes} minutes. If you did not ask for it at the hub, choose "Add a phone or computer" in the settings now: a newer code ends this one. Then look at your passkeys and browsers.',
};

const ru: Record<keyof typeof en, string> = {
  recovering: 'Создан код для нового ключа доступа',
  recovering_body:
    'Тот, у кого он есть, {minutes} мин. может войти как вы. Если вы не просили его у хаба, сейчас же выберите в настройках «Добавить телефон или компьютер»: новый код отменяет прежний. Затем проверьте свои ключи и браузеры.',
};

export const noticeTexts: Texts<keyof typeof en> = { en, ru };
