// Texts of the application's settings about other programs, which come with these.
import type { Texts } from './i18n.ts';

const en = {
  title: 'Other programs',
  allow: 'Programs may use your skills',
  off: 'No program may. Turn this on to let an assistant or another program that speaks MCP (Model Context Protocol) use what is listed here.',
  on: 'Programs that have the hub’s token may use what is listed here, with your rights.',
  what: 'What your skills offer to programs',
  nothing: 'None of your skills offers anything to programs yet.',
  set_up: 'Set up the other program',
  address:
    'It runs on the hub’s computer, or reaches it by an SSH tunnel. Give it this address (streamable HTTP):',
  copy: 'Copy address',
  copied: 'Address copied',
  token: 'With each message it sends the hub’s token in this header:',
  token_file: 'The token is in this file on the hub; an administrator there can read it:',
  trust: 'The token opens everything on the hub, not only this. Give it only to a program you trust.',
  as_whom:
    'The program acts as you do at the hub itself. One that names a person (X-Ingle-Principal) may use only what that person may; guests may use nothing.',
  ends: 'Turned off, every further call is refused at once; a call that has begun comes to its end. The token still opens the rest of the hub until you make a new one at the hub: ingle api token rotate',
  is_on: 'Programs may use your skills now',
  is_off: 'No program may use your skills any more',
} as const;

const ru: Record<keyof typeof en, string> = {
  title: 'Другие программы',
  allow: 'Программам можно пользоваться навыками',
  off: 'Сейчас нельзя ни одной. Включите, чтобы помощник или другая программа, говорящая по MCP (Model Context Protocol), могла пользоваться тем, что перечислено здесь.',
  on: 'Программы, у которых есть ключ хаба, могут пользоваться тем, что перечислено здесь, с вашими правами.',
  what: 'Что навыки предлагают программам',
  nothing: 'Ваши навыки пока ничего не предлагают программам.',
  set_up: 'Как подключить программу',
  address:
    'Она работает на компьютере хаба или соединяется с ним через туннель SSH. Дайте ей этот адрес (streamable HTTP):',
  copy: 'Скопировать адрес',
  copied: 'Адрес скопирован',
  token: 'С каждым сообщением она передаёт ключ хаба в этом заголовке:',
  token_file: 'Ключ лежит на хабе в этом файле; прочитать его может администратор:',
  trust: 'Ключ открывает на хабе всё, а не только это. Давайте его лишь программе, которой доверяете.',
  as_whom:
    'Программа действует так, как вы у самого хаба. Если она называет человека (X-Ingle-Principal), ей можно лишь то, что можно ему; гостям нельзя ничего.',
  ends: 'После выключения новые вызовы сразу отклоняются, начатые завершатся. Остальное на хабе ключ открывает и дальше, пока вы не сделаете у хаба новый: ingle api token rotate',
  is_on: 'Теперь программам можно пользоваться навыками',
  is_off: 'Больше ни одной программе нельзя пользоваться навыками',
};

export const spaProgramsTexts: Texts<keyof typeof en> = { en, ru };
