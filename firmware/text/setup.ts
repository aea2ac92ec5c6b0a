import { type Language, type Texts, translator } from './i18n.ts';

/** What every setup channel says of a step; `Progress.text` of io.ingle.Setup1 is a key of this table. */
export const setupTexts = {
  en: {
    audio_testing: 'Testing the speaker and the microphone. You will hear a short sweep.',
    audio_retest: 'Testing the sound once more.',
    audio_ok: 'The hub speaks and hears. The test recordings have been deleted.',
    audio_failed: 'No speaker and microphone that hear each other were found ({reason}).',
    channel_open: 'Setup is open.',
    channel_failed: 'This way of setup does not start here ({reason}).',
    wifi_joining: 'Joining {ssid}. This takes up to half a minute.',
    wifi_joined: 'The hub is in {ssid}.',
    wifi_failed: 'The hub could not join {ssid}: {reason}',
    hint_restart:
      'Setup has stopped, as nobody came. Press the button, or switch the hub off and on, to start again.',
    spoken_secrets: 'To set me up, join the network {ssid}. The password is: {psk}. The PIN is: {pin}.',
    spoken_pairing:
      'I am ready. Open the hub page on your phone and enter the code: {code}; and then: {secret}.',
    pairing_open: 'The hub has a network and waits to be paired with a phone.',
    code_spent:
      'The code was tried wrongly too often and is void. Make a new one where it was made. Was it not you? Then somebody is guessing.',
    pin_wait: 'Too many wrong PINs. The hub takes the next one in {wait}.',
    seconds: '{n} s',
    minutes: '{n} min',
  },
  ru: {
    audio_testing: 'Проверяю динамик и микрофон. Вы услышите короткий сигнал.',
    audio_retest: 'Проверяю звук ещё раз.',
    audio_ok: 'Хаб говорит и слышит. Пробные записи удалены.',
    audio_failed: 'Не нашлось динамика и микрофона, которые слышат друг друга ({reason}).',
    channel_open: 'Настройка открыта.',
    channel_failed: 'Этот способ настройки здесь не запускается ({reason}).',
    wifi_joining: 'Подключаюсь к {ssid}. Это займёт до полуминуты.',
    wifi_joined: 'Хаб подключён к {ssid}.',
    wifi_failed: 'Не удалось подключиться к {ssid}: {reason}',
    hint_restart:
      'Настройка остановлена: никто не подключился. Нажмите кнопку или выключите и включите хаб, чтобы начать снова.',
    spoken_secrets: 'Чтобы настроить меня, подключитесь к сети {ssid}. Пароль: {psk}. Пин-код: {pin}.',
    spoken_pairing: 'Я готов. Откройте страницу хаба на телефоне и введите код: {code}; и затем: {secret}.',
    pairing_open: 'У хаба есть сеть, и он ждёт подключения телефона.',
    code_spent:
      'Код слишком много раз ввели неверно, и он больше не действует. Получите новый там же. Если это были не вы, кто-то подбирает код.',
    pin_wait: 'Слишком много неверных пин-кодов. Следующий можно ввести через {wait}.',
    seconds: '{n} с',
    minutes: '{n} мин',
  },
} satisfies Texts<string>;

export type SetupText = keyof (typeof setupTexts)['en'];

/** How long somebody must wait, in words; minutes are rounded up. */
export function waitText(seconds: number, language: Language): string {
  const t = translator(setupTexts, language);
  return seconds < 60 ? t('seconds', { n: seconds }) : t('minutes', { n: Math.ceil(seconds / 60) });
}
