// Every error a person or a program can meet, once: its code, and what each transport calls it.

/** Stable error codes. Callers switch on these, never on messages. */
export type ErrorCode = keyof typeof table;

interface Row {
  /** HTTP status (RFC 9110). */
  http: number;
  /** ATT application error (Bluetooth Core Vol 3 Part F 3.4.1.1: 0x80-0x9F) or a standard one. */
  att: number;
  /** Exit status of the `ingle` command (sysexits.h where one fits). */
  exit: number;
}

const table = {
  invalid_request: { http: 400, att: 0x80, exit: 64 },
  invalid_device_code: { http: 400, att: 0x81, exit: 65 },
  unauthenticated: { http: 401, att: 0x05, exit: 77 },
  assertion_failed: { http: 401, att: 0x82, exit: 77 },
  assertion_required: { http: 401, att: 0x83, exit: 77 },
  forbidden: { http: 403, att: 0x84, exit: 77 },
  ticket_invalid: { http: 403, att: 0x85, exit: 77 },
  pairing_failed: { http: 403, att: 0x86, exit: 77 },
  not_found: { http: 404, att: 0x87, exit: 66 },
  method_not_allowed: { http: 405, att: 0x06, exit: 64 },
  timeout: { http: 408, att: 0x88, exit: 75 },
  conflict: { http: 409, att: 0x89, exit: 73 },
  registration_required: { http: 409, att: 0x8a, exit: 78 },
  ticket_spent: { http: 410, att: 0x8b, exit: 77 },
  too_large: { http: 413, att: 0x0d, exit: 65 },
  rate_limited: { http: 429, att: 0x8c, exit: 75 },
  internal: { http: 500, att: 0x0e, exit: 70 },
  not_supported: { http: 501, att: 0x8d, exit: 69 },
  unavailable: { http: 503, att: 0x8e, exit: 69 },
  hub_offline: { http: 503, att: 0x8f, exit: 69 },
} as const satisfies Record<string, Row>;

export const errorTable: Readonly<Record<ErrorCode, Row>> = table;

const busPrefix = 'io.ingle.Error.';

/** D-Bus error name of a code: `invalid_request` -> `io.ingle.Error.InvalidRequest`. */
export function busName(code: ErrorCode): string {
  return busPrefix + code.replace(/(?:^|_)(.)/g, (_, c: string) => c.toUpperCase());
}

/** The code behind a D-Bus error name; anything not ours is `internal`. */
export function codeOfBusName(name: string): ErrorCode {
  if (!name.startsWith(busPrefix)) return 'internal';
  const code = name
    .slice(busPrefix.length)
    .replace(/[A-Z]/g, (c) => '_' + c.toLowerCase())
    .slice(1);
  return isErrorCode(code) ? code : 'internal';
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(table, code);
}

/** The one error body, on every transport. */
export interface ErrorBody {
  error: ErrorCode;
  /** One sentence for a person, with the next step where there is one. */
  message: string;
  details?: Record<string, unknown>;
}

/** The one error class. `message` is for a person; `details` must hold no secret. */
export class IngleError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, message: string, details?: Record<string, unknown>) {
    super(message);
    this.name = 'IngleError';
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return table[this.code].http;
  }

  body(): ErrorBody {
    return this.details
      ? { error: this.code, message: this.message, details: this.details }
      : { error: this.code, message: this.message };
  }
}

/** What a caught value becomes for the outside: ours as it is, anything else `internal` without its text. */
export function toIngleError(cause: unknown): IngleError {
  if (cause instanceof IngleError) return cause;
  return new IngleError('internal', 'Something went wrong inside. Try again; if it stays, see the logs.');
}

/** The error in a response body of another part of Ingle, whatever was sent. */
export function fromBody(body: unknown, status: number): IngleError {
  const b = body as Partial<ErrorBody> | null;
  if (b && typeof b === 'object' && isErrorCode(b.error)) {
    const details = b.details && typeof b.details === 'object' ? b.details : undefined;
    return new IngleError(b.error, typeof b.message === 'string' ? b.message : b.error, details);
  }
  return new IngleError(status >= 500 ? 'unavailable' : 'internal', `The other side answered ${status}.`);
}
