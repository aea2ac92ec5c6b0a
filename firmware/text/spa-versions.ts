// Texts of the versions on a scenario's page.
import type { Texts } from './i18n.ts';

const en = {
  title: 'Versions',
  lead: 'What people have set is carried over to another version.',
  used: 'in use',
  of_image: 'part of the hub',
  installed: 'installed {when}',
  unsigned: 'unsigned',
  use: 'Use',
  use_of: 'Use version {version}',
  unfit: 'With version {version}, this does not fit any more and would be set aside:',
  repaired: 'With version {version}, this would be repaired by itself:',
  use_anyway: 'Use it even so',
  leave: 'Leave it',
  undo_hint: 'Whoever goes back before changing anything has their settings as they were.',
  using: 'Version {version} is used now.',
  back: 'Back to {version}',
  everybody: 'everybody',
  you: 'you',
  remove: 'Remove what was installed',
  remove_title: 'Remove what was installed of “{name}”?',
  remove_image: 'The version of the hub is used again.',
  remove_all:
    'The scenario goes from the hub and begins nothing any more. Who wants it back installs its package again.',
  remove_do: 'Remove',
  removed: '{name}: removed',
} as const;

const ru: Record<keyof typeof en, string> = {
  title: 'Версии',
  lead: 'Заданное людьми переносится в другую версию.',
  used: 'используется',
  of_image: 'часть хаба',
  installed: 'установлена: {when}',
  unsigned: 'не подписана',
  use: 'Перейти',
  use_of: 'Перейти на версию {version}',
  unfit: 'В версии {version} это больше не подходит и будет отложено:',
  repaired: 'В версии {version} это исправится само:',
  use_anyway: 'Всё равно перейти',
  leave: 'Оставить как есть',
  undo_hint: 'Кто вернётся, ничего не меняя, получит прежние настройки.',
  using: 'Теперь используется версия {version}.',
  back: 'Вернуться к {version}',
  everybody: 'все',
  you: 'вы',
  remove: 'Убрать установленное',
  remove_title: 'Убрать установленное у «{name}»?',
  remove_image: 'Снова будет использоваться версия из хаба.',
  remove_all:
    'Сценарий исчезнет с хаба и больше ничего не начнёт. Чтобы вернуть его, установите пакет снова.',
  remove_do: 'Убрать',
  removed: '{name}: убран',
};

export const spaVersionsTexts: Texts<keyof typeof en> = { en, ru };
