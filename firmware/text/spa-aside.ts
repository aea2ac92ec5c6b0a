// Texts of the pages beside the way to the desktop: another tab, another link, no passkey here, not let in.
import type { Texts } from './i18n.ts';

const en = {
  back: 'Back',
  elsewhere_title: 'Ingle is open in another tab',
  elsewhere_lead: 'One tab at a time speaks with your hub, so that nothing happens twice.',
  elsewhere_do: 'Use here',
  second_title: 'Now the second group',
  second_lead:
    'The first group found your hub. The second one proves it is really yours, and never leaves this phone.',
  second_label: 'Second group',
  second_hint: 'The six digits to the right of the first group',
  change_first: 'Change the first group',
  code_wrong_title: 'The second group did not match',
  code_wrong_lead:
    'Nothing was shared. Type the second group again; after three wrong tries the hub makes the code useless.',
  nopasskey_title: 'No passkey on this phone',
  nopasskey_lead:
    'Your hub already has an owner, so it lets in only who holds the passkey or the hub itself. There are two ways.',
  nopasskey_other_title: 'Use your other device',
  nopasskey_other:
    'Choose “Sign in with passkey” and, in the prompt, “Use another device”. Then scan the QR code with the phone that holds the passkey.',
  nopasskey_hub_title: 'Or let the hub approve a new passkey',
  nopasskey_hub:
    'At the hub’s console (screen or serial line) choose “Every passkey is lost”, or type {command} there. You get a new code that also permits a new passkey.',
  nopasskey_register: 'My code permits a new passkey',
  nopasskey_new_code: 'Enter the new code',
  link_same_title: 'You are already connected',
  link_same: 'This link is for {hub}, and this browser is paired with it. You do not need the link here.',
  link_again: 'Pair again with this link',
  link_other_title: 'This link is for another hub',
  link_other: 'You are signed in to {hub}. It stays paired with this browser if you open the other one.',
  link_other_do: 'Open the other hub',
  link_spent_title: 'This link is no longer good',
  link_spent: 'It was used already or is older than 10 minutes. You are still signed in to {hub}.',
  link_bad_title: 'This link is not complete',
  link_bad: 'A part of it is missing. You are still signed in to {hub}.',
  no_answer:
    'The hub did not answer after you typed the code. The connection may be bad, or somebody between this phone and your hub tried to guess it. Nothing was shared. Ask the hub for a new code.',
  refused_title: 'The hub did not let this browser in',
  unknown_title: 'Your hub did not recognise this browser',
  unknown_lead:
    'Either the hub says that it does not know this browser, or somebody on the way says so in its name. Nothing has changed here: this browser still knows your hub.',
  unknown_do:
    'Try again first. If it stays like this, the hub may have forgotten this browser. Then pair again: on the hub, type {command}.',
  unknown_pair: 'Pair again',
  unknown_invited:
    'Try again first. If it stays like this, your invitation may be over: ask the owner of the hub for a new one.',
  invited_again: 'I have a new invitation',
  ended_title: 'Your time on this hub is over',
  ended_lead:
    'Its owner has ended it, or the last day has passed. What you kept is still there. If that is not right, ask the owner and try again.',
  taken_title: 'This invitation is for somebody else',
  taken_lead:
    'This browser is paired already, and stays as it is. Whoever was invited opens the link in a browser of their own. This one is used up: the owner makes a new one on the page “People”.',
} as const;

const ru: Record<keyof typeof en, string> = {
  back: 'Назад',
  elsewhere_title: 'Ingle открыт в другой вкладке',
  elsewhere_lead: 'С хабом говорит одна вкладка, чтобы ничего не произошло дважды.',
  elsewhere_do: 'Работать здесь',
  second_title: 'Теперь вторая группа',
  second_lead:
    'Первая группа нашла ваш хаб. Вторая доказывает, что он действительно ваш, и не покидает этот телефон.',
  second_label: 'Вторая группа',
  second_hint: 'Шесть цифр справа от первой группы',
  change_first: 'Изменить первую группу',
  code_wrong_title: 'Вторая группа не подошла',
  code_wrong_lead: 'Ничего не передано. Введите вторую группу ещё раз; после трёх ошибок хаб отменит код.',
  nopasskey_title: 'На этом телефоне нет ключа доступа',
  nopasskey_lead:
    'У хаба уже есть владелец, поэтому впустить может только тот, у кого ключ доступа, или сам хаб. Есть два пути.',
  nopasskey_other_title: 'Другое ваше устройство',
  nopasskey_other:
    'Нажмите «Войти с ключом доступа» и выберите в запросе «Другое устройство». Отсканируйте QR-код телефоном, на котором есть ключ.',
  nopasskey_hub_title: 'Или пусть хаб разрешит новый ключ',
  nopasskey_hub:
    'На консоли хаба (экран или последовательный порт) выберите «Потеряны все ключи доступа» (Every passkey is lost) или наберите там {command}. Вы получите новый код, который разрешает новый ключ доступа.',
  nopasskey_register: 'Мой код разрешает новый ключ',
  nopasskey_new_code: 'Ввести новый код',
  link_same_title: 'Вы уже подключены',
  link_same: 'Эта ссылка ведёт к «{hub}», а этот браузер с ним уже связан. Здесь ссылка не нужна.',
  link_again: 'Подключить заново по ссылке',
  link_other_title: 'Эта ссылка ведёт к другому хабу',
  link_other: 'Вы вошли в «{hub}». Он останется подключён, если открыть другой.',
  link_other_do: 'Открыть другой хаб',
  link_spent_title: 'Ссылка больше не действует',
  link_spent: 'Она уже использована или старше 10 минут. Вы по-прежнему в «{hub}».',
  link_bad_title: 'Ссылка неполная',
  link_bad: 'В ней не хватает части. Вы по-прежнему в «{hub}».',
  no_answer:
    'После ввода кода хаб не ответил. Возможно, плохая связь, или кто-то между телефоном и хабом пытался угадать код. Ничего не передано. Получите на хабе новый код.',
  refused_title: 'Хаб не впустил этот браузер',
  unknown_title: 'Хаб не узнал этот браузер',
  unknown_lead:
    'Либо хаб сообщает, что не знает этот браузер, либо кто-то по пути говорит так от его имени. Здесь ничего не изменилось: браузер по-прежнему знает ваш хаб.',
  unknown_do:
    'Сначала попробуйте снова. Если не поможет, возможно, хаб забыл этот браузер. Тогда подключите его заново: на хабе наберите {command}.',
  unknown_pair: 'Подключить заново',
  unknown_invited:
    'Сначала попробуйте ещё раз. Если не помогло, приглашение, возможно, закончилось: попросите у владельца хаба новое.',
  invited_again: 'У меня новое приглашение',
  ended_title: 'Ваше время на этом хабе закончилось',
  ended_lead:
    'Владелец завершил доступ, или прошёл последний день. Сохранённое осталось. Если это ошибка, спросите владельца и попробуйте ещё раз.',
  taken_title: 'Это приглашение для другого человека',
  taken_lead:
    'Этот браузер уже подключён и остаётся как есть. Приглашённый открывает ссылку в своём браузере. Эта ссылка использована: владелец делает новую на странице «Люди».',
};

export const spaAsideTexts: Texts<keyof typeof en> = { en, ru };
