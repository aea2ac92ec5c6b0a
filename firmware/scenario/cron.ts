// Cron expressions (croner): five fields or an alias, in a time zone of the IANA; daylight saving included. Pure.
// A local time that a clock change leaves out runs at the change; one that comes twice runs once (as Vixie cron has it).
import { Cron } from 'croner';
import { IngleError } from '../protocol/errors.ts';

const forms = /^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)|\S+(?:\s+\S+){4})$/i;

function parsed(cron: string, zone: string | null): Cron {
  const text = cron.trim();
  if (!forms.test(text))
    throw new IngleError(
      'invalid_request',
      'A cron expression has five fields: minute, hour, day, month, day of the week.',
      {
        pointer: '/cron',
      },
    );
  try {
    return new Cron(text, { paused: true, ...(zone ? { timezone: zone } : {}) });
  } catch (e) {
    const says = (e as Error).message.replace(/^CronPattern: /, '');
    throw new IngleError('invalid_request', `The cron expression is wrong: ${says}`, { pointer: '/cron' });
  }
}

/** @throws IngleError `invalid_request` for a zone this machine does not know */
export function checkZone(zone: string | null): void {
  if (!zone) return;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    throw new IngleError('invalid_request', `There is no time zone "${zone}". Use one as Europe/Berlin.`, {
      pointer: '/zone',
    });
  }
}

/** @throws IngleError `invalid_request` */
export function checkCron(cron: string, zone: string | null): void {
  checkZone(zone);
  if (nextTime(cron, zone, Date.UTC(2026, 0, 1)) === null)
    throw new IngleError('invalid_request', 'The cron expression names no time that ever comes.', {
      pointer: '/cron',
    });
}

/** The first time after `after` (Unix milliseconds, exclusive); null where there is none. @throws IngleError `invalid_request` */
export function nextTime(cron: string, zone: string | null, after: number): number | null {
  return parsed(cron, zone).nextRun(new Date(after))?.getTime() ?? null;
}

/** Times from `from` to `to`, both inclusive, the newest `most` of them; `more` counts those before. */
export function timesBetween(
  cron: string,
  zone: string | null,
  from: number,
  to: number,
  most: number,
): { times: number[]; more: number } {
  const c = parsed(cron, zone);
  const times: number[] = [];
  let more = 0;
  for (let at = from - 1; ; ) {
    const next = c.nextRun(new Date(at))?.getTime();
    if (next === undefined || next > to) return { times, more };
    at = next;
    times.push(at);
    if (times.length > most) {
      times.shift();
      // Of an hour that was missed a year ago nobody needs the number.
      if (++more > 100_000) at = Math.max(at, to - 86_400_000);
    }
  }
}
