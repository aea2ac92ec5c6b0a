// Texts of scenario apps in the application, which come with the first app.
import type { Text, Texts } from './i18n.ts';

const en = {
  home: 'To the desktop',
  menu: 'Pages',
  close_side: 'Close',
  none_title: 'This page is not there',
  none_lead: '{title} has no page at this address. It may have been renamed, or the link is not whole.',
  to_entry: 'To the first page of {title}',
  missing_title: 'There is no such app',
  missing_lead: 'This hub has no app "{id}". It may have been removed.',
  forbidden_title: 'You may not open this app',
  forbidden_lead: 'The owner of the hub decides who may. Ask them.',
  away_title: 'Not on this device yet',
  away_lead:
    'An app can be opened without the hub once it was opened here with it. Come back when the hub is reached; it opens by itself then.',
  forged_title: 'This is not from your hub',
  forged_lead: 'The app does not bear the signature of your hub, so it is not shown.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  home: 'На рабочий стол',
  menu: 'Страницы',
  close_side: 'Закрыть',
  none_title: 'Такой страницы нет',
  none_lead:
    'В приложении «{title}» нет страницы по этому адресу. Возможно, её переименовали или ссылка неполная.',
  to_entry: 'На первую страницу: {title}',
  missing_title: 'Такого приложения нет',
  missing_lead: 'На этом хабе нет приложения «{id}». Возможно, его удалили.',
  forbidden_title: 'Вам нельзя открывать это приложение',
  forbidden_lead: 'Это решает владелец хаба. Спросите его.',
  away_title: 'На этом устройстве его ещё нет',
  away_lead:
    'Без хаба приложение открывается там, где его уже открывали с хабом. Вернитесь, когда хаб будет на связи: оно откроется само.',
  forged_title: 'Это не от вашего хаба',
  forged_lead: 'На приложении нет подписи вашего хаба, поэтому оно не показано.',
};

export const spaScenarioTexts: Texts<keyof typeof en> = { en, ru };
