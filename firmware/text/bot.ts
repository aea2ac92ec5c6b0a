import type { Texts } from './i18n.ts';

/** What the messaging bot says besides the setup conversation. */
export const botTexts = {
  en: {
    ask_pin: 'This is your hub. To set it up, type the 6-digit PIN it speaks or shows.',
    wrong_pin: {
      by: 'left',
      one: 'That is not the PIN. One more try, then you have to wait.',
      other: 'That is not the PIN. {left} more tries, then you have to wait.',
    },
    busy: 'Somebody else is setting up this hub right now. Try again later.',
    bye: 'Setup is closed here. Send /start to open it again.',
    only_text: 'Please answer with text or a button.',
    deleted: 'Your message with the password has been deleted.',
  },
  ru: {
    ask_pin:
      'Это ваш хаб. Чтобы настроить его, введите 6-значный пин-код, который он произносит или показывает.',
    wrong_pin: {
      by: 'left',
      one: 'Это не тот пин-код. Ещё {left} попытка, потом придётся подождать.',
      few: 'Это не тот пин-код. Ещё {left} попытки, потом придётся подождать.',
      other: 'Это не тот пин-код. Ещё {left} попыток, потом придётся подождать.',
    },
    busy: 'Сейчас хаб настраивает кто-то другой. Попробуйте позже.',
    bye: 'Настройка здесь закрыта. Отправьте /start, чтобы открыть её снова.',
    only_text: 'Ответьте, пожалуйста, текстом или кнопкой.',
    deleted: 'Ваше сообщение с паролем удалено.',
  },
} satisfies Texts<string>;
