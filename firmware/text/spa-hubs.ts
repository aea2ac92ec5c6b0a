// Texts of the application's page of hubs, which come with that page.
import type { Texts } from './i18n.ts';

const en = {
  lead: 'Hubs of one home can belong together, with one owner. You see here which ones answer, invite another and let one go.',
  offline: 'The hub is not reached. What you see may be old, and nothing can be changed now.',
  list_title: 'Hubs of this home',
  alone: 'There is no other hub yet.',
  this_hub: 'This hub',
  leader: 'The leading hub',
  leads: 'leads',
  member: 'member',
  here: 'Here',
  joined: 'Let in',
  gone: 'Gone',
  left: 'Left',
  since: 'since {when}',
  heard: 'last heard {when}',
  unheard: 'not heard yet',
  is_gone: 'It is expected back. Look at its power and its network.',
  let_go: 'Let go',
  let_go_of: 'Let go: {name}',
  sure: 'Let {name} go? Its way to this home ends at once and it is alone again. To come back it needs a new code.',
  keep: 'Keep it',
  went: '{name} is let go',
  invite_title: 'Invite a hub',
  invite_lead:
    'Have the other hub at hand. It gets you as its owner; browsers and people that were let in there are forgotten.',
  invite: 'Make a code',
  code_title: 'Code for another hub',
  code_lead: 'On the other hub, or the computer it runs on, type:',
  code_app:
    'Or enter these digits in the other hub’s own application, in its settings under Hubs, “Join another home”:',
  code_link: 'In the place of the digits this link does as well:',
  code_until: 'Good until {time}, for one hub. A newer code, also for a person or a browser, ends it.',
  step_wait: 'The other hub takes the code',
  step_in: 'It is let in',
  step_here: 'It answers',
  copy: 'Copy command',
  copied: 'Command copied',
  done: 'Close',
  came: '{name} has joined',
  over: 'This code is no longer good. Close it and make a new one.',
  stage_joining:
    'This hub is on its way into another home and may still be let in, also when the other hub answers later. “Leave” stops that.',
  stage_leaving:
    'This hub is leaving its home, and finishes when it reaches the service in between. Nothing else can be done with it here until then.',
  stage_in: 'This hub is a member. Further hubs are invited and let go where the leading one is.',
  join_title: 'Join another home',
  join_lead:
    'This hub becomes a member of another home of yours. A code is made there: in its application on this page, or by ingle subnet invite.',
  join_code: 'Code of the other home',
  join_hint: 'Twelve digits, or the link.',
  join: 'Join',
  join_sure_title: 'Join the other home?',
  join_sure:
    'This hub gets the owner of the other one. It forgets the browsers that were let in here ({browsers}, with this one) and the people ({people}); this cannot be undone. To use it here again you need a new code at the hub: ingle login',
  join_wait: 'Asking the other hub. This takes up to a minute; when it has joined, this page ends.',
  has_joined: 'The hub has joined the other home. To use it here again: ingle login at the hub',
  perhaps_joined:
    'The hub has probably joined the other home; the session ended before it said so. If it does not take your passkey any more, make a code at the hub and pair this browser anew: ingle login',
  leave_title: 'Leave this home',
  leave_lead: 'This hub is alone again, as it was before it joined.',
  leave: 'Leave',
  leave_sure_title: 'Leave this home?',
  leave_sure:
    'This hub is alone again and forgets all browsers and people that were let in here, this browser too. To come back it needs a new code of this home; to use it alone, a code at the hub: ingle login',
  stop_sure:
    'This hub stays alone and forgets nobody. If it has been let in meanwhile, it leaves again and forgets all browsers and people that were let in here.',
  stopped: 'The hub stays alone',
  left_home: 'The hub has left and is alone again. To use it here: ingle login at the hub',
  perhaps_left:
    'The hub has probably left; the session ended before it said so. If it does not take your passkey any more, make a code at the hub and pair this browser anew: ingle login',
  join_invalid_request:
    'This is no code for a hub. It has twelve digits, or is a link; “Make a code” on the page of hubs of the other home gives one. Nothing was changed.',
  join_invalid_device_code:
    'This code is not good, or no longer. Make a new one in the other home. Nothing was changed.',
  join_pairing_failed:
    'The other hub did not let this one in. Compare the last six digits, or make a new code there. Nothing was changed.',
  join_conflict:
    'This hub belongs to a home already, is on its way into one, or leads other hubs. Leave it, or let the others go first. Nothing was changed.',
  join_timeout:
    'The other hub did not answer. Look whether it is on and connected, then try again with a new code. If this hub is on its way already, it may still join; “Leave” on this page stops that.',
  join_unavailable: 'The hub does not reach the service in between. Check its network, then try again.',
  join_rate_limited: 'Too many codes were tried. Wait a minute, then try again.',
  leave_not_found: 'This hub is not a member any more. Nothing needs to be done.',
  leave_unavailable:
    'The hub does not reach the service in between, and finishes leaving when it does. Check its network.',
  leave_timeout:
    'The hub does not reach the service in between, and finishes leaving when it does. Check its network.',
  leave_rate_limited:
    'The service in between does not take this order now. The hub finishes leaving by itself; or press “Leave” again in a minute.',
  let_go_unavailable: 'The hub did not answer. Try again in a moment.',
  invite_conflict:
    'No code could be made: this hub is a member itself, or has as many members as it can. Invite at the leading hub, or let one go first.',
  invite_unavailable:
    'No code could be made: the hub does not reach the service in between. Check the hub’s network, then try again.',
  no_rate_limited: 'Too many codes were asked for. Wait a minute, then try again.',
  no_not_found: 'That hub is not a member any more. Nothing needs to be done.',
  no_other: 'The hub did not do this: {message} Try again.',
} as const;

const ru: Record<keyof typeof en, string> = {
  lead: 'Хабы одного дома могут быть вместе, с одним владельцем. Здесь видно, какие отвечают; здесь же можно пригласить ещё один или исключить.',
  offline: 'Хаб недоступен. Показанное могло устареть, изменить сейчас ничего нельзя.',
  list_title: 'Хабы этого дома',
  alone: 'Других хабов пока нет.',
  this_hub: 'Этот хаб',
  leader: 'Ведущий хаб',
  leads: 'ведёт',
  member: 'участник',
  here: 'На связи',
  joined: 'Принят',
  gone: 'Пропал',
  left: 'Вышел',
  since: '{when}',
  heard: 'последний раз слышен {when}',
  unheard: 'ещё не слышен',
  is_gone: 'Его ждут обратно. Проверьте его питание и сеть.',
  let_go: 'Исключить',
  let_go_of: 'Исключить: {name}',
  sure: 'Исключить {name}? Связь с этим домом сразу прервётся, и хаб снова будет сам по себе. Чтобы вернуться, ему нужен новый код.',
  keep: 'Оставить',
  went: '{name}: исключён',
  invite_title: 'Пригласить хаб',
  invite_lead:
    'Другой хаб должен быть под рукой. Его владельцем станете вы; допущенные туда браузеры и люди будут забыты.',
  invite: 'Создать код',
  code_title: 'Код для другого хаба',
  code_lead: 'На другом хабе или на компьютере, где он работает, наберите:',
  code_app:
    'Или введите эти цифры в приложении самого хаба: в его настройках «Хабы», «Присоединить к другому дому»:',
  code_link: 'Вместо цифр подойдёт и эта ссылка:',
  code_until:
    'Действует до {time}, для одного хаба. Новый код, в том числе для человека или браузера, отменит его.',
  step_wait: 'Другой хаб принимает код',
  step_in: 'Он принят',
  step_here: 'Он отвечает',
  copy: 'Скопировать команду',
  copied: 'Команда скопирована',
  done: 'Закрыть',
  came: '{name}: присоединён',
  over: 'Код больше не действует. Закройте его и создайте новый.',
  stage_joining:
    'Этот хаб на пути в другой дом и ещё может быть принят, даже если другой хаб ответит позже. «Выйти» это прекратит.',
  stage_leaving:
    'Этот хаб выходит из дома и закончит, как только достигнет службы между вами. До тех пор ничего другого здесь с ним сделать нельзя.',
  stage_in: 'Этот хаб — участник. Приглашает и исключает хабы тот, который ведёт.',
  join_title: 'Присоединить к другому дому',
  join_lead:
    'Этот хаб станет участником другого вашего дома. Код создают там: на этой же странице его приложения или командой ingle subnet invite.',
  join_code: 'Код другого дома',
  join_hint: 'Двенадцать цифр или ссылка.',
  join: 'Присоединить',
  join_sure_title: 'Присоединить к другому дому?',
  join_sure:
    'Владельцем этого хаба станет владелец другого. Допущенные сюда браузеры ({browsers} вместе с этим) и люди ({people}) будут забыты; отменить это нельзя. Чтобы снова пользоваться им здесь, понадобится новый код у хаба: ingle login',
  join_wait: 'Спрашиваем другой хаб. Это займёт до минуты; после присоединения эта страница закроется.',
  has_joined: 'Хаб присоединён к другому дому. Снова пользоваться им здесь: ingle login у хаба',
  perhaps_joined:
    'Хаб, скорее всего, присоединён к другому дому: сеанс закончился раньше ответа. Если он больше не принимает ваш ключ доступа, создайте код у хаба и подключите этот браузер заново: ingle login',
  leave_title: 'Выйти из этого дома',
  leave_lead: 'Этот хаб снова будет сам по себе, как до присоединения.',
  leave: 'Выйти',
  leave_sure_title: 'Выйти из этого дома?',
  leave_sure:
    'Этот хаб снова будет сам по себе и забудет все допущенные сюда браузеры, и этот тоже, и всех людей. Чтобы вернуться, ему нужен новый код этого дома; чтобы пользоваться им отдельно, код у самого хаба: ingle login',
  stop_sure:
    'Этот хаб останется сам по себе и никого не забудет. Если его тем временем приняли, он снова выйдет и забудет все допущенные сюда браузеры и всех людей.',
  stopped: 'Хаб остаётся сам по себе',
  left_home: 'Хаб вышел и снова сам по себе. Пользоваться им здесь: ingle login у хаба',
  perhaps_left:
    'Хаб, скорее всего, вышел: сеанс закончился раньше ответа. Если он больше не принимает ваш ключ доступа, создайте код у хаба и подключите этот браузер заново: ingle login',
  join_invalid_request:
    'Это не код для хаба. В нём двенадцать цифр, или это ссылка; его даёт «Создать код» на странице хабов другого дома. Ничего не изменено.',
  join_invalid_device_code:
    'Этот код недействителен или уже недействителен. Создайте новый в другом доме. Ничего не изменено.',
  join_pairing_failed:
    'Другой хаб не принял этот. Сверьте последние шесть цифр или создайте там новый код. Ничего не изменено.',
  join_conflict:
    'Этот хаб уже состоит в доме, на пути в него или сам ведёт другие. Сначала выйдите или исключите другие. Ничего не изменено.',
  join_timeout:
    'Другой хаб не ответил. Проверьте, включён ли он и есть ли у него связь, и попробуйте с новым кодом. Если этот хаб уже на пути, он ещё может присоединиться; «Выйти» на этой странице это прекратит.',
  join_unavailable: 'Хаб не достигает службы между вами. Проверьте его сеть и попробуйте снова.',
  join_rate_limited: 'Слишком много попыток. Подождите минуту и попробуйте снова.',
  leave_not_found: 'Этот хаб уже не участник. Ничего делать не нужно.',
  leave_unavailable: 'Хаб не достигает службы между вами и выйдет, как только достигнет. Проверьте его сеть.',
  leave_timeout: 'Хаб не достигает службы между вами и выйдет, как только достигнет. Проверьте его сеть.',
  leave_rate_limited:
    'Служба между вами сейчас не принимает эту просьбу. Хаб выйдет сам; или нажмите «Выйти» ещё раз через минуту.',
  let_go_unavailable: 'Хаб не ответил. Попробуйте ещё раз чуть позже.',
  invite_conflict:
    'Код не создан: этот хаб сам участник, или участников уже предельно много. Пригласите на ведущем хабе или сначала исключите один.',
  invite_unavailable:
    'Код не создан: хаб не достигает службы между вами. Проверьте сеть хаба и попробуйте снова.',
  no_rate_limited: 'Слишком много запросов кода. Подождите минуту и попробуйте снова.',
  no_not_found: 'Этот хаб уже не участник. Ничего делать не нужно.',
  no_other: 'Хаб этого не сделал: {message} Попробуйте снова.',
};

export const spaHubsTexts: Texts<keyof typeof en> = { en, ru };
