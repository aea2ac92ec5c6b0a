// When a provider may be asked again: by what it says itself, and later after each failure. Pure.

/** What is kept of one provider's answers about one place. */
export interface Asked {
  /** When it may be asked again, milliseconds since 1970. */
  next: number;
  failures: number;
  /** `Last-Modified` of the answer that is kept. */
  modified?: string;
}

const LEAST_MS = 10 * 60_000;
const MOST_MS = 6 * 3_600_000;
const BACK_OFF_MS = 60_000;

/** After an answer: not before it expires, nor at once where it says nothing or what has gone by. */
export function after(headers: Readonly<Record<string, string>>, now: number): Asked {
  const expires = Date.parse(headers['expires'] ?? '') || 0;
  const modified = headers['last-modified'];
  return {
    next: Math.min(Math.max(expires, now + LEAST_MS), now + MOST_MS),
    failures: 0,
    ...(modified ? { modified } : {}),
  };
}

/** After a failure: a minute, then twice as long each time, up to 6 h, and up to half as much more by chance (0 to 1). */
export function afterFailure(before: Asked | undefined, now: number, chance: number): Asked {
  const failures = (before?.failures ?? 0) + 1;
  const wait = Math.min(BACK_OFF_MS * 2 ** Math.min(failures - 1, 20), MOST_MS);
  const { modified } = before ?? {};
  return { next: now + wait * (1 + chance / 2), failures, ...(modified ? { modified } : {}) };
}

/** Whether it may be asked now. A clock that was set back makes nobody wait longer than the longest pause. */
export const mayAsk = (a: Asked | undefined, now: number): boolean =>
  !a || now >= a.next || a.next - now > 2 * MOST_MS;
