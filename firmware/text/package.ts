// Texts of `ingle skill`: making packages of skills and looking at them.
import type { Text, Texts } from './i18n.ts';

const en = {
  keyMade:
    'A new key lies in {file}. Keep it secret, and keep a copy: without it you can publish no new version of your skills.',
  keyId: 'key id      {id}',
  keyPublic: 'public key  {key}',
  noFolder: '{folder} cannot be read: {why}',
  folderFaults: '{folder} cannot be packed:{faults}',
  noCode: 'it has no skill.js',
  onlySource: 'it holds the source; run "npm run build" and pack dist/skills/{name}',
  noManifest: 'it has no manifest.json',
  notFile: '{path} is a link or no file; a package has files only',
  badName:
    '{path} has a name a package cannot carry: only lower-case letters, digits, ".", "_" and "-", at most 100 in all, no part beginning with "." or "-"',
  fileLarge: '{path} is larger than {most} bytes',
  tooMany: 'it has more than {most} files',
  allLarge: 'its files have more than {most} bytes together',
  moreFaults: 'and {count} more',
  noApp: 'it has no scenario.json, the app that its manifest names. Build it: ingle skill build <folder>',
  appLarge: 'scenario.json may have at most {most} bytes',
  appFaults: 'The app cannot be packed:\n{faults}',
  packing: {
    by: 'count',
    one: 'Packing {skill} {version}: one file, {size} KiB',
    other: 'Packing {skill} {version}: {count} files, {size} KiB',
  },
  packed: '{file} is written: {size} KiB, signed with the key {key}',
  packedUnsigned:
    '{file} is written: {size} KiB, NOT SIGNED. A hub takes it in developer mode only; sign it with: ingle skill sign',
  outTaken: '{file} is there and is no package; it stays as it is. Name another with --out.',
  outFailed: '{file} cannot be written: {why}',
  inFailed: '{file} cannot be read: {why}',
  inMissing: 'There is no file {file}.',
  shown: '{skill} {version}: {title}',
  trusted: 'publisher   {name} ({key}), trusted by this hub',
  unknown: 'publisher   {key}, nobody this computer knows; the signature is right',
  unsigned: 'publisher   none: NOT SIGNED. Anybody may have made it.',
  files: 'files',
  file: '  {size}  {path}',
  may: 'what it may do',
} as const;

const ru: Record<keyof typeof en, Text> = {
  keyMade:
    'Новый ключ лежит в {file}. Храните его в тайне и сделайте копию: без него нельзя выпустить новую версию ваших навыков.',
  keyId: 'номер ключа    {id}',
  keyPublic: 'открытый ключ  {key}',
  noFolder: 'Папка {folder} не читается: {why}',
  folderFaults: 'Папку {folder} нельзя упаковать:{faults}',
  noCode: 'в ней нет skill.js',
  onlySource: 'в ней исходный код; выполните "npm run build" и упакуйте dist/skills/{name}',
  noManifest: 'в ней нет manifest.json',
  notFile: '{path} это ссылка или не файл; в пакете бывают только файлы',
  badName:
    'имя {path} для пакета не годится: только строчные латинские буквы, цифры, ".", "_" и "-", всего не больше 100, ни одна часть не начинается с "." или "-"',
  fileLarge: '{path} больше {most} байт',
  tooMany: 'в ней больше {most} файлов',
  allLarge: 'в её файлах вместе больше {most} байт',
  moreFaults: 'и ещё {count}',
  noApp: 'нет scenario.json — приложения, названного в манифесте. Соберите его: ingle skill build <папка>',
  appLarge: 'scenario.json может занимать не больше {most} байт',
  appFaults: 'Приложение нельзя упаковать:\n{faults}',
  packing: {
    by: 'count',
    one: 'Упаковывается {skill} {version}: {count} файл, {size} КиБ',
    few: 'Упаковывается {skill} {version}: {count} файла, {size} КиБ',
    other: 'Упаковывается {skill} {version}: {count} файлов, {size} КиБ',
  },
  packed: 'Записан {file}: {size} КиБ, подписан ключом {key}',
  packedUnsigned:
    'Записан {file}: {size} КиБ, БЕЗ ПОДПИСИ. Хаб примет его только в режиме разработчика; подписать: ingle skill sign',
  outTaken: 'Файл {file} уже есть, и это не пакет; он не тронут. Укажите другой: --out.',
  outFailed: 'Файл {file} не записывается: {why}',
  inFailed: 'Файл {file} не читается: {why}',
  inMissing: 'Нет файла {file}.',
  shown: '{skill} {version}: {title}',
  trusted: 'издатель    {name} ({key}), этот хаб ему доверяет',
  unknown: 'издатель    {key}, здесь неизвестен; подпись верна',
  unsigned: 'издатель    неизвестен: БЕЗ ПОДПИСИ. Его мог сделать кто угодно.',
  files: 'файлы',
  file: '  {size}  {path}',
  may: 'что ему можно',
};

export const packageTexts: Texts<keyof typeof en> = { en, ru };
