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

/**
 * Whether the daemon let a call to a process not through. Its rules go by names, so one of ours that has given up its name
 * is reached by nobody; the call has done nothing.
 */
export const isTurnedAway = (e: unknown): boolean =>
  (Object(e) as Partial<IngleError>).details?.['dbus'] === 'org.freedesktop.DBus.Error.AccessDenied';

/** Details of more characters do not cross the bus: what is left is the sentence. */
const MAX_DETAILS = 16 * 1024;

/** The body of an error reply: the sentence, and where there are details, they as JSON behind it. */
export function errorBody({ message, details }: Pick<IngleError, 'message' | 'details'>): string[] {
  // Whose bus name was missing is this process's own affair: who is told that would think that it is missing.
  const { dbus: _, ...told } = details ?? {};
  const text = Object.keys(told).length > 0 ? JSON.stringify(told) : '';
  return text && text.length <= MAX_DETAILS ? [message, text] : [message];
}

function detailsIn(body: readonly unknown[]): Record<string, unknown> | undefined {
  try {
    const { dbus: _, ...details } = JSON.parse(String(body[1])) as Record<string, unknown>;
    return Object.keys(details).length > 0 ? details : undefined;
  } catch {
    return undefined;
  }
}

/** What a failed call to `destination` means; a foreign name goes along in `details.dbus`. */
export function asIngle(e: unknown, destination: string): IngleError {
  if (e instanceof IngleError) return e;
  const { type, text, reply } = e as { type?: string; text?: string; reply?: { body?: unknown[] } };
  if (!type) return new IngleError('internal', `${destination}: ${(e as Error).message}`);
  if (type.startsWith('io.ingle.Error.'))
    return new IngleError(codeOfBusName(type), text || type, detailsIn(reply?.body ?? []));
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
