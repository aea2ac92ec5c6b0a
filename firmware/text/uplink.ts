// What the hub's link to root says to a person: `ingle status`, logs, setup.
import type { Texts } from './i18n.ts';

export const uplinkTexts = {
  en: {
    rootAway: 'The root service at {root} does not answer. The hub keeps trying.',
    noAnswer:
      'The root service at {root} does not answer. Check the network and the address, then try again.',
    improper:
      'What answers at {root} is no root service of this version. Check root_url in the hub’s configuration.',
    rootBusy: 'The root service at {root} has had too many requests. Try again in a minute.',
    refused: 'The root service at {root} refused the hub ({code}). The hub keeps trying.',
    wrongAddress:
      'The root service at {root} goes by other names: {names}. If one of them is yours, set root_url to it in the hub’s configuration; or start root with --audience {audience}.',
    moved:
      'The hub is enrolled with another root service than {root}, and does not connect to it. To move the hub there, run `ingle init`.',
    changed:
      'The root service at {root} offers this hub another place ({what}). Nothing was changed. If you moved the hub or its root service, confirm that at the hub: `ingle init`, or “Hand over to another owner” at its console. If not, somebody who runs the root service may be behind it.',
    offerChanged:
      'The root service at {root} now offers another place than the one that was confirmed. Nothing was changed. Run `ingle init` again, or choose “Hand over to another owner” again.',
    appPinned:
      'This hub takes the application at {want} only (app_url in its configuration), and the root service at {root} names {got}. Nothing was changed. Correct app_url or root_url.',
    subnetCode: 'This invitation is not valid, or no more. Ask the other hub for a new one.',
    subnetBusy: 'This hub is in a subnet already. Leave it first: `ingle subnet leave`.',
    subnetLeads: 'Other hubs are members of this one. Remove them first: `ingle subnet remove`.',
    subnetNone: 'There is no such member.',
    subnetFull: 'This subnet has as many hubs as it can have.',
    subnetLoses:
      'This hub belongs to the owner of the other one from then on. {browsers} browsers and {people} people that were let in here are forgotten.',
    subnetNoAnswer: 'The other hub did not answer. Nothing was changed. Try again with a new invitation.',
    subnetRefused: 'The other hub did not let this one in: {why}',
    subnetMember: 'This hub is a member of a subnet. The hub that leads it invites others.',
    subnetRemoved:
      'The hub that leads the subnet has let this one go. It is alone again, without an owner’s browsers.',
    altered:
      'Somebody between browser and hub changed a message. It was thrown away. If this stays, do not trust the root service {root}.',
    replayed:
      'Somebody between browser and hub sent old messages again. They were thrown away. If this stays, do not trust the root service {root}.',
    wrong_code:
      'A browser came with a wrong pairing code: it was mistyped, or somebody between browser and hub interferes.',
    no_answer:
      'A browser began to pair by the typed code and did not prove that it knows it: the connection broke, or somebody interferes. The try is used.',
    unknown_browser: 'A browser that is not paired with this hub knocked and was not let in.',
    codeTaken:
      'Somebody entered the last pairing code, and no browser was paired with it. They got nothing; the new code takes its place.',
    insecure:
      'INSECURE: the debug mode insecure_sealed_secret is on. Whoever runs the root service could pair a browser of their own. Turn it off before real use.',
    insecureSealed:
      'INSECURE: a channel secret was sealed to the key that root names and handed out through root (insecure_sealed_secret).',
    insecureProven:
      "INSECURE: a browser came by a sealed secret (insecure_sealed_secret). Whether it is the owner's, the pairing does not prove.",
  },
  ru: {
    rootAway: 'Корневой сервис {root} не отвечает. Хаб продолжает попытки.',
    noAnswer: 'Корневой сервис {root} не отвечает. Проверьте сеть и адрес и попробуйте снова.',
    improper:
      'По адресу {root} отвечает не корневой сервис этой версии. Проверьте root_url в настройках хаба.',
    rootBusy: 'К корневому сервису {root} слишком много запросов. Попробуйте через минуту.',
    refused: 'Корневой сервис {root} отказал хабу ({code}). Хаб продолжает попытки.',
    wrongAddress:
      'Корневой сервис {root} называет себя иначе: {names}. Если один из этих адресов ваш, укажите его как root_url в настройках хаба; или запустите корневой сервис с --audience {audience}.',
    moved:
      'Хаб зарегистрирован на другом корневом сервисе, не на {root}, и к нему не подключается. Чтобы перенести хаб туда, выполните `ingle init`.',
    changed:
      'Корневой сервис {root} предлагает хабу другое место ({what}). Ничего не изменено. Если вы перенесли хаб или его корневой сервис, подтвердите это на хабе: `ingle init` или «Передать другому владельцу» (Hand over to another owner) на его консоли. Если нет, за этим может стоять тот, кто держит корневой сервис.',
    offerChanged:
      'Корневой сервис {root} предлагает уже не то, что было подтверждено. Ничего не изменено. Выполните `ingle init` снова или снова выберите «Передать другому владельцу» (Hand over to another owner).',
    appPinned:
      'Этот хаб принимает приложение только по адресу {want} (app_url в его настройках), а корневой сервис {root} называет {got}. Ничего не изменено. Исправьте app_url или root_url.',
    subnetCode: 'Это приглашение недействительно или уже недействительно. Попросите у другого хаба новое.',
    subnetBusy: 'Этот хаб уже в подсети. Сначала выйдите из неё: `ingle subnet leave`.',
    subnetLeads: 'В подсеть этого хаба входят другие. Сначала исключите их: `ingle subnet remove`.',
    subnetNone: 'Такого участника нет.',
    subnetFull: 'В подсети уже столько хабов, сколько может быть.',
    subnetLoses:
      'С этого момента хаб принадлежит владельцу другого хаба. Допущенные сюда браузеры ({browsers}) и люди ({people}) будут забыты.',
    subnetNoAnswer: 'Другой хаб не ответил. Ничего не изменилось. Попробуйте снова с новым приглашением.',
    subnetRefused: 'Другой хаб не принял этот: {why}',
    subnetMember: 'Этот хаб — участник подсети. Приглашает тот хаб, который её ведёт.',
    subnetRemoved:
      'Хаб, который ведёт подсеть, исключил этот. Он снова сам по себе, без браузеров владельца.',
    altered:
      'Кто-то между браузером и хабом изменил сообщение. Оно отброшено. Если это повторяется, не доверяйте корневому сервису {root}.',
    replayed:
      'Кто-то между браузером и хабом повторил старые сообщения. Они отброшены. Если это повторяется, не доверяйте корневому сервису {root}.',
    wrong_code:
      'Браузер пришёл с неверным кодом подключения: его набрали с ошибкой, или кто-то вмешивается между браузером и хабом.',
    no_answer:
      'Браузер начал подключение по набранному коду и не доказал, что знает его: связь оборвалась, или кто-то вмешивается. Попытка использована.',
    unknown_browser: 'Браузер, не подключённый к этому хабу, пытался войти и не был впущен.',
    codeTaken:
      'Последний код подключения кто-то ввёл, но браузер с ним не подключился. Посторонний ничего не получил; новый код заменил старый.',
    insecure:
      'НЕБЕЗОПАСНО: включён отладочный режим insecure_sealed_secret. Тот, кто держит корневой сервис, может подключить свой браузер. Выключите его перед настоящей работой.',
    insecureSealed:
      'НЕБЕЗОПАСНО: секрет канала зашифрован на ключ, который назвал корневой сервис, и передан через него (insecure_sealed_secret).',
    insecureProven:
      'НЕБЕЗОПАСНО: браузер пришёл с таким секретом (insecure_sealed_secret). Что это браузер владельца, подключение не доказывает.',
  },
} as const satisfies Texts<string>;

export type UplinkText = keyof (typeof uplinkTexts)['en'];
