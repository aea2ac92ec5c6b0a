// What an error code says to a person in the owner's application, each with the next step.
import type { ErrorCode } from '../protocol/errors.ts';
import type { Texts } from './i18n.ts';

const en: Record<ErrorCode, string> = {
  invalid_request: 'This page and the service do not understand each other. Reload the page and try again.',
  invalid_device_code:
    'This code does not work. It may be mistyped, used or older than 10 minutes. Check it, or ask the hub for a new one.',
  unauthenticated: 'Your session has ended. Sign in again.',
  assertion_failed: 'The passkey was not accepted. Try again, or use the passkey you made for this hub.',
  assertion_required: 'The hub asks for your passkey first.',
  forbidden: 'This is not permitted. Ask the owner of the hub.',
  ticket_invalid: 'This window’s ticket is not valid. Open it again.',
  pairing_failed: 'This browser could not prove itself to the hub. Ask the hub for a new code.',
  not_found: 'This is no longer there.',
  method_not_allowed: 'The hub does not do that here.',
  timeout: 'That took too long. Try again.',
  conflict: 'Something else changed this first. Look at it again, then repeat.',
  registration_required: 'There is no passkey yet. Make one to go on.',
  ticket_spent: 'This window’s ticket was used already. Open it again.',
  too_large: 'This is too large to send.',
  rate_limited: 'Too many tries. Wait a minute, then try again.',
  internal: 'Something went wrong inside. Try again in a moment.',
  not_supported: 'This hub cannot do that.',
  unavailable: 'No answer. Try again in a moment; if it stays so, check the connection.',
  hub_offline: 'The hub is offline. Check that it has power and network.',
};

const ru: Record<ErrorCode, string> = {
  invalid_request: 'Страница и служба не поняли друг друга. Обновите страницу и попробуйте снова.',
  invalid_device_code:
    'Код не подходит: в нём опечатка, он уже использован или старше 10 минут. Проверьте его или получите на хабе новый.',
  unauthenticated: 'Сеанс закончился. Войдите снова.',
  assertion_failed: 'Ключ доступа не принят. Попробуйте снова или возьмите ключ, созданный для этого хаба.',
  assertion_required: 'Сначала хаб просит ключ доступа.',
  forbidden: 'Это не разрешено. Спросите владельца хаба.',
  ticket_invalid: 'Билет этого окна недействителен. Откройте его снова.',
  pairing_failed: 'Браузер не смог доказать хабу, что он свой. Получите на хабе новый код.',
  not_found: 'Этого больше нет.',
  method_not_allowed: 'Хаб здесь такого не делает.',
  timeout: 'Слишком долго. Попробуйте снова.',
  conflict: 'Кто-то изменил это раньше. Посмотрите ещё раз и повторите.',
  registration_required: 'Ключа доступа ещё нет. Создайте его, чтобы продолжить.',
  ticket_spent: 'Билет этого окна уже использован. Откройте его снова.',
  too_large: 'Это слишком велико для отправки.',
  rate_limited: 'Слишком много попыток. Подождите минуту и попробуйте снова.',
  internal: 'Внутри что-то пошло не так. Попробуйте чуть позже.',
  not_supported: 'Этот хаб так не умеет.',
  unavailable: 'Нет ответа. Попробуйте чуть позже; если не поможет, проверьте связь.',
  hub_offline: 'Хаб не в сети. Проверьте питание и сеть.',
};

export const errorTexts: Texts<ErrorCode> = { en, ru };
