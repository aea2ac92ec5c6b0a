// What the hub's link to root says to a person: `ingle status`, logs, setup.
import type { Texts } from './i18n.ts';

export const uplinkTexts = {
  en: {
    rootAway: 'The root service at {root} does not answer. The hub keeps trying.',
    refused: 'The root service refused the hub: {why}',
    moved:
      'The hub is enrolled with another root service than {root}. Run `ingle init` to enrol it here; browsers must then be paired again.',
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
    refused: 'Корневой сервис отказал хабу: {why}',
    moved:
      'Хаб зарегистрирован на другом корневом сервисе, не на {root}. Выполните `ingle init`, чтобы зарегистрировать его здесь; браузеры придётся подключить заново.',
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
