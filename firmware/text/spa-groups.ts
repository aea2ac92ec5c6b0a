// Texts of the application about changes of the desktop, which come with the first of them.
import type { Text, Texts } from './i18n.ts';

const en = {
  moved: '{title} is now number {n} of {total}.',
  unpinned: 'Unpinned',
  undone: 'The desktop is as it was.',
  new_group: 'New group',
  into: 'Into {group}',
  take_out: 'Take out of the group',
  dissolve: 'Ungroup',
  group_name: 'Name of the group',
  group_taken: 'There is a group {group} already.',
  grouped: '{title} is now in {group}.',
  ungrouped: '{title} is no longer in {group}.',
  dissolved: '{group} is no group any more.',
  renamed: 'The group is now {group}.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  moved: '{title}: теперь {n} из {total}.',
  unpinned: 'Откреплено',
  undone: 'Рабочий стол снова прежний.',
  new_group: 'Новая группа',
  into: 'В группу {group}',
  take_out: 'Убрать из группы',
  dissolve: 'Разгруппировать',
  group_name: 'Имя группы',
  group_taken: 'Группа {group} уже есть.',
  grouped: '{title}: теперь в группе {group}.',
  ungrouped: '{title}: больше не в группе {group}.',
  dissolved: 'Группы {group} больше нет.',
  renamed: 'Теперь это группа {group}.',
};

export const spaGroupsTexts: Texts<keyof typeof en> = { en, ru };
