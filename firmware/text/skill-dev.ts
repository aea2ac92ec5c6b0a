// Texts of `ingle skill new | build | test | dev`: what an author of skills hears.
import type { Text, Texts } from './i18n.ts';

const en = {
  badName:
    '"{name}" cannot be a skill\'s name: lower-case letters, digits, "_" and "-", beginning with a letter, at most 48.',
  taken: '{folder} is there already and stays as it is. Choose another name.',
  notMade: '{folder} cannot be made: {why}',
  noSdk: 'The SDK is not here. It comes with a checkout of Ingle: npm ci && npm run build',
  made: 'A new skill lies in {folder}. Next:',
  next: '  cd {folder} && ingle skill test . && ingle skill build .',
  noManifest:
    '{folder} has no manifest.json. Name the folder of a skill, or make one: ingle skill new <name>',
  badJson: '{file} is no JSON: {why}',
  noSource: '{folder} has no skill.ts',
  failed: 'The skill cannot be built:\n{why}',
  noSkill: '{file} exports no "skill". It wants: export const skill = defineSkill({ … })',
  foreign: 'The skill asks for {modules}, which a hub does not have.',
  noAppFile: 'The app of the manifest is not there: {file}',
  appFileLarge: 'may have at most {most} bytes',
  appFileDeep: 'nests too deep, or has too many groups and lists',
  appLarge: 'The app and its pages may have at most {most} bytes together',
  appFaults: 'The app is not right:\n{faults}',
  built: '{out} is built: {id} {version}, {size} KiB. Next: ingle skill pack {out} --key <file>',
  noTests: '{folder} has no file *.test.ts',
  testsFailed: 'Some tests failed.',
  noHouse:
    'No hub of npm start runs hereabouts. Start one in another terminal, in the folder of Ingle: npm start',
  ofImage: 'The hub has a skill "{id}" of its own. Give yours another id in manifest.json.',
  placed:
    '{id} has place {slot} of this hub. Start the hub again, once: Ctrl+C and npm start. This command waits for it.',
  titled: '{title} (developer mode)',
  live: '{id} {version} runs in developer mode at {origin}. Its log: {log}',
  reloading: 'Changed; {id} is started anew.',
  slow: '{id} does not come up. Its log: {log}',
} as const;

const ru: Record<keyof typeof en, Text> = {
  badName:
    'Имя навыка не может быть "{name}": строчные латинские буквы, цифры, "_" и "-", первая буква, не больше 48.',
  taken: '{folder} уже есть и не тронута. Выберите другое имя.',
  notMade: 'Папку {folder} не удалось создать: {why}',
  noSdk: 'SDK здесь нет. Он есть в исходниках Ingle: npm ci && npm run build',
  made: 'Новый навык лежит в {folder}. Дальше:',
  next: '  cd {folder} && ingle skill test . && ingle skill build .',
  noManifest: 'В {folder} нет manifest.json. Укажите папку навыка или создайте новый: ingle skill new <имя>',
  badJson: '{file} не JSON: {why}',
  noSource: 'В {folder} нет skill.ts',
  failed: 'Навык не собирается:\n{why}',
  noSkill: '{file} не экспортирует "skill". Нужно: export const skill = defineSkill({ … })',
  foreign: 'Навыку нужно {modules}, а на хабе этого нет.',
  noAppFile: 'Нет файла приложения, названного в манифесте: {file}',
  appFileLarge: 'может быть не больше {most} байт',
  appFileDeep: 'слишком глубокая вложенность или слишком много групп и списков',
  appLarge: 'Приложение со страницами может занимать не больше {most} байт',
  appFaults: 'В приложении есть ошибки:\n{faults}',
  built: 'Собран {out}: {id} {version}, {size} КиБ. Дальше: ingle skill pack {out} --key <файл>',
  noTests: 'В {folder} нет файлов *.test.ts',
  testsFailed: 'Некоторые проверки не прошли.',
  noHouse:
    'Хаб из npm start поблизости не работает. Запустите его в другом терминале, в папке Ingle: npm start',
  ofImage: 'У хаба есть свой навык "{id}". Дайте вашему другой id в manifest.json.',
  placed:
    '{id} получает место {slot} этого хаба. Один раз перезапустите хаб: Ctrl+C и npm start. Команда подождёт.',
  titled: '{title} (режим разработчика)',
  live: '{id} {version} работает в режиме разработчика: {origin}. Журнал: {log}',
  reloading: 'Есть изменения; {id} запускается заново.',
  slow: '{id} не запускается. Журнал: {log}',
};

export const skillDevTexts: Texts<keyof typeof en> = { en, ru };
