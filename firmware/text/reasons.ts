import type { Texts } from './i18n.ts';

/** Why a network was not joined, with the next step; a table of its own, as the setup pages load it alone. */
export const reasonTexts = {
  en: {
    wrong_password: 'the password is wrong. Check it and try again.',
    not_found: 'the network is not in reach. Move the hub closer, or scan again.',
    no_address: 'the network gives out no address. Restart the router and try again.',
    no_internet: 'the network has no internet. Check the router and try again.',
    no_radio: 'the hub has no Wi-Fi radio. Use a cable or the serial line.',
    refused: 'the network turned the hub away. See the settings of the router.',
    vanished: 'the network went away. Move the hub closer, or try again.',
    radio_failed: 'the Wi-Fi radio does not work. Switch the hub off and on.',
    timeout: 'the network did not answer in time. Try again.',
    other: 'something went wrong. Try again.',
  },
  ru: {
    wrong_password: 'неверный пароль. Проверьте его и попробуйте снова.',
    not_found: 'сеть не видна. Поднесите хаб ближе или обновите список.',
    no_address: 'сеть не выдаёт адрес. Перезапустите роутер и попробуйте снова.',
    no_internet: 'в сети нет интернета. Проверьте роутер и попробуйте снова.',
    no_radio: 'у хаба нет Wi-Fi. Подключите кабель или настройте по последовательному порту.',
    refused: 'сеть не пускает хаб. Посмотрите настройки роутера.',
    vanished: 'сеть пропала. Поднесите хаб ближе или попробуйте снова.',
    radio_failed: 'радио Wi-Fi не работает. Выключите и включите хаб.',
    timeout: 'сеть не ответила вовремя. Попробуйте снова.',
    other: 'что-то пошло не так. Попробуйте снова.',
  },
} satisfies Texts<string>;

/** The key of a reason that Wifi1 gives; `other` for one without a text. */
export function reasonKey(reason: string): keyof (typeof reasonTexts)['en'] {
  return Object.hasOwn(reasonTexts.en, reason) ? (reason as keyof (typeof reasonTexts)['en']) : 'other';
}
