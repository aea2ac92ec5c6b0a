// Everything a person reads, the same keys in each language.
import { texts } from '@ingle/skill-sdk';

export const t = texts({
  en: {
    title: 'My skill',
    press: 'Press',
    today: 'Today',
    ever: 'Ever',
    times: { by: 'count', one: 'once', other: '{count} times' },
  },
  ru: {
    title: 'My skill',
    press: 'Нажать',
    today: 'Сегодня',
    ever: 'Всего',
    times: { by: 'count', one: '{count} раз', few: '{count} раза', other: '{count} раз' },
  },
});
