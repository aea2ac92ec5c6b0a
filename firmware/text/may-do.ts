// What a skill may do, in words: what its owner reads before it is installed, at the terminal and in the application.
import type { PersonRole } from '../protocol/roles.ts';
import { type Language, type Text, type Texts, translator } from './i18n.ts';
import { roleName } from './people.ts';

const en = {
  mayNoScreen: 'It has no screen.',
  mayScreen: 'It shows a screen that the application draws from data.',
  mayPage: 'It shows pages of its own, from {entrypoint}.',
  mayRootPage:
    'Its pages come through the public service, which can then read and change them, and so ask of this skill what they may ask.',
  mayApp: 'It is an app with pages of its own, which the application draws from data.',
  mayContracts: 'Its pages show what other skills know, and ask of them only: {contracts}.',
  mayOwner: 'It opens only after a fresh passkey check.',
  mayAll: 'Every paired browser may open it.',
  mayRoles: 'Beside the owner it is for people with the role: {roles}.',
  mayNobody: 'It is for the owner alone.',
  mayFetch: 'It asks the hub to fetch from the internet, from these hosts only: {hosts}.',
  mayJournal: "It reads the log of the hub's services, which the hub's maker allows.",
  mayMemory: 'It takes at most {memory_mib} MiB of memory.',
  mayCpu: 'It takes at most {cpu_percent} % of a processor.',
  mayHub: 'It runs in a sandbox of its own: no other network, no files of others.',
  maySandbox: 'It runs in a sandbox of its own: no network, no files of others.',
} as const;

const ru: Record<keyof typeof en, Text> = {
  mayNoScreen: 'Экрана у него нет.',
  mayScreen: 'Показывает экран, который приложение рисует по данным.',
  mayPage: 'Показывает свои страницы, начиная с {entrypoint}.',
  mayRootPage:
    'Его страницы идут через публичный сервис: он может их прочитать и изменить, а значит, и просить этот навык о том же, о чём они.',
  mayApp: 'Это приложение со своими страницами, которые рисуются по данным.',
  mayContracts:
    'На его страницах видно то, что знают другие навыки, а просить их можно только о: {contracts}.',
  mayOwner: 'Открывается только после новой проверки ключа доступа.',
  mayAll: 'Открыть его может любой подключённый браузер.',
  mayRoles: 'Кроме владельца, для людей с ролью: {roles}.',
  mayNobody: 'Только для владельца.',
  mayFetch: 'Получает данные из интернета через хаб, только с этих узлов: {hosts}.',
  mayJournal: 'Читает журнал служб хаба: это разрешил изготовитель хаба.',
  mayMemory: 'Занимает не больше {memory_mib} МиБ памяти.',
  mayCpu: 'Занимает не больше {cpu_percent} % процессора.',
  mayHub: 'Работает в своей песочнице: без другой сети и без чужих файлов.',
  maySandbox: 'Работает в своей песочнице: без сети и без чужих файлов.',
};

export const mayDoTexts: Texts<keyof typeof en> = { en, ru };

/** What of a manifest says so. */
export interface Abilities {
  capabilities?: {
    visual?: boolean | undefined;
    ui?:
      | {
          entrypoint?: string | undefined;
          schema?: string | undefined;
          app?: string | undefined;
          pages?: string | undefined;
        }
      | undefined;
  };
  permissions?:
    | {
        ownerOnly?: boolean | undefined;
        roles?: PersonRole[] | undefined;
        hosts?: string[] | undefined;
        contracts?: { skill: string; contracts: string[] }[] | undefined;
        grants?: string[] | undefined;
      }
    | undefined;
  limits?: { memory_mib?: number | undefined; cpu_percent?: number | undefined } | undefined;
}

/** What a manifest lets its skill do, a sentence each. */
export function mayDo(
  { capabilities: { visual, ui } = {}, permissions, limits: { memory_mib, cpu_percent } = {} }: Abilities,
  language: Language,
): string[] {
  const t = translator(mayDoTexts, language);
  const shows = visual || ui;
  const hosts = permissions?.hosts ?? [];
  const named = permissions?.roles;
  const contracts = (permissions?.contracts ?? [])
    .map((p) => `${p.skill} (${p.contracts.join(', ') || '–'})`)
    .join(', ');
  const forWhom = () => {
    if (permissions?.ownerOnly) return t('mayOwner');
    if (!named) return t('mayAll');
    const roles = named.map((role) => roleName(role, language)).join(', ');
    return named.length > 0 ? t('mayRoles', { roles }) : t('mayNobody');
  };
  return [
    ...(!shows ? [t('mayNoScreen')] : []),
    ...(ui?.schema ? [t('mayScreen')] : []),
    ...(ui?.pages === 'root' ? [t('mayRootPage')] : []),
    ...(ui?.app ? [t('mayApp')] : []),
    ...(contracts ? [t('mayContracts', { contracts })] : []),
    ...(ui?.entrypoint ? [t('mayPage', { entrypoint: ui.entrypoint })] : []),
    ...(shows || permissions?.roles ? [forWhom()] : []),
    ...(hosts.length > 0 ? [t('mayFetch', { hosts: hosts.join(', ') })] : []),
    ...(permissions?.grants?.includes('journal') ? [t('mayJournal')] : []),
    t(hosts.length > 0 ? 'mayHub' : 'maySandbox'),
    ...(memory_mib ? [t('mayMemory', { memory_mib })] : []),
    ...(cpu_percent ? [t('mayCpu', { cpu_percent })] : []),
  ];
}
