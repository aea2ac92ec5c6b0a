// Texts of the reference of screens: the page, and the command that makes it.
import type { Text, Texts } from './i18n.ts';

const en = {
  title: 'The languages of screens',
  lead: 'Every part that a skill’s screen can be made of, with an example that works.',
  views: 'Views, ui/v0',
  pages: 'Components, usdl/0.2',
  texts: 'Text, ULM',
  search: 'Search',
  found: { by: 'count', one: '{count} part', other: '{count} parts' },
  nothing: 'Nothing here has this word. Try a shorter one.',
  since: 'since {version}',
  required: 'required',
  example: 'Example: {name}',
  source: 'Its document',
  properties: 'Properties',
  property: 'Property',
  type: 'Type',
  about: 'About',
  asks: 'It asks for',
  written: 'The reference is in {file}.',
  foreign: '{file} is there and is no reference that this command made. Name another folder by --out.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  title: 'Языки экранов',
  lead: 'Всё, из чего может состоять экран навыка, и к каждой части — работающий пример.',
  views: 'Экраны, ui/v0',
  pages: 'Компоненты, usdl/0.2',
  texts: 'Текст, ULM',
  search: 'Поиск',
  found: { by: 'count', one: '{count} часть', few: '{count} части', other: '{count} частей' },
  nothing: 'Такого слова здесь нет. Попробуйте покороче.',
  since: 'с версии {version}',
  required: 'обязательно',
  example: 'Пример: {name}',
  source: 'Его документ',
  properties: 'Свойства',
  property: 'Свойство',
  type: 'Тип',
  about: 'Описание',
  asks: 'Экран просит',
  written: 'Справочник записан в {file}.',
  foreign: '{file} уже есть, и это не справочник от этой команды. Назовите другую папку: --out.',
};

export const referenceTexts: Texts<keyof typeof en> = { en, ru };
