// Why a skill's screen is not shown, or may only be read, for the application; it comes when that happens.
import type { Text, Texts } from './i18n.ts';

const en = {
  missing_title: '{title} does not run right now',
  missing: 'The hub keeps trying to start it. This window fills by itself when it answers.',
  forbidden_title: 'You may not open {title}',
  forbidden: 'Ask the owner of the hub.',
  over_title: 'This preview is over',
  over: 'Its time has passed, or its link is not whole. Whoever made it can make another.',
  forged_title: 'The screen of {title} is not shown',
  forged:
    'It does not bear your hub’s signature, so somebody may have changed it. If this stays, look at the hub.',
  kept: 'This is what was there before. It works again when the hub is reached.',
  away: '{title} cannot open while the hub is not reached. Try again when it is back.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  missing_title: '{title} сейчас не работает',
  missing: 'Хаб пробует его запустить. Окно заполнится само, когда навык ответит.',
  forbidden_title: 'Вам нельзя открывать: {title}',
  forbidden: 'Спросите владельца хаба.',
  over_title: 'Предпросмотр закончился',
  over: 'Его время вышло, или ссылка скопирована не вся. Автор может сделать новый.',
  forged_title: 'Экран «{title}» не показан',
  forged: 'На нём нет подписи вашего хаба: возможно, его кто-то изменил. Если это не пройдёт, проверьте хаб.',
  kept: 'Это то, что было раньше. Всё заработает, когда хаб снова будет на связи.',
  away: '{title} не открыть, пока хаб не на связи. Попробуйте, когда он вернётся.',
};

export const spaShutTexts: Texts<keyof typeof en> = { en, ru };
