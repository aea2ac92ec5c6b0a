// What the manual page of `ingle` says beside the commands' own help.
import type { Texts } from './i18n.ts';

const en = {
  name: 'NAME',
  synopsis: 'SYNOPSIS',
  description: 'DESCRIPTION',
  commands: 'COMMANDS',
  options: 'OPTIONS',
  files: 'FILES',
  environment: 'ENVIRONMENT',
  exitStatus: 'EXIT STATUS',
  seeAlso: 'SEE ALSO',
  about:
    'ingle asks the hub of this computer over D-Bus: the one whose data lies in .ingle here or in a folder above, where npm start runs, else that of the system. The words of a command come first, then its options.',
  fileToken: 'The token of the local API. Beside npm start: .ingle/hub/api/token.',
  fileConfig: 'What the owner or a developer sets.',
  fileDevice: 'What the maker of the device says of it.',
  fileHouse: 'Keys, state and logs of a hub that npm start runs.',
  envLanguage: 'The language of texts, en or ru; INGLE_LANG goes first.',
  envBus: 'The D-Bus address of the hub, in place of the one that is found.',
  envData: 'The folder of the hub’s state.',
  envConfig: 'The file of settings, in place of /etc/ingle/config.json.',
  envApi: 'The address of the local API.',
  envLog: 'With the value debug, an error inside is told with its stack.',
  envColor: 'When set, QR codes are drawn without colours.',
  exitDone: 'Done.',
} as const;

const ru: Record<keyof typeof en, string> = {
  name: 'ИМЯ',
  synopsis: 'ОБЗОР',
  description: 'ОПИСАНИЕ',
  commands: 'КОМАНДЫ',
  options: 'ПАРАМЕТРЫ',
  files: 'ФАЙЛЫ',
  environment: 'ОКРУЖЕНИЕ',
  exitStatus: 'КОД ВОЗВРАТА',
  seeAlso: 'СМОТРИТЕ ТАКЖЕ',
  about:
    'ingle обращается по D-Bus к хабу этого компьютера: к тому, чьи данные лежат в .ingle здесь или в папке выше, где работает npm start, иначе к системному. Сначала идут слова команды, затем её параметры.',
  fileToken: 'Ключ локального API. Рядом с npm start: .ingle/hub/api/token.',
  fileConfig: 'Что задаёт владелец или разработчик.',
  fileDevice: 'Что говорит об устройстве его изготовитель.',
  fileHouse: 'Ключи, состояние и журналы хаба, запущенного через npm start.',
  envLanguage: 'Язык текстов, en или ru; INGLE_LANG важнее остальных.',
  envBus: 'Адрес D-Bus хаба вместо найденного.',
  envData: 'Папка состояния хаба.',
  envConfig: 'Файл настроек вместо /etc/ingle/config.json.',
  envApi: 'Адрес локального API.',
  envLog: 'Со значением debug внутренняя ошибка показывается со стеком.',
  envColor: 'Если задано, QR-коды рисуются без цвета.',
  exitDone: 'Готово.',
};

export const cliManual: Texts<keyof typeof en> = { en, ru };
