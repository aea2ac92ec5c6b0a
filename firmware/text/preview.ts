// Texts of `ingle ui preview`: its terminal, and its page.
import type { Text, Texts } from './i18n.ts';

const en = {
  missing: '{file} is not there. Name a document: *.json, *.yaml, *.md or *.jsonl',
  unreadable: '{file} cannot be read: {why}',
  noSources: 'This needs a checkout of Ingle: npm ci',
  unbuilt: 'The page cannot be built: {why}',
  taken: 'Port {port} is taken. Name another one by --port, or none.',
  badPort: 'A port is a whole number from 1 to 65535.',
  serving: '{file} is shown at {url} and drawn anew at each save. Ctrl+C ends it.',
  looked: '{file}: {kind}, {count} to put right',
  notParsed: 'The file cannot be read: {why} The last drawing stays.',
  tooLarge: 'The file is larger than {kib} KiB, which no hub takes. The last drawing stays.',
  badState: '{file} is left out: {why}',
  title: 'Preview of {file}',
  none: 'Nothing to put right.',
  problems: 'To put right: {count}',
  taps: 'Tap something to see what it asks for.',
  asks: 'It asks for',
  phone_light: 'Phone, light',
  phone_dark: 'Phone, dark',
  desk_light: 'Desk, light',
  desk_dark: 'Desk, dark',
  gone: 'The preview has ended. Start it again: ingle ui preview {file}',
  noRows: 'Rows come from a skill; a preview has none.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  missing: '{file} нет. Укажите документ: *.json, *.yaml, *.md или *.jsonl',
  unreadable: '{file} не читается: {why}',
  noSources: 'Для этого нужны исходники Ingle: npm ci',
  unbuilt: 'Страница не собирается: {why}',
  taken: 'Порт {port} занят. Назовите другой (--port) или никакого.',
  badPort: 'Порт — целое число от 1 до 65535.',
  serving: '{file} показан на {url} и рисуется заново при каждом сохранении. Закончить: Ctrl+C.',
  looked: '{file}: {kind}, исправить: {count}',
  notParsed: 'Файл не читается: {why} Последний рисунок остаётся.',
  tooLarge: 'Файл больше {kib} КиБ, хаб такого не примет. Последний рисунок остаётся.',
  badState: '{file} не учтён: {why}',
  title: 'Просмотр {file}',
  none: 'Исправлять нечего.',
  problems: 'Исправить: {count}',
  taps: 'Нажмите что-нибудь, и здесь будет видно, о чём просит экран.',
  asks: 'Экран просит',
  phone_light: 'Телефон, светлая тема',
  phone_dark: 'Телефон, тёмная тема',
  desk_light: 'Компьютер, светлая тема',
  desk_dark: 'Компьютер, тёмная тема',
  gone: 'Просмотр закончен. Начать снова: ingle ui preview {file}',
  noRows: 'Строки даёт навык; в просмотре его нет.',
};

export const previewTexts: Texts<keyof typeof en> = { en, ru };
