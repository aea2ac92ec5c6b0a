// Errors of the bus and of other projects' services, as ours. Pure.
import { codeOfBusName, type ErrorCode, IngleError } from '../protocol/errors.ts';

/** Names of errors the daemon or another project's service raises, as ours. */
const foreign: Record<string, ErrorCode> = {
  'org.freedesktop.DBus.Error.ServiceUnknown': 'unavailable',
  'org.freedesktop.DBus.Error.NameHasNoOwner': 'unavailable',
  'org.freedesktop.DBus.Error.NoReply': 'unavailable',
  'org.freedesktop.DBus.Error.AccessDenied': 'forbidden',
  'org.freedesktop.DBus.Error.UnknownMethod': 'not_supported',
  'org.freedesktop.DBus.Error.UnknownInterface': 'not_supported',
  'org.freedesktop.DBus.Error.InvalidArgs': 'invalid_request',
};

/**
 * Whether a call failed because nobody has the name and nothing on this machine takes it. A service that went in the
 * middle of a call (`NoReply`) is there again soon, and is not meant.
 */
export function isAbsent(e: unknown): boolean {
  // Not by its class: a skill's bundle has one of its own.
  const dbus = (Object(e) as Partial<IngleError>).details?.['dbus'];
  return (
    dbus === 'org.freedesktop.DBus.Error.ServiceUnknown' ||
    dbus === 'org.freedesktop.DBus.Error.NameHasNoOwner'
  );
}

/** What a failed call to `destination` means; a foreign name goes along in `details.dbus`. */
export function asIngle(e: unknown, destination: string): IngleError {
  if (e instanceof IngleError) return e;
  const { type, text } = e as { type?: string; text?: string };
  if (!type) return new IngleError('internal', `${destination}: ${(e as Error).message}`);
  if (type.startsWith('io.ingle.Error.')) return new IngleError(codeOfBusName(type), text || type);
  // The foreign name goes along: callers of wpa_supplicant and RAUC decide by it.
  const details = { dbus: type };
  // The daemon's own sentence is about its files; a person reads what is missing, and where to look.
  if (isAbsent({ details }))
    return new IngleError(
      'unavailable',
      `${destination} does not run on this hub. What is wrong with it: ingle doctor`,
      details,
    );
  return new IngleError(foreign[type] ?? 'internal', text || type, details);
}
