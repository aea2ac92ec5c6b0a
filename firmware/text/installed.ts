// How a skill from a package stands on the hub, for the command and the application.
import type { Text, Texts } from './i18n.ts';

const en = {
  state_image: 'part of the system',
  state_prepared: 'not installed',
  state_trial: 'being tried',
  state_active: 'in use',
  state_returning: 'going back',
  state_removing: 'being removed',
  reason_timeout: 'it did not start in time',
  reason_broken: 'it does not start',
  reason_no_room: 'the hub has no place left for a skill; remove one first',
  reason_storage: 'the hub could not write it down; look at its storage',
  off_no_sandbox: 'does not run: nothing shuts it in',
  sandbox_missing:
    'Skills from packages do not run here: bubblewrap, the program that shuts them in, is missing. Install it (sudo apt-get install bubblewrap) and start Ingle again, or turn on developer mode to run them unprotected: ingle skill developer on',
  sandbox_unusable:
    'Skills from packages do not run here: bubblewrap, the program that shuts them in, does not work on this computer, which may forbid user namespaces. Allow them and start Ingle again, or turn on developer mode to run skills unprotected: ingle skill developer on',
  sandbox_open: 'Nothing shuts in skills from packages here: they run unprotected, as developer mode is on.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  state_image: 'часть системы',
  state_prepared: 'не установлен',
  state_trial: 'проверяется',
  state_active: 'работает',
  state_returning: 'возвращается прежний',
  state_removing: 'удаляется',
  reason_timeout: 'он не запустился вовремя',
  reason_broken: 'он не запускается',
  reason_no_room: 'на хабе нет места для ещё одного навыка; сначала удалите какой-нибудь',
  reason_storage: 'хаб не смог это записать; проверьте его накопитель',
  off_no_sandbox: 'не работает: его нечем оградить',
  sandbox_missing:
    'Навыки из пакетов здесь не работают: нет программы bubblewrap, которая их ограждает. Установите её (sudo apt-get install bubblewrap) и запустите Ingle снова или включите режим разработчика, чтобы они работали без защиты: ingle skill developer on',
  sandbox_unusable:
    'Навыки из пакетов здесь не работают: программе bubblewrap, которая их ограждает, этот компьютер не даёт работать; возможно, на нём запрещены пространства имён пользователей. Разрешите их и запустите Ingle снова или включите режим разработчика, чтобы навыки работали без защиты: ingle skill developer on',
  sandbox_open:
    'Навыки из пакетов здесь ничем не ограждены: включён режим разработчика, и они работают без защиты.',
};

export const installedTexts: Texts<keyof typeof en> = { en, ru };
