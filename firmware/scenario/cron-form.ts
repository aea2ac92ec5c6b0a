// Whether a text is a time table of cron: five fields, or a name as @daily. Only the form; when it is due is computed
// elsewhere. Pure.

const aliases = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Minutes, hours, days, months, days of the week (0 and 7 are Sunday); names count from `least`. No step
 * is greater than `steps`, the number of values. */
const fields: { least: number; most: number; steps: number; names: readonly string[] }[] = [
  { least: 0, most: 59, steps: 60, names: [] },
  { least: 0, most: 23, steps: 24, names: [] },
  { least: 1, most: 31, steps: 31, names: [] },
  { least: 1, most: 12, steps: 12, names: months },
  { least: 0, most: 7, steps: 7, names: days },
];

function isField(text: string, { least, most, steps, names }: (typeof fields)[number]): boolean {
  const numberOf = (t: string): number => {
    const named = names.indexOf(t.toLowerCase());
    return named >= 0 ? named + least : /^\d{1,2}$/.test(t) ? Number(t) : -1;
  };
  const isIn = (n: number) => n >= least && n <= most;
  return text.split(',').every((part) => {
    const [range = '', every, ...more] = part.split('/');
    if (more.length > 0) return false;
    if (every !== undefined && !(/^\d{1,2}$/.test(every) && Number(every) > 0 && Number(every) <= steps))
      return false;
    if (range === '*') return true;
    const [from = '', to, ...rest] = range.split('-');
    if (rest.length > 0 || !isIn(numberOf(from))) return false;
    // A step without an end, as 5/15, is read in several ways; it is written as 5-59/15.
    if (to === undefined) return every === undefined;
    return isIn(numberOf(to)) && numberOf(from) <= numberOf(to);
  });
}

export function isCronForm(text: string): boolean {
  if (aliases.includes(text)) return true;
  const parts = text.trim().split(/\s+/);
  return parts.length === fields.length && parts.every((part, i) => isField(part, fields[i]!));
}

/** Whether the hub knows a time zone by this name. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
