// What is said where codes are being guessed; it comes with the work that root then asks for.
import type { Localized } from './i18n.ts';

export const nearText: Localized = {
  i18n: {
    en: 'Somebody is trying many wrong codes, so codes count only near the hub for now. Open the hub’s link or scan its QR code, or type the code on the same Wi-Fi as the hub.',
    ru: 'Кто-то перебирает коды, поэтому сейчас они действуют только рядом с хабом. Откройте ссылку хаба или отсканируйте QR-код, либо введите код в той же сети Wi-Fi, что и хаб.',
  },
};
