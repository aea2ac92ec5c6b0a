// Texts of `ingle subnet`.
import type { Texts } from './i18n.ts';

const en = {
  open: 'On the other hub: ingle subnet join {code}',
  orLink: 'or with this link:',
  valid: 'Valid for {minutes} minutes, for one hub. It gets the owner of this one.',
  loses:
    'Once joined, this hub belongs to the owner of the other one. {browsers} browsers and {people} people that were let in here are forgotten.',
  ask: 'Join? Type "yes": ',
  script: 'Nothing was changed. To join all the same: ingle subnet join <invitation> --yes',
  kept: 'Nothing was changed.',
  joining: 'Asking the other hub ...',
  joined: 'This hub is a member of the subnet {subnet_id} that {hub} leads.',
  alone: 'This hub is alone. Invite another: ingle subnet invite',
  removed: 'The hub {hub} has let this one go; it is alone again. Pair a browser: ingle login',
  busy: 'This hub is {stage} the subnet that {hub} leads.',
  member: '{hub_id}  {name}, {state} since {since}, last heard {heard}',
  state_joined: 'let in',
  state_here: 'here',
  state_gone: 'gone',
  state_left: 'left',
  stage_joining: 'on its way into',
  stage_leaving: 'on its way out of',
  unreached: 'The hub that leads the subnet does not answer. This one keeps trying.',
  gone: 'The member is let go and its channel is closed. It learns so, and is alone again.',
  left: 'This hub has left the subnet and is alone again. Pair a browser: ingle login',
} as const;

const ru: Record<keyof typeof en, string> = {
  open: 'На другом хабе: ingle subnet join {code}',
  orLink: 'или по ссылке:',
  valid: 'Действует {minutes} мин., для одного хаба. Он получит владельца этого хаба.',
  loses:
    'После этого хаб принадлежит владельцу другого хаба. Допущенные сюда браузеры ({browsers}) и люди ({people}) будут забыты.',
  ask: 'Присоединить? Введите «yes»: ',
  script: 'Ничего не изменено. Чтобы всё же присоединить: ingle subnet join <приглашение> --yes',
  kept: 'Ничего не изменено.',
  joining: 'Спрашиваю другой хаб ...',
  joined: 'Этот хаб — участник подсети {subnet_id}, её ведёт {hub}.',
  alone: 'Этот хаб сам по себе. Пригласить другой: ingle subnet invite',
  removed: 'Хаб {hub} исключил этот; он снова сам по себе. Подключить браузер: ingle login',
  busy: 'Этот хаб {stage} подсети, её ведёт {hub}.',
  member: '{hub_id}  {name}, {state} с {since}, последний раз слышен {heard}',
  state_joined: 'принят',
  state_here: 'на связи',
  state_gone: 'пропал',
  state_left: 'вышел',
  stage_joining: 'на пути к',
  stage_leaving: 'на выходе из',
  unreached: 'Хаб, который ведёт подсеть, не отвечает. Этот продолжает попытки.',
  gone: 'Участник исключён, его канал закрыт. Он узнает об этом и снова будет сам по себе.',
  left: 'Хаб вышел из подсети и снова сам по себе. Подключить браузер: ingle login',
};

export const cliSubnetTexts: Texts<keyof typeof en> = { en, ru };
